"""Hooks: the native protocol, and four dialects."""
