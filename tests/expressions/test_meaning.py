"""What each operator and function means, rule by rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest

from guideway.statemachine.expressions import Unknown, parse

U = object()
SCOPE: dict[str, Any] = {
    "args": {"n": 3, "f": 1.5, "s": "héllo", "yes": True, "nil": None, "l": [1, 2, 3], "m": {"a": 1, "b": None}},
    "facts": {"get-user": {"id": 7}, "hosts": ["a", "b"], "people": [{"n": 1}, {}]},
    "predicate": {"vip": True, "odd": "yes"},
    "terms": {"plain": True},
}


def value(source: str, now: datetime | None = None) -> Any:
    """The value in SCOPE, with one stand-in for every unknown."""
    found = parse(source)(SCOPE, now)
    return U if isinstance(found, Unknown) else found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # no truthiness, strict kinds
        ("1 == true", False), ("0 == false", False), ("1 in [true]", False), ("true in [1]", False),
        ("[1] == [true]", False), ("args.m == args.m", True),
        ("1 == 1.0", True), ("[1] == [1.0]", True), ("1 in [1.0]", True), ("2 < 2.5", True), ("1 != 1.0", False),
        ('1 == "1"', False), ("null == null", True), ("null == false", False), ('1 != "1"', True),
        ("1 && true", U), ("true && 1", U), ("1 ? 2 : 3", U), ("!1", U), ('!""', U), ("!!args.n", U),
        # Kleene
        ("false && args.zz", False), ("args.zz && false", False), ("true || args.zz", True), ("args.zz || true", True),
        ("args.zz && true", U), ("args.zz || false", U), ("!args.zz", U), ("false && 1", False), ("1 || true", True),
        ("args.zz && args.yy && false", False), ("args.zz == args.zz", U), ("args.zz == 1", U), ("args.zz != 1", U),
        ("1 in [args.zz, 1]", True), ("2 in [args.zz, 1]", U), ("args.zz in [1]", U), ("args.zz in []", U),
        ("args.zz ? 1 : 1", U), ("true ? 1 : args.zz", 1), ("[args.zz]", U), ("size([args.zz])", U),
        # arithmetic
        ("7 / 2", 3), ("-7 / 2", -3), ("-7 % 3", -1), ("7 % -3", 1), ("7.0 / 2.0", 3.5), ("1 + 1.5", U), ("1.5 - 1", U),
        ("1 / 0", U), ("1 % 0", U), ("1.0 / 0.0", U), ("1.5 % 1.0", U), ("9223372036854775807 + 1", U),
        ("-9223372036854775808 / -1", U), ("-(-9223372036854775808)", U), ("-9223372036854775808 - 1", U),
        ("9223372036854775807 * 2", U), ("1e308 * 10.0", U), ('"a" + "b"', "ab"), ("[1] + [\"a\"]", [1, "a"]),
        ('"a" + 1', U), ('"a" * 2', U), ("true + true", U), ("-true", U), ("- -3", 3), ("2 - -1", 3), ("1 - 2 - 3", -4),
        ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("double(args.n) * 1.5", 4.5), ("double(true)", U),
        # order
        ('"a" < "b"', True), ('"Z" < "a"', True), ("false < true", True), ("null < 1", U), ('1 < "a"', U),
        ("[1] < [2]", U),
        ("true < 1", U), ("1 <= 1.0", True), ("3 > 2 && 3 >= 3", True),
        # paths
        ("args.nil", None), ("args.nil == null", True), ("args.zz", U), ("args.s.zz", U), ("args.nil.zz", U),
        ('facts["get-user"].id', 7), ("args.l[0]", 1), ("args.l[3]", U), ("args.l[-1]", U), ("args.l[1.0]", U),
        ("args.l[true]", U), ('args.l["0"]', U), ("args.m[0]", U), ("args.s[0]", U), ("args.l[args.n - 1]", 3),
        ('args["__class__"]', U), ("zz", U), ("facts.people[0].n", 1), ("args[args.s]", U),
        # in
        ('"a" in args.m', True), ('"z" in args.m', False), ("1 in args.m", False), ("null in args.m", U),
        ('"a" in facts.hosts', True), ("3 in args.l", True), ("3.0 in args.l", True), ("true in args.l", False),
        ('"h" in args.s', U), ("1 in 5", U), ("[1] in [[1.0]]", True), ("args.nil in [null]", True),
        # has, default
        ("has(args.n)", True), ("has(args.nil)", True), ("has(args.zz)", False), ("has(zz.y.x)", False),
        ("has(args.s.y)", False), ("has(args.l[9])", False), ("has(args)", True), ("has(facts.people[1].n)", False),
        ("default(args.zz, 5)", 5), ("default(args.nil, 5)", None), ("default(1 / 0, 5)", 5),
        ("default(args.zz, args.yy)", U), ("default(args.n, 1 / 0)", 3),
        # functions
        ("size(args.s)", 5), ("args.s.size()", 5), ("size(args.l)", 3), ("size(args.m)", 2), ("size(1)", U),
        ('args.s.startsWith("h")', True), ('args.s.endsWith("o")', True), ('args.s.contains("él")', True),
        ('args.l.contains("a")', U), ("args.s.contains(1)", U), ('args.s.matches("l+o$")', True),
        ('args.s.matches("^l")', False), ('args.s.matches(args.s + "(")', U), ("args.n.matches(\"3\")", U),
        ('predicate("vip")', True), ('predicate("other")', U), ('predicate("odd")', U), ("terms.plain", True),
        # macros
        ("args.l.all(x, x > 0)", True), ("args.l.exists(x, x == 2)", True), ("args.l.filter(x, x > 1)", [2, 3]),
        ("args.l.map(x, x * 2)", [2, 4, 6]), ("[].all(x, false)", True), ("[].exists(x, true)", False),
        ("facts.people.all(p, p.n == 1)", U), ("facts.people.all(p, p.n == 2)", False),
        ("facts.people.exists(p, p.n == 1)", True), ("facts.people.exists(p, p.n == 2)", U),
        ("facts.people.filter(p, p.n == 1)", U), ("facts.people.map(p, p.n)", U), ("args.l.all(x, x)", U),
        ("args.m.all(k, k in args.m)", True), ("args.m.map(k, k)", ["a", "b"]), ("args.n.all(x, true)", U),
        ("args.l.filter(x, x > 1).map(x, x + args.n)", [5, 6]), ("args.zz.all(x, true)", U), ('"abc".all(x, true)', U),
        # literals
        (r'"\x41\u00e9\101\n\\\"\'"', "Aé" + "A\n\\\"'"), (r"r'\d+'", r"\d+"), (r'R"\"', "\\"), ("0x1f", 31),
        ("-0x10", -16),
        (".5", 0.5), ("1e3", 1000.0), ("007", 7), ("[1, 2,]", [1, 2]), ("'it\"s'", 'it"s'),
        (r'"\U0001F600"', "\U0001f600"), ("true", True), ("null", None),
        # precedence
        ("true || false && false", True), ("!false == true", True), ("1 + 1 == 2 ? \"y\" : \"n\"", "y"),
        ("1 == 2 == false", True), ("false ? 1 : true ? 2 : 3", 2), ("-args.n + 1", -2), ("1 in [1] == true", True),
    ],
)  # fmt: skip
def test_the_rules(source: str, expected: Any) -> None:
    """Each expression has the value the rule gives it, and a value of that very kind."""
    found = value(source)
    assert type(found) is type(expected)
    assert found == expected


T = 'timestamp("2024-01-07T23:00:00Z")'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{T}.getDayOfWeek()", 0), (f'{T}.getDayOfWeek("Europe/Berlin")', 1), (f'{T}.getHours("Europe/Berlin")', 0),
        (f"{T}.getHours()", 23), (f'{T}.getHours("UTC")', 23), (f'{T}.getHours("-03:30")', 19),
        ('timestamp("2024-07-07T23:00:00Z").getHours("America/New_York")', 19),
        (f"{T} + duration(\"1h\") == timestamp(\"2024-01-08T01:00:00+01:00\")", True),
        (f"duration(\"1h\") + {T} > {T}", True), (f"{T} - {T} == duration(\"0s\")", True),
        ('duration("1h30m") == duration("5400s")', True), ('duration("1.5s") > duration("1500ms")', False),
        ('duration("-1h") < duration("0")', True), ('duration("90m").getHours()', 1),
        ('duration("-90m").getHours()', -1),
        (f"{T} == 1", False), (f"{T} < 1", U), (f"{T} + {T}", U), (f"{T} * 2", U), (f"-{T}", U),
        ("timestamp(args.s)", U), ("duration(args.s)", U), ("timestamp(1704668400) == " + T, True),
        ("timestamp(args.f)", U),
        ("timestamp(9223372036854775807)", U), (f"{T}.getHours(args.s)", U), (f"{T}.getHours(args.n)", U),
        (f"{T} + duration(\"80000000h\")", U), ('timestamp("9999-12-31T23:59:59Z") + duration("1s")', U),
        ('timestamp("0001-01-01T00:00:00Z").getHours("America/New_York")', U), ("now == now", True),
        ("now - duration(\"1h\") < now", True), ("now.year", U), ("args.n.getHours()", U),
    ],
)  # fmt: skip
def test_time(source: str, expected: Any) -> None:
    """Moments and lengths of time follow CEL; zones are IANA names or offsets."""
    found = value(source, datetime(2026, 1, 31, tzinfo=UTC))
    assert type(found) is type(expected)
    assert found == expected


def test_now_is_the_time_passed_in() -> None:
    """`now` is the event's time in UTC, and unknown when none was given."""
    east = datetime(2026, 1, 31, 10, tzinfo=timezone(timedelta(hours=1)))
    assert parse("now")({}, east) == datetime(2026, 1, 31, 9, tzinfo=UTC)
    assert parse("now")({}, datetime(2026, 1, 31, 9)) == datetime(2026, 1, 31, 9, tzinfo=UTC)
    assert parse("now")({}) == Unknown("the time is not known here")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("facts.enrich.score > 5", "facts.enrich is missing"),
        ("zz.a.b", "zz is missing"),
        ("args.s.len", "args.s is a string, it has no field `len`"),
        ("args.l[9]", "args.l[9] is out of range: the list has 3 items"),
        ("args.l.first", "args.l is a list, it has no field `first`"),
        ('facts["get-user"].name', 'facts["get-user"].name is missing'),
        ("args.nil.x", "args.nil is null, it has no field `x`"),
        ("facts.people.all(p, p.n > 0)", "p.n is missing"),
        ("1 + 1.5", "`+` does not mix an int and a float; write the int with a point, or `double(x)`"),
        ("args.n && true", "`&&` wants bools, not an int"),
        ('1 < "a"', "`<` has no meaning between an int and a string"),
        ("1 / 0", "division by zero"),
        ('predicate("other")', 'the predicate "other" was not supplied'),
    ],
)
def test_an_unknown_says_why(source: str, why: str) -> None:
    """The reason names the path or the operator."""
    assert parse(source)(SCOPE) == Unknown(why)


def test_an_unknown_has_no_truth_value() -> None:
    """Code that forgets the third value fails loudly, rather than taking an unknown for a pass."""
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(Unknown("x is missing"))


def test_frozen_data_reads_like_plain_data() -> None:
    """Tuples and read-only mappings stand for lists and maps."""
    scope = {"facts": MappingProxyType({"l": (1, 2), "m": MappingProxyType({"k": 1})})}
    for source in ("facts.l[1] == 2", "2 in facts.l", "facts.m.k == 1", '"k" in facts.m', "size(facts.l) == 2",
                   "facts.l == [1, 2]", "facts.l.all(x, x > 0)", "facts.m == facts.m",
                   "facts.l + [3] == [1, 2, 3]"):  # fmt: skip
        assert parse(source)(scope) is True, source


def test_an_expression_is_a_value() -> None:
    """Expressions are equal by their text, hash so, and survive pickling."""
    import pickle

    one = parse("args.n == 3")
    assert one == parse("args.n == 3")
    assert one != parse("args.n==3")
    assert len({one, parse("args.n == 3")}) == 1
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
    assert repr(one) == "Expression(source='args.n == 3')"


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("facts.get_order.id == 1", [(("facts", "get_order", "id"), 0, False)]),
        ('x["lit"][0].y + 1', [(("x", "lit", 0, "y"), 0, False)]),
        ("facts.l[args.i].name", [(("facts", "l"), 0, False), (("args", "i"), 8, False)]),
        ("has(facts.a) && facts.a > 1", [(("facts", "a"), 4, True), (("facts", "a"), 16, False)]),
        ("default(facts.a, inputs.b)", [(("facts", "a"), 8, True), (("inputs", "b"), 17, False)]),
        ("facts.l.all(x, x.ok && args.y)", [(("facts", "l"), 0, False), (("args", "y"), 23, False)]),
        ('predicate("vip") && now > timestamp(inputs.t)',
         [(("predicate", "vip"), 0, False), (("now",), 20, False), (("inputs", "t"), 36, False)]),
        ("facts.a.matches(\"x\") || size(terms.t) > 1", [(("facts", "a"), 0, False), (("terms", "t"), 29, False)]),
        ("facts.l[-1]", [(("facts", "l"), 0, False)]),
        ("(facts.a).b", [(("facts", "a", "b"), 1, False)]),
    ],
)  # fmt: skip
def test_reads_are_the_longest_fixed_paths(source: str, reads: list[Any]) -> None:
    """Every path read is listed in order, with its place, and whether its absence is provided for."""
    assert [tuple(read) for read in parse(source).reads] == reads
