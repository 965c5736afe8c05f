"""Example tools for the suspicious sign-in of the library, and for the playbook it calls."""
