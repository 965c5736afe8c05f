"""Example tools for the refund playbook of the library."""
