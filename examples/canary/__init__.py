"""Example tools for the canary playbook of the library."""
