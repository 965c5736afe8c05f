"""Example tools for the canary deploy of the library."""
