"""Example tools for the ssh playbook of the library."""
