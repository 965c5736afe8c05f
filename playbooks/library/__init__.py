"""Playbooks that ship with Guideway: `guideway run` takes them by path."""
