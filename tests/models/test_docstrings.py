"""Docstrings in the styles in use, taken apart."""

from __future__ import annotations

import pytest

from guideway.runtime.models.docstrings import Told, told_of

GOOGLE = """Isolate a host.

    It loses the network.

    Args:
        host (str): its name,
            not its address
        *tags: any number
        hours (int, optional): how long: at most 24

    Returns:
        what happened: a text
    """
NUMPY = """Isolate a host.

    It loses the network.

    Parameters
    ----------
    host : str
        its name,
        not its address
    tags
        any number
    hours : int, optional
        how long: at most 24

    Returns
    -------
    str
        what happened
    """
REST = """Isolate a host.

    It loses the network.

    :param str host: its name,
        not its address
    :param tags: any number
    :type tags: list
    :param hours: how long: at most 24
    :returns: what happened
    :raises ValueError: never
    """
WANTED = Told(
    "Isolate a host.\n\nIt loses the network.",
    {"host": "its name, not its address", "tags": "any number", "hours": "how long: at most 24"},
)


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, REST], ids=["Google", "NumPy", "reST"])
def test_the_three_styles_say_the_same(docstring: str) -> None:
    """
    Text and parameters come out alike, whatever the style; what is returned or raised is not part of them.
    """
    assert told_of(docstring) == WANTED


@pytest.mark.parametrize("docstring", [None, "", "  \n "])
def test_nothing_says_nothing(docstring: str | None) -> None:
    """
    A missing docstring is an empty one.
    """
    assert told_of(docstring) == Told()


def test_plain_text_is_kept_whole() -> None:
    """
    Text with colons and lists in it, and no section, is not taken apart.
    """
    text = "Search the SIEM.\n\nNote: slow.\n\n- one: two\n- three"

    assert told_of(text) == Told(text)


def test_numpy_names_that_share_a_line_share_a_text() -> None:
    """
    `x, y : int` describes both.
    """
    told = told_of("Add.\n\nParameters\n----------\nx, y : int\n    a number\n")

    assert told.parameters == {"x": "a number", "y": "a number"}


def test_a_parameter_that_is_only_named_has_no_description() -> None:
    """
    An entry without a text gives none.
    """
    assert told_of("Add.\n\nArgs:\n    x:\n    y: a number\n").parameters == {"y": "a number"}
