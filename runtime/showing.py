"""Texts of others on a terminal: nothing in them may move its cursor, colour it, or turn its letters round."""

from __future__ import annotations


def escaped(text: object) -> str:
    r"""
    The text with all that cannot be seen written as an escape; so every name of a file stays on its line.

    >>> escaped("a\x1b[31mb\n\u202ec.yaml")
    'a\\x1b[31mb\\n\\u202ec.yaml'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))
