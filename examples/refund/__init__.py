"""Example tools for the refund desk of the library."""
