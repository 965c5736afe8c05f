"""Example tools for the phishing playbook of the library."""
