"""Named expressions."""

from __future__ import annotations

from typing import Any

import pytest

from guideway.statemachine.expressions import Expression, Terms, Unknown, parse, term_cycle


def scope(terms: dict[str, str], **roots: Any) -> dict[str, Any]:
    """A scope with these terms."""
    return {"terms": Terms({name: parse(source) for name, source in terms.items()}), **roots}


def test_a_term_is_its_expression() -> None:
    """Terms read the same scope, other terms, and give whole values."""
    found = scope({"big": "args.n > 5", "both": "terms.big && args.ok", "list": "[args.n, 2]", "rec": "args"},
    args={"n": 7, "ok": True})
    assert parse("terms.both")(found) is True
    assert parse("terms.list[0] == 7 && size(terms.list) == 2 && terms.rec.n == 7")(found) is True
    assert parse("terms.other")(found) == Unknown("terms.other is missing")
    assert parse("terms.rec.zz")(found) == Unknown("terms.rec.zz is missing")
    assert parse("has(terms.other) || has(terms.big)")(found) is True


def test_the_roots_own_object_never_leaks() -> None:
    """`terms` alone, or with a key known at run time only, is unknown."""
    found = scope({"a": "1"}, args={"k": "a"})
    for source in ("terms", "terms[args.k]", "terms == terms", "size(terms)", "[terms]", '"a" in terms',
                   "terms.all(x, true)"):
        assert isinstance(parse(source)(found), Unknown), source


def test_terms_are_lazy() -> None:
    """What is not read is not evaluated."""
    found = scope({"heavy": "args.l.all(x, args.l == args.l)"}, args={"l": [[1] * 100] * 100})
    assert parse("false && terms.heavy")(found) is False
    assert isinstance(parse("terms.heavy")(found), Unknown)


@pytest.mark.parametrize("shape", ["terms.a{0} && terms.a{0}", "!(!(terms.a{0}))", "terms.a{0} ? terms.a{0} : false"])
def test_a_long_chain_is_linear(shape: str) -> None:
    """5,000 terms in a chain cost 5,000 evaluations and no stack."""
    sources = {"a0": "args.x"} | {f"a{i}": shape.format(i - 1) for i in range(1, 5001)}
    found = scope(sources, args={"x": True})
    assert parse("terms.a5000")(found) is True
    assert parse("terms.a2500 && terms.a1")(found) is True


def test_macro_variables_do_not_reach_into_terms() -> None:
    """A term sees the scope, not the variable of the macro that reads it, and may hold a macro of its own."""
    found = scope({"own": "args.l.exists(y, y == 2)", "free": "x"}, args={"l": [1, 2]})
    assert parse("args.l.map(x, terms.own ? x : 0)")(found) == [1, 2]
    assert parse("args.l.all(x, terms.free)")(found) == Unknown("x is missing")


def test_a_ring_is_unknown_and_found() -> None:
    """Terms that read each other are unknown, and so is what reads them; the ring is named."""
    sources = {"a": "terms.b", "b": "true || terms.c", "c": "terms.a", "d": "terms.a", "e": "true"}
    terms = {name: parse(source) for name, source in sources.items()}
    assert term_cycle(terms) == ("a", "b", "c", "a")
    found = {"terms": Terms(terms)}
    for name in "abcd":
        assert isinstance(parse(f"terms.{name}")(found), Unknown)
    assert parse("terms.e")(found) is True
    assert term_cycle({"e": parse("true"), "f": parse("terms.e && terms.e")}) is None
    assert term_cycle({"s": parse("!terms.s")}) == ("s", "s")


def test_a_ring_of_five_thousand_raises_nothing() -> None:
    """A long ring is found without recursion, and unknown at run time."""
    terms: dict[str, Expression] = {f"a{i}": parse(f"terms.a{(i + 1) % 5000}") for i in range(5000)}
    ring = term_cycle(terms)
    assert ring is not None
    assert len(ring) == 5001
    assert isinstance(parse("terms.a0")({"terms": Terms(terms)}), Unknown)


def test_the_budget_is_shared() -> None:
    """Doubling through terms ends in an unknown, not in a huge string."""
    sources = {"a0": "args.s"} | {f"a{i}": f"terms.a{i - 1} + terms.a{i - 1}" for i in range(1, 60)}
    for data in ("x" * 100, [1] * 100):
        found = parse("terms.a59")(scope(sources, args={"s": data}))
        assert isinstance(found, Unknown)
        assert "too costly" in found.why
