"""RFC 8785 canonical JSON."""

from __future__ import annotations

import json
import struct
from collections import OrderedDict
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.statemachine.canonical import MAX_DEPTH, canonical, digest, normal, read

# RFC 8785, appendix B: the bits of a double, and its text.
APPENDIX_B = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}

numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
    max_leaves=20,
)


def nested(depth: int) -> Any:
    """Put `depth` lists inside one another."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(("bits", "expected"), APPENDIX_B.items())
def test_doubles_are_written_as_the_appendix_of_the_rfc_writes_them(bits: str, expected: str) -> None:
    """Every finite line of RFC 8785's appendix B."""
    (value,) = struct.unpack(">d", bytes.fromhex(bits))

    assert canonical(value).decode() == expected


@pytest.mark.parametrize(("bits", "word"), [("7fffffffffffffff", "NaN"), ("7ff0000000000000", "infinity")])
def test_what_is_no_number_is_refused(bits: str, word: str) -> None:
    """The two lines of the appendix that are errors, told apart."""
    (value,) = struct.unpack(">d", bytes.fromhex(bits))

    with pytest.raises(ValueError, match=word):
        canonical(value)


def test_the_sample_of_the_rfc() -> None:
    """RFC 8785, section 3.2.2: the input and the output printed there."""
    sample = r"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""

    expected = (
        r"""{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"""
        r""""string":"€$\u000f\nA'B\"\\\\\"/"}"""
    )
    assert canonical(read(sample)).decode() == expected


def test_keys_are_sorted_by_utf_16() -> None:
    """RFC 8785, section 3.2.3: an emoji, a surrogate pair in UTF-16, comes before U+FB33."""
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]

    written = json.loads(canonical(dict.fromkeys(keys, 0)))

    assert list(written) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@settings(deadline=None)
@given(values)
def test_the_text_reads_back_to_the_same_value_and_hash(value: Any) -> None:
    """Reading the canonical text gives the normal form, and that form has the same text."""
    written = canonical(value)

    assert read(written) == normal(value)
    assert canonical(read(written)) == written


@settings(deadline=None)
@given(st.dictionaries(text, st.none()))
def test_any_keys_come_in_the_order_of_their_utf_16_code_units(members: dict[str, None]) -> None:
    """The order of the text is the order of the encoded keys, whatever they are."""
    written = list(json.loads(canonical(members)))

    assert sorted(members, key=lambda key: [*memoryview(key.encode("utf-16-le")).cast("H")]) == written


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_keeps_its_value_and_takes_an_exponent_only_where_es6_does(value: float) -> None:
    """The text reads back to the double; `e` stands only from 1e21 up and below 1e-6."""
    written = canonical(value).decode()

    assert float(written) == value
    assert ("e" in written) == (value != 0 and not 1e-6 <= abs(value) < 1e21)


@settings(deadline=None)
@given(values)
def test_the_order_of_a_dict_and_the_type_of_a_sequence_leave_the_hash_alone(value: Any) -> None:
    """Equal data has one digest."""

    def turned(part: Any) -> Any:
        if isinstance(part, dict):
            return OrderedDict((key, turned(part[key])) for key in reversed(part))
        return tuple(map(turned, part)) if isinstance(part, list) else part

    assert digest(turned(value)) == digest(value)


def test_an_integral_float_is_an_int_everywhere() -> None:
    """S56: 1.0 and 1 are one value, with one type once it is normal; True stays True."""
    value = normal({"a": [1.0, -0.0, 2.5, True]})

    assert value == {"a": [1, 0, 2.5, True]}
    assert [type(item) for item in value["a"]] == [int, int, float, bool]


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**60, 10**21, 10**400])
def test_an_integer_that_would_lose_digits_is_refused(value: int) -> None:
    """Beyond 2^53 an int has no double that is written with the same digits."""
    with pytest.raises(ValueError, match="write it as text"):
        canonical(value)


@pytest.mark.parametrize("value", [1e17, 2.0**60, 123456789012345680000.0])
def test_our_own_text_of_a_large_double_reads_back(value: float) -> None:
    """A double under 1e21 is written in digits, which Python reads as an int: that int is accepted."""
    written = canonical(value)

    assert type(json.loads(written)) is int
    assert canonical(json.loads(written)) == written


class Colour(StrEnum):
    """A text of a special type."""

    RED = "red"


def test_special_texts_and_mappings_become_plain() -> None:
    """An enum of texts is its text, a read-only mapping a dict."""
    value = normal(MappingProxyType({Colour.RED: Colour.RED}))

    assert value == {"red": "red"}
    assert [type(value), *map(type, value), *map(type, value.values())] == [dict, str, str]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [0, {"b c": {1, 2}}]}, 'a[1]["b c"]: a Python set is no JSON value'),
        ({"a": {1: 2}}, "a[1]: a key must be text, and 1 is not"),
        ({"a": "\ud800"}, r"a: '\ud800' holds a lone surrogate, which is no Unicode text"),
        ({"\udc00": 1}, r"""["\udc00"]: '\udc00' holds a lone surrogate, which is no Unicode text"""),
        ([b"x"], "[0]: a Python bytes is no JSON value"),
    ],
)
def test_what_is_no_json_is_refused_with_its_path(value: Any, message: str) -> None:
    """The message says where and what."""
    with pytest.raises(ValueError) as caught:
        normal(value)

    assert str(caught.value).encode("utf-8", "backslashreplace").decode() == message


def test_nesting_is_bounded_and_a_cycle_is_refused() -> None:
    """200 levels pass; one more, 100,000 more, or a list in itself is a ValueError, never a RecursionError."""
    cycle: list[Any] = []
    cycle.append(cycle)

    assert normal(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    for value in (nested(MAX_DEPTH + 1), nested(100_000), cycle):
        with pytest.raises(ValueError, match="nested deeper than 200 levels"):
            canonical(value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('{"a": {"b": 1, "c": 2, "b": 3}}', 'the key "b" stands twice'),
        ("[NaN]", "NaN is no JSON number"),
        ("[-Infinity]", "-Infinity is no JSON number"),
        ("[1e999]", "infinity is no JSON number"),
        ("[" * 100_000, "nested deeper"),
        ('{"a": 1', "Expecting"),
        ("9" * 5000, "digits"),
    ],
)
def test_text_that_is_no_i_json_is_refused(source: str, message: str) -> None:
    """What the standard reader lets through is refused too."""
    with pytest.raises(ValueError, match=message):
        read(source)
