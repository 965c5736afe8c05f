"""Data and expressions that mean harm: nothing hangs, nothing raises, nothing runs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guideway.statemachine.expressions import (
    ExpressionError,
    Unknown,
    compile_value,
    doubts_of,
    parse,
    parse_template,
    type_from_schema,
    type_of,
)
from guideway.statemachine.patterns import Pattern, PatternError


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_nothing_of_python_can_be_reached() -> None:
    """Values have no attributes: only the fields of maps are read."""

    class Host:
        field = "s"

        def method(self) -> str:
            raise AssertionError("called")

    scope = {"h": Host(), "l": [1], "s": "x", "d": {"k": 1}}
    for source in ("h.field", "h.method", "l.append", "s.upper", "d.keys", "d.items", 'd["__class__"]',
                   's["__class__"]',
                   "h == h", "h in [h]", "h + h", "size(h)", "h < h", "h[0]", "h.all(x, true)", "!h",
                   "-h"):  # fmt: skip
        assert isinstance(parse(source)(scope), Unknown), source


def test_patterns_cannot_hang() -> None:
    """RE2 answers catastrophic patterns at once, and refuses those that would need much memory."""
    text = "a" * 100_000 + "!"
    assert parse('s.matches("(a+)+$")')({"s": text}) is False
    assert parse("s.matches(p)")({"s": text, "p": "(a|aa)+$"}) is False
    assert isinstance(parse("s.matches(p)")({"s": "a", "p": "((a{100}){100}){100}"}), Unknown)
    assert isinstance(parse("s.matches(p)")({"s": "a", "p": "a" * 5000}), Unknown)
    assert isinstance(parse("s.matches(p)")({"s": "\ud800", "p": "a"}), Unknown)
    assert isinstance(parse("s.matches(p)")({"s": "a", "p": "\ud800"}), Unknown)
    assert parse(r's.matches("a\\x00b")')({"s": "xa\0by"}) is True


def test_the_wrapper_of_re2_reports_its_own_error() -> None:
    """A pattern is refused in RE2's words, and nothing is written to stderr."""
    with pytest.raises(PatternError, match="missing"):
        Pattern("(")
    with pytest.raises(PatternError, match="at most 4096"):
        Pattern("a" * 5000)
    with pytest.raises(PatternError, match="surrogate"):
        Pattern("\udc00")
    assert repr(Pattern("a")) == "Pattern('a')"


def test_large_data_is_answered_or_refused() -> None:
    """A list of 200,000 is searched; a macro over it is too costly; numbers of 10,000 digits do no harm."""
    scope = {"l": [f"h{i}" for i in range(200_000)], "n": 10**10_000, "i": list(range(200_000))}
    assert parse('"h199999" in l')(scope) is True
    assert parse('"zz" in l')(scope) is False
    assert parse("199999 in i")(scope) is True
    costly = parse("l.all(x, x != '')")(scope)
    assert isinstance(costly, Unknown)
    assert "too costly" in costly.why
    assert isinstance(parse("l + l")(scope), Unknown)
    for source in ("n * n", "n + n", "n % 7", "7 / n", "-n", "double(n)", "timestamp(n)", "l[n]"):
        assert isinstance(parse(source)(scope), Unknown), source
    assert parse("n > 1 && n != 1.5 && n == n")(scope) is True


def test_running_out_is_final() -> None:
    """`default`, `has` and `||` cannot turn an evaluation that ran out of budget into a pass."""
    scope = {"l": list(range(200_000))}
    for source in ("default(l.all(x, true), true)", "true || l.all(x, x < 0) || true", "l.all(x, true) || true",
                   "has(l.filter(x, true)[0])", "default(l.map(x, x), [1]) == [1]"):  # fmt: skip
        found = parse(source)(scope)
        assert found is True if source.startswith("true ||") else isinstance(found, Unknown), source


def test_deep_data_needs_no_stack() -> None:
    """Equality of lists nested 100,000 deep is answered without recursion, within the budget."""
    a, b = nested(50_000), nested(50_000)
    assert parse("a == b")({"a": a, "b": b}) is True
    assert parse("a in [b]")({"a": a, "b": b}) is True
    assert isinstance(parse("a == b")({"a": nested(120_000), "b": nested(120_000)}), Unknown)
    form = compile_value("{{ a }}")
    assert isinstance(form({"a": a}), Unknown)
    with pytest.raises(ExpressionError, match="nested more than 100"):
        compile_value(nested(200))


def test_shared_parts_do_not_explode() -> None:
    """A value that holds itself twice, sixty levels down, is compared within the budget."""
    value: Any = [1]
    other: Any = [1]
    for _ in range(60):
        value, other = [value, value], [other, other]
    assert isinstance(parse("a == b")({"a": value, "b": other}), Unknown)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2) | st.sampled_from(["a", "b"]),
    inner, max_size=3),
    max_leaves=8,
)
WORDS = ["a", "b", "x", "0", "1", "1.5", "-1", "9223372036854775807", '"a"', "'b'", "true", "false", "null", "(", ")",
         "[", "]",
         ".", ",", "?", ":", "&&", "||", "!", "==", "!=", "<", ">=", "+", "-", "*", "/", "%", " in ", "size(", "has(",
         "default(",
         ".matches(", ".contains(", ".all(x,", ".exists(x,", ".filter(x,", ".map(x,", ".size()", "timestamp(",
         "duration(",
         ".getHours(", "now", "__a", "{{", "}}", "=", "é", "\0", "\ud800", '"', "\\", "double("]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), max_size=14), data=st.dictionaries(st.sampled_from("abx"), JSON))
def test_any_text_gives_a_value_an_unknown_or_a_located_fault(words: list[str], data: dict[str, Any]) -> None:
    """Random words over random data: nothing but the documented outcomes, and a fault lies inside the text."""
    source = "".join(words)
    for read in (parse, parse_template):
        try:
            made = read(source)
        except ExpressionError as fault:
            assert 0 <= fault.offset <= len(source)
            assert fault.message
            continue
        if made is not None:
            assert repr(made(data)) == repr(made(data))  # by text: a NaN equals nothing


TYPICAL = [
    "a == b", "a != b", "a < b", "a >= b", "a in b", "a + b", "a - b", "a * b", "a / b", "a % b", "-a", "!a", "a && b",
    "a || b",
    "a ? b : a", "a.b", "a[0]", "a[b]", "size(a)", "a.matches(b)", "a.startsWith(b)", "a.contains(b)", "timestamp(a)",
    "duration(a)", "a.getHours(b)", "timestamp(a).getHours(b)", "timestamp(a).getDayOfWeek(b)", "a.all(x, x == b)",
    "a.exists(x, b)", "a.filter(x, x in b)", "a.map(x, x.a + b)", "has(a.b)", "default(a.b, b)", "double(a)",
    "[a, b] == [b, a]",
    "timestamp(a) + duration(b)", 'predicate("a")', "a.a.a.a", "a in [b, 1, a]", "now - timestamp(a)",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(source=st.sampled_from(TYPICAL), a=JSON, b=JSON)
def test_every_operator_is_total(source: str, a: Any, b: Any) -> None:
    """No operator raises on any data, and conditions give bools or unknowns."""
    value = parse(source)({"a": a, "b": b, "predicate": a})
    if any(op in source for op in ("==", "!=", " < ", ">=", "&&", "||", "!a", "matches", "has(")):
        assert value is True or value is False or isinstance(value, Unknown)


@settings(max_examples=200, deadline=None)
@given(a=JSON, b=JSON)
def test_equality_is_symmetric_and_in_agrees_with_it(a: Any, b: Any) -> None:
    """`a == b` is `b == a`, `!=` is its negation, and `a in [b]` says the same."""
    scope = {"a": a, "b": b}
    equal = parse("a == b")(scope)
    assert parse("b == a")(scope) is equal
    assert parse("a != b")(scope) is (not equal)
    assert parse("a in [b]")(scope) is equal
    assert parse("a in l")({"a": a, "l": [b]}) is equal


KLEENE = st.sampled_from(["true", "false", "zz"])


@given(items=st.lists(KLEENE, min_size=2, max_size=6))
def test_and_or_are_kleene_in_any_order(items: list[str]) -> None:
    """`&&` is the least and `||` the greatest of false < unknown < true, however the items are ordered."""
    rank = {"false": 0, "zz": 1, "true": 2}
    for op, pick in ((" && ", min), (" || ", max)):
        for order in (items, items[::-1]):
            found = parse(op.join(order))({})
            assert pick(rank[item] for item in items) == (1 if isinstance(found, Unknown) else 2 * found)


@settings(max_examples=200, deadline=None)
@given(source=st.sampled_from(TYPICAL), schema=st.recursive(
    st.sampled_from([True, False, {}, {"type": "string"}, {"type": "integer"}, {"type": ["number", "null"]},
    {"enum": [1, "a"]},
                     {"$ref": "#"}, {"$ref": "#/zz"}, {"const": None}, {"type": 5}, {"anyOf": []}, {"required": 1}]),
    lambda inner: st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("ab"), inner),
                                         "items": inner, "additionalProperties": inner,
                                         "type": st.sampled_from(["object", "array"])}), max_leaves=5))  # fmt: skip
def test_typing_is_total(source: str, schema: Any) -> None:
    """No schema and no expression makes the type checker raise."""
    expression = parse(source)
    types = {"a": type_from_schema(schema), "b": type_from_schema({"properties": {"b": schema}})}
    type_of(expression, types)
    doubts_of(expression, types)
