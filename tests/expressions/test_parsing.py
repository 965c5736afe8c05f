"""What the parser refuses, where it points, and what it advises."""

from __future__ import annotations

import pytest

from guideway.statemachine.expressions import ExpressionError, parse
from guideway.statemachine.expressions.nodes import Binary, Logic, Name, Select, walk

FAULTS = [
    ("a and b", 2, "`and` is no operator", "write `&&`"),
    ("a or b", 2, "`or` is no operator", "write `||`"),
    ("not a", 0, "`not` is no operator", "write `!`"),
    ("not(a)", 0, "`not` is no operator", "write `!`"),
    ("x not in y", 2, "`not` is no operator", "write `!`, as in `!(x in y)`"),
    ("a = 1", 2, "`=` is no operator", "write `==` to compare"),
    ("a === 1", 2, "`===` is no operator", "write `==` to compare"),
    ("$.x == 1", 0, "`$.` is no part of an expression", "begin with a root name, as in `facts.lookup.score`"),
    ("1 == ${x}", 5, "`${…}` is no part of an expression", "write the name alone, as in `facts.lookup.score`"),
    ("a == {{ b }}", 5, "`{{` has no place inside an expression",
     "write the expression alone: this place already reads one"),
    ("a is null", 2, "`is` is no operator", "write `==`, or `!=` for `is not`"),
    ("a & b", 2, "`&` is no operator", "write `&&`"),
    ("a | b", 2, "`|` is no operator", "write `||`"),
    ("(a && (b)", 0, "`(` is never closed", "add `)`"),
    ("a)", 1, "`)` closes nothing", "leave it out"),
    ("[1, 2", 0, "`[` is never closed", "add `]`"),
    ("x[1", 1, "`[` is never closed", "add `]`"),
    ("size(x", 4, "`(` is never closed", "add `)`"),
    ("args(1)", 0, "`args` is no function", "read a field: `args.name`"),
    ("x[0](1)", 0, "only functions are called", None),
    ("", 0, "an expression is missing", "write a condition, as in `facts.lookup.score > 5`"),
    ("   ", 0, "an expression is missing", "write a condition, as in `facts.lookup.score > 5`"),
    ("1 +", 3, "the expression ends too early: a value is missing", None),
    ("a b", 2, "`b` stands where an operator was expected", None),
    ('"abc', 0, "the string is not closed", 'end it with `"` on the same line'),
    ('"a\nb"', 0, "the string is not closed", 'end it with `"` on the same line'),
    ("a ? b", 2, "`?` without `:`", "write `condition ? value : other`"),
    ("a : b", 2, "`:` without `?`", "write `condition ? value : other`"),
    ("1u", 0, "`1u`: there are no unsigned ints", "write `1`"),
    ('b"x"', 0, "there are no bytes here", "write a string: leave the `b` out"),
    ("x > 5m", 4, "`5m` is no number", 'write `duration("5m")`'),
    ("x > 2d", 4, "`2d` is no number", 'write the days as hours: `duration("24h")`'),
    ("True", 0, "`True` is no constant", "write `true`"),
    ("a == None", 5, "`None` is no constant", "write `null`"),
    ('"\\q"', 1, "`\\q` is no escape", "write `\\\\` for a backslash, or a raw string: `r\"\\d+\"`"),
    ('"\\ud800"', 1, "U+D800 is no character", None),
    ('"\\x4"', 1, "the escape needs 2 hexadecimal digits", None),
    ("l.all(x, x.exists(y, y))", 11, "`exists` stands inside another macro; macros are not nested", None),
    ("l.all(x)", 2, "`all` needs a variable and a condition", "write `list.all(x, x.field == 1)`"),
    ("l.map(args, args)", 6, "`args` is taken; the variable of a macro needs a name of its own", "write `map(x, …)`"),
    ('x.matches("(")', 10, "the pattern is not RE2: missing ): (", None),
    ('x.matches("(?=a)")', 10, "the pattern is not RE2: invalid perl operator: (?=", None),
    ('duration("1d")', 9, '"1d" is no duration', 'write `duration("1h30m")`; a day is "24h"'),
    ('timestamp("today")', 10, '"today" is no RFC 3339 time', 'write `timestamp("2026-01-31T09:00:00Z")`'),
    ('now.getHours("Mars")', 13, 'there is no time zone "Mars"', 'write an IANA name, as in "Europe/Berlin"'),
    ('now.getHours("../../etc/passwd")', 13, 'there is no time zone "../../etc/passwd"', None),
    ('matches(a, "b")', 0, "`matches` is called on a value", 'write `s.matches("^a+$")`'),
    ("a.has(b)", 2, "`has` is not called on a value", "write `has(a.b)`"),
    ("has(1)", 0, "`has` asks about a path", "write `has(facts.lookup.score)`"),
    ("size(1, 2)", 0, "`size` takes 1 argument, not 2", "write `size(x)`"),
    ("predicate(a)", 0, "`predicate` takes a name in quotes", 'write `predicate("is_vip")`'),
    ("__x", 0, "`__x` begins with two underscores; such names are refused", None),
    ("a.__class__", 2, "`__class__` begins with two underscores; such names are refused", None),
    ("a.__init__()", 2, "`__init__` begins with two underscores; such names are refused", None),
    ("l.all(__x, true)", 6, "`__x` begins with two underscores; such names are refused", None),
    ("a.in", 2, "`in` is a word of the language", 'write `["in"]` to read a field called so'),
    ("a // b", 2, "`//` is no operator, and an expression holds no comments", None),
    ("a ** 2", 2, "there is no power operator", "multiply: `x * x`"),
    ("a ?? b", 2, "`??` is no operator", "write `default(x, other)`"),
    ("a?.b", 1, "`?.` is no operator", "write `default(x.y, other)` or test with `has(x.y)`"),
    ('{"a": 1}', 0, "an expression holds no maps", "compare the fields one by one"),
    ("9223372036854775808", 0, "the int does not fit into 64 bits", None),
    ("0x" + "f" * 17, 0, "the int does not fit into 64 bits", None),
    ("1" * 4000, 0, "the int does not fit into 64 bits", None),
    ("1e999", 0, "the float is too large", "floats end at about 1.8e308"),
    ("\u201ca\u201d", 0, "a curly quote opens no string", 'write straight quotes: `"`'),
    ("é == 1", 0, "`é` begins no name: names are ASCII letters, digits and `_`", None),
    ("a\0", 1, "the character U+0000 has no place in an expression", None),
    ('"\ud800"', 1, "half a surrogate pair is no character", None),
    ("x if y else z", 2, "`if` has no place in an expression", "write `condition ? value : other`"),
    ("a.b contains c", 4, "`contains` is no operator", "write `x.contains(y)`, or `y in x` for a list"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "offset", "message", "help"), FAULTS, ids=[fault[0][:24] for fault in FAULTS])
def test_a_fault_is_shown_where_it_is(source: str, offset: int, message: str, help: str | None) -> None:
    """The message, its place, and the repair where the table has one."""
    with pytest.raises(ExpressionError) as caught:
        parse(source)
    assert (caught.value.message, caught.value.offset) == (message, offset)
    assert help is None or caught.value.help == help


@pytest.mark.parametrize(
    ("source", "help"),
    [
        ("startswith(a)", 'write `s.startsWith("a")`'),
        ('a.startswith("b")', 'write `s.startsWith("a")`'),
        ("len(a)", "write `size(x)`"),
        ("lists.some(x, x)", "write `list.exists(x, condition)`"),
        ("a.mathces(b)", 'write `s.matches("^a+$")`'),
        ("filter(a, b)", "write `list.filter(x, …)`"),
        ("a.fliter(x, x)", "write `list.filter(x, …)`"),
        ("int(a)", "compare as it is: ints and floats compare"),
        ("frobnicate(a)", None),
    ],
)
def test_an_unknown_function_has_a_suggestion(source: str, help: str | None) -> None:
    """The nearest function, or the word of this language for another language's, is named."""
    with pytest.raises(ExpressionError) as caught:
        parse(source)
    assert caught.value.help == help


@pytest.mark.parametrize(
    "source",
    ["(" * 5000, "(" * 2000 + ")" * 2000, "!" * 20_000, "!" * 4000 + "true", "-" * 4000 + "1", "[" * 2000, "x[" * 1300,
     "1+" * 2000 + "1", "x" + ".a" * 2000, "a?" * 1300, "size(a||b&&c==d+e*" * 200, "f(" * 1300, "1==" * 1300 + "1",
     "a ? b : " * 400 + "c", "[" + "1," * 200_000 + "1]"],
    ids=lambda source: f"{source[:10]}…{len(source)}",
)  # fmt: skip
def test_hostile_nesting_is_refused_at_once(source: str) -> None:
    """No depth and no length reaches Python's own limits."""
    with pytest.raises(ExpressionError, match=r"nested more than 64|at most 4096"):
        parse(source)


def test_the_deepest_that_is_allowed_works_on_a_deep_stack() -> None:
    """64 levels of the costliest kind parse and run although 300 frames are in use already."""

    def deep(levels: int) -> object:
        source = "size([" * 31 + "1" + "])" * 31
        return deep(levels - 1) if levels else parse(source)({})

    assert deep(300) == 1
    assert parse("(" * 63 + "1" + ")" * 63)({}) == 1


def test_long_conditions_are_not_deep() -> None:
    """Four hundred alternatives are one level."""
    source = " || ".join(f"x=={i}" for i in range(400))
    assert isinstance(parse(source).tree, Logic)
    assert parse(source)({"x": 399}) is True


def test_every_node_knows_its_place() -> None:
    """The span of a node is the text of it, enclosing parentheses of operands included."""
    source = '(args.a + 1) * 2 == -x["k"] && !(b in [1])'
    words = {source[node.offset : node.end] for node, _ in walk(parse(source).tree)}
    assert {"(args.a + 1) * 2", "args.a + 1", '-x["k"]', "!(b in [1])", "b in [1]", "[1]", source} <= words


def test_the_tree_is_public() -> None:
    """Nodes compare by value, spans included."""
    assert parse("a.b").tree == Select(Name("a", False, 0, 1), "b", 0, 3)
    assert isinstance(parse("1 < 2").tree, Binary)
