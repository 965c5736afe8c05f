"""Text and JSON values with expressions in them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from guideway.statemachine.expressions import (
    ExpressionError,
    Unknown,
    compile_value,
    fill,
    parse_template,
    plain,
)

SCOPE: dict[str, Any] = {
    "inputs": {"n": 2, "f": 1.5, "whole": 3.0, "s": "a \"b\" é", "l": [1, {"k": None}], "yes": True, "nil": None},
}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ inputs.n }}", 2), ("{{inputs.n}}", 2), ("{{ inputs.l }}", [1, {"k": None}]), ("{{ inputs.nil }}", None),
        ("{{ inputs.n > 1 }}", True), ("{{ inputs.whole }}", 3), ("{{ 1.5 + 1.5 }}", 3),
        ("n is {{ inputs.n }}", "n is 2"), (" {{ inputs.n }}", " 2"), ("{{ inputs.n }}\n", "2\n"),
        ("{{ inputs.s }}!", 'a "b" é!'), ("{{ inputs.l }}.", '[1,{"k":null}].'),
        ("{{ inputs.yes }}{{ inputs.nil }}", "truenull"),
        ("{{ inputs.f }} {{ inputs.whole }}", "1.5 3"), ('{{ duration("1h30m") }}', "5400s"),
        ('{{ timestamp("2026-01-31T10:00:00+01:00") }}', "2026-01-31T09:00:00Z"),
        ('{{ [duration("1.5s")] }} x', '["1.5s"] x'), ('{{ "{{" }} and }}', "{{ and }}"), ('{{ "}}" }}', "}}"),
        (r'{{ r"\" }}', "\\"), ("it's {{ inputs.n }}, isn't it", "it's 2, isn't it"),
        ("cost ${{ inputs.n }}.", "cost $2."),
    ],
)  # fmt: skip
def test_a_template_fills_in(source: str, expected: Any) -> None:
    """One expression that fills the text keeps its kind; inside text everything is text."""
    template = parse_template(source)
    assert template is not None
    found = template(SCOPE)
    assert type(found) is type(expected)
    assert found == expected


def test_text_without_braces_is_no_template() -> None:
    """Plain text stands for itself, closing braces included."""
    assert parse_template("a }} b") is None
    assert parse_template("") is None


@pytest.mark.parametrize(
    ("source", "offset", "message"),
    [
        ("ab {{ x", 3, "`{{` without `}}`"),
        ("{{ 'a }}", 3, "the string is not closed"),
        ("ab {{ x = 1 }}", 8, "`=` is no operator"),
        ("é{{  x and y }}", 7, "`and` is no operator"),
        ("{{ }}", 2, "an expression is missing"),
        ("{{ {{ x }} }}", 3, "`{{` inside `{{ … }}`"),
        ("${{ inputs.n }}", 0, "`${{ … }}` is another tool's notation"),
    ],
)
def test_a_fault_is_placed_in_the_whole_text(source: str, offset: int, message: str) -> None:
    """Offsets are counted in the template, not in the expression."""
    with pytest.raises(ExpressionError) as caught:
        parse_template(source)
    assert (caught.value.message, caught.value.offset) == (message, offset)


def test_offsets_and_reads_are_counted_in_the_template() -> None:
    """`offsets` says where each expression begins, and so do the reads."""
    template = parse_template("é {{  inputs.n }} {{ has(facts.x) }}")
    assert template is not None
    assert [template.source[at : at + 8] for at in template.offsets] == ["inputs.n", "has(fact"]
    assert [(read.path, template.source[read.offset :][:6], read.tested) for read in template.reads] == [
        (("inputs", "n"), "inputs", False),
        (("facts", "x"), "facts.", True),
    ]
    assert pickle.loads(pickle.dumps(template)) == template  # noqa: S301


def test_one_unknown_part_makes_the_text_unknown() -> None:
    """No half-filled text leaves a template."""
    template = parse_template("{{ inputs.n }} {{ inputs.zz }}")
    assert template is not None
    assert template(SCOPE) == Unknown("inputs.zz is missing")


def test_a_form_fills_every_string_of_a_value() -> None:
    """Strings in lists and maps are filled in, keys and other values stay, and the result is fresh."""
    form = compile_value({"a": ["{{ inputs.l }}", "x{{ inputs.n }}", 5], "{{ b }}": {"c": "plain", "d": None}})
    assert form(SCOPE) == {"a": [[1, {"k": None}], "x2", 5], "{{ b }}": {"c": "plain", "d": None}}
    assert [path for path, _ in form.templates] == [("a", 0), ("a", 1)]
    assert [read.path for read in form.reads] == [("inputs", "l"), ("inputs", "n")]
    filled = form(SCOPE)
    filled["a"][0].append("changed")
    assert SCOPE["inputs"]["l"] == [1, {"k": None}]
    assert fill("{{ inputs.zz }}", SCOPE) == Unknown("inputs.zz is missing")
    assert fill({"a": 1}, SCOPE) == {"a": 1}


def test_plain_refuses_what_json_cannot_hold() -> None:
    """Depth, size and foreign objects give an unknown, not an exception."""
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    wide: Any = "x" * 64
    for _ in range(40):
        wide = [wide, wide]
    assert plain(deep) == Unknown("the value is nested more than 100 deep")
    assert plain(wide) == Unknown("the value is too large to be written")
    assert plain([object()]) == Unknown("no JSON value cannot be written as JSON")
    template = parse_template("x {{ inputs }}")
    assert template is not None
    assert isinstance(template({"inputs": 10**5000}), Unknown)
    assert isinstance(template({"inputs": float("nan")}), Unknown)
    assert template({"inputs": -0.0}) == "x 0"
    while isinstance(deep, list):  # take it apart by hand: its destructor need not be deep either
        deep = deep[0]
