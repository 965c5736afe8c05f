"""
The language against another implementation of CEL, on random expressions.

The oracle is `common-expression-language` (Rust).  Every difference must be one of the named, deliberate ones below;
docs/expressions.md lists them under the same names.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cel
import pytest

from guideway.statemachine.expressions import Expression, ExpressionError, Unknown, parse
from guideway.statemachine.expressions.literals import LEAST
from guideway.statemachine.expressions.nodes import Binary, Call, Items, Macro, Node, Unary, children, walk

COUNT = 20_000
SEED = 20260131
ERROR = "error"

DATA: dict[str, Any] = {
    "args": {"n": 3, "m": -7, "z": 0, "big": 2**63 - 1, "f": 1.5, "g": -0.25, "s": "host-7", "t": "HÔTE", "e": "",
             "yes": True, "no": False, "nil": None, "k k": 4},
    "facts": {"hosts": ["a1", "b2", "c3"], "ports": [22, 80, 443], "mixed": [1, "x", None, True, 2.5], "none": [],
              "map": {"a1": 1, "b2": {"deep": [10, 20]}}, "people": [{"age": 31, "name": "Ann"}, {"name": "Bob"}]},
}  # fmt: skip

PATHS = {
    "int": ["args.n", "args.m", "args.z", "args.big", "facts.ports[1]", "facts.map.a1", 'args["k k"]',
            "facts.map.b2.deep[0]", "facts.people[0].age"],
    "float": ["args.f", "args.g", "facts.mixed[4]"],
    "string": ["args.s", "args.t", "args.e", "facts.hosts[0]", "facts.people[1].name", "facts.mixed[1]"],
    "bool": ["args.yes", "args.no", "facts.mixed[3]"],
    "null": ["args.nil", "facts.mixed[2]"],
    "ints": ["facts.ports", "facts.map.b2.deep"],
    "strings": ["facts.hosts"],
    "map": ["facts.map", "facts.people[0]", "args"],
    "absent": ["args.zz", "facts.hosts[9]", "facts.people[1].age", "facts.map.zz.y", "args.s.y", "facts.hosts[-1]"],
}  # fmt: skip
LITERALS = {
    "int": ["0", "1", "2", "3", "-7", "22", "0x1F", "9223372036854775807", "-9223372036854775808"],
    "float": ["1.5", "0.5", "-0.25", "2e3", "1.0", "0.0"],
    "string": ['"a1"', "'b2'", '"host-7"', '""', r'"\u00e9\n"', "r'\\d'", "'h'", '"HÔTE"'],
    "bool": ["true", "false"],
    "null": ["null"],
    "ints": ["[1, 2, 3]", "[]", "[22]"],
    "strings": ['["a1", "b2"]', "[]"],
    "map": ["facts.map"],
    "time": ['timestamp("2024-01-07T23:00:00Z")', 'timestamp("2024-02-29T01:02:03.5+02:00")'],
    "span": ['duration("1h30m")', 'duration("-1.5s")', 'duration("250ms")', 'duration("720h")'],
}  # fmt: skip
KINDS = list(LITERALS)
PATTERNS = ['"^h"', r'r"[0-9]+$"', '"a|b"', '"."', '"(a+)+$"']


class Generator:
    """Random expressions, well typed most of the time; a wrong kind or a missing path slips in now and then."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.variable: str | None = None

    def expression(self) -> str:
        """One expression, of one to five levels."""
        return self.of(self.random.choice(["bool"] * 6 + KINDS), self.random.randint(1, 5))

    def of(self, kind: str, depth: int) -> str:
        """An expression of this kind, most probably."""
        chance = self.random.random()
        if chance < 0.02:
            return self.random.choice(PATHS["absent"])
        if chance < 0.05:
            kind = self.random.choice(KINDS)
        if depth <= 0 or self.random.random() < 0.1:
            return self.leaf(kind)
        if self.random.random() < 0.07:
            return f"({self.of('bool', depth - 1)} ? {self.of(kind, depth - 1)} : {self.of(kind, depth - 1)})"
        made = getattr(self, f"make_{kind}", None)
        return made(depth - 1) if made else self.leaf(kind)

    def leaf(self, kind: str) -> str:
        """A path, a constant or the variable of a macro."""
        if self.variable and self.random.random() < 0.5:
            return self.variable
        return self.random.choice(PATHS.get(kind, LITERALS[kind]) if self.random.random() < 0.6 else LITERALS[kind])

    def pick(self, *makers: Callable[[], str]) -> str:
        """One of several forms."""
        return self.random.choice(makers)()

    def make_bool(self, d: int) -> str:
        """A condition."""
        kind = self.random.choice(["int", "int", "float", "string", "time", "span"])
        return self.pick(
            lambda: f"({self.of('bool', d)} && {self.of('bool', d)})",
            lambda: f"({self.of('bool', d)} || {self.of('bool', d)})",
            lambda: f"{self.of('bool', d)} && {self.of('bool', d)} || {self.of('bool', d)}",
            lambda: f"!{self.of('bool', d)}",
            lambda: f"({self.of(kind, d)} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {self.of(kind, d)})",
            lambda: f"{self.of('int', d)} < {self.of('float', d)}",
            lambda: f"({self.of(self.random.choice(KINDS), d)} == {self.of(self.random.choice(KINDS), d)})",
            lambda: f"{self.of('string', d)} in {self.of('strings', d)}",
            lambda: f"{self.of('int', d)} in {self.of('ints', d)}",
            lambda: f"{self.of('string', d)} in {self.of('map', d)}",
            lambda: f"{self.of('int', d)} in [{self.of('int', d)}, {self.of('int', d)}]",
            lambda: f"{self.of('string', d)}.startsWith({self.of('string', d)})",
            lambda: f"{self.of('string', d)}.endsWith({self.of('string', d)})",
            lambda: f"{self.of('string', d)}.contains({self.of('string', d)})",
            lambda: f"{self.of('string', d)}.matches({self.random.choice(PATTERNS)})",
            lambda: f"has({self.random.choice(['args.zz', 'args.n', 'facts.map.a1', 'args.nil'])})",
            lambda: self.macro(self.random.choice(["all", "exists"]), "bool", d),
        )

    def macro(self, name: str, body: str, d: int) -> str:
        """A macro over a list; inside another one, a constant."""
        if self.variable:
            return self.leaf(body)
        holder = self.of(self.random.choice(["ints", "strings", "ints"]), 0)
        if self.random.random() < 0.2:
            holder = self.random.choice(["facts.people", "facts.map", "facts.mixed"])
        self.variable = "x"
        made = f"{holder}.{name}(x, {self.of(body, d)})"
        self.variable = None
        return made

    def make_int(self, d: int) -> str:
        """An int."""
        op = self.random.choice("+-*/%")
        return self.pick(
            lambda: f"({self.of('int', d)} {op} {self.of('int', d)})",
            lambda: f"{self.of('int', d)} {op} {self.of('int', d)}",
            lambda: f"-({self.of('int', d)})",
            lambda: f"size({self.of(self.random.choice(['string', 'ints', 'strings', 'map']), d)})",
            lambda: f"{self.of('strings', d)}.size()",
            lambda: f"{self.of('time', d)}.getDayOfWeek()",
        )

    def make_float(self, d: int) -> str:
        """A float."""
        return f"({self.of('float', d)} {self.random.choice('+-*/')} {self.of('float', d)})"

    def make_string(self, d: int) -> str:
        """A string."""
        return f"({self.of('string', d)} + {self.of('string', d)})"

    def make_ints(self, d: int) -> str:
        """A list of ints."""
        return self.pick(
            lambda: f"[{self.of('int', d)}, {self.of('int', d)}]",
            lambda: f"({self.of('ints', d)} + {self.of('ints', d)})",
            lambda: self.macro("map", "int", d) if not self.variable else self.leaf("ints"),
            lambda: self.macro("filter", "bool", d) if not self.variable else self.leaf("ints"),
        )

    def make_strings(self, d: int) -> str:
        """A list of strings."""
        return f"[{self.of('string', d)}, {self.of('string', d)}]"

    def make_time(self, d: int) -> str:
        """A moment."""
        return f"({self.of('time', d)} {self.random.choice('+-')} {self.of('span', d)})"

    def make_span(self, d: int) -> str:
        """A length of time."""
        return self.pick(
            lambda: f"({self.of('span', d)} {self.random.choice('+-')} {self.of('span', d)})",
            lambda: f"({self.of('time', d)} - {self.of('time', d)})",
        )


def ours(expression: Expression) -> Any:
    """Our value, or ERROR for an unknown."""
    value = expression(DATA)
    return ERROR if isinstance(value, Unknown) else value


def theirs(source: str, context: cel.Context) -> Any:
    """The oracle's value, or ERROR for any of its exceptions."""
    try:
        return cel.compile(source).execute(context)
    except (ValueError, TypeError, RuntimeError, KeyError, IndexError, ArithmeticError):
        return ERROR


def same(a: Any, b: Any) -> bool:
    """Equal in value and kind, all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b)


def any_node(tree: Node, holds: Callable[[Node], bool]) -> bool:
    """Tell whether some node of the tree is so."""
    return any(holds(node) for node, _ in walk(tree))


def part(node: Node, e: Expression) -> Any:
    """Evaluate one node of an expression on its own."""
    return parse(e.source[node.offset : node.end])(DATA)


def double_sign(e: Expression) -> bool:
    """`!!x` and `--x` give x unchanged there, whatever it is, and `-` negates a bool."""
    return any_node(e.tree, lambda n: isinstance(n, Unary) and (isinstance(n.operand, Unary) or _of_bool(n, e)))


def _of_bool(node: Unary, e: Expression) -> bool:
    return node.op == "-" and isinstance(part(node.operand, e), bool)


def size_in_bytes(e: Expression) -> bool:
    """`size` counts UTF-8 bytes there, code points here."""
    return any_node(e.tree, lambda n: isinstance(n, Call) and n.function == "size" and _beyond_ascii(n, e))


def _beyond_ascii(call: Call, e: Expression) -> bool:
    text = part(children(call)[0], e)
    if isinstance(text, Unknown):  # the variable of a macro is in it
        return "args.t" in e.source or not e.source.isascii() or "\\u" in e.source
    return isinstance(text, str) and not text.isascii()


def infinity(e: Expression) -> bool:
    """Float division by zero, and float overflow, is infinite there and unknown here."""
    return any_node(e.tree, lambda n: isinstance(n, Binary) and n.op == "/" and _by_float_zero(n, e))


def _by_float_zero(node: Binary, e: Expression) -> bool:
    divisor = part(node.right, e)
    return isinstance(divisor, float) and divisor == 0


def absorbing_macro(e: Expression) -> bool:
    """`all` and `exists` absorb an unknown element from both sides here, as the CEL specification says."""
    return any_node(e.tree, lambda n: isinstance(n, Macro) and n.macro in ("all", "exists"))


def absorbing_in(e: Expression) -> bool:
    """`x in [a, b]` is true as soon as one element equals, though another is unknown."""
    return any_node(e.tree, lambda n: isinstance(n, Binary) and n.op == "in" and isinstance(n.right, Items))


def map_order(e: Expression) -> bool:
    """Keys come in the order of the data here, in any order there."""
    return any_node(e.tree, lambda n: isinstance(n, Macro) and isinstance(part(n.receiver, e), dict))


def list_plus_map(e: Expression) -> bool:
    """A list and a map can be added there."""
    return any_node(e.tree, lambda n: isinstance(n, Binary) and n.op == "+" and _list_and_map(n, e))


def _list_and_map(node: Binary, e: Expression) -> bool:
    return {type(part(node.left, e)), type(part(node.right, e))} == {list, dict}


def wrapping_minus(e: Expression) -> bool:
    """Minus the least int is the least int there, and too large here."""
    return any_node(e.tree, lambda n: isinstance(n, Unary) and n.op == "-" and part(n.operand, e) == LEAST)


def duration_first(e: Expression) -> bool:
    """A duration plus a timestamp is a timestamp here, as the specification says, and refused there."""
    return any_node(e.tree, lambda n: isinstance(n, Binary) and n.op == "+" and _duration_and_moment(n, e))


def _duration_and_moment(node: Binary, e: Expression) -> bool:
    return isinstance(part(node.left, e), timedelta) and isinstance(part(node.right, e), datetime)


def own_offset(e: Expression) -> bool:
    """`getDayOfWeek()` reads the offset the text was written with there; here, as the specification says, UTC."""
    return "+02:00" in e.source and any_node(e.tree, lambda n: isinstance(n, Call) and n.function == "getDayOfWeek")


DIFFERENCES: dict[str, tuple[Callable[[Expression], bool], Callable[[Any, Any], bool]]] = {
    "double-sign": (double_sign, lambda ours, theirs: theirs is not ERROR),
    "size-in-bytes": (size_in_bytes, lambda ours, theirs: True),
    "infinity": (infinity, lambda ours, theirs: ours is ERROR),
    "wrapping-minus": (wrapping_minus, lambda ours, theirs: ours is ERROR),
    "list-plus-map": (list_plus_map, lambda ours, theirs: ours is ERROR),
    "map-order": (map_order, lambda ours, theirs: ours is not ERROR and theirs is not ERROR),
    "duration-first": (duration_first, lambda ours, theirs: theirs is ERROR),
    "own-offset": (own_offset, lambda ours, theirs: True),
    "absorbing-macro": (absorbing_macro, lambda ours, theirs: theirs is ERROR),
    "absorbing-in": (absorbing_in, lambda ours, theirs: theirs is ERROR),
}
"""Name → what must be in the expression, and which way the two results must differ."""


def difference(e: Expression, a: Any, b: Any) -> str | None:
    """Name the deliberate difference, or None when there is none to explain this."""
    return next((name for name, (about, way) in DIFFERENCES.items() if about(e) and way(a, b)), None)


@pytest.mark.slow
def test_random_expressions_mean_what_cel_says() -> None:
    """20,000 random expressions agree with the oracle, but for the named differences."""
    generator = Generator(SEED)
    context = cel.Context(DATA)
    counts: Counter[str] = Counter()
    unexplained: list[str] = []
    for _ in range(COUNT):
        source = generator.expression()
        try:
            expression = parse(source)
        except ExpressionError as fault:
            counts["refused by us"] += 1
            if theirs(source, context) is not ERROR:
                unexplained.append(f"{source}: {fault}")
            continue
        a, b = ours(expression), theirs(source, context)
        counts["value in ours" if a is not ERROR else "unknown in ours"] += 1
        if same(a, b):
            counts["agree on a value" if a is not ERROR else "agree on an error"] += 1
        elif name := difference(expression, a, b):
            counts[f"differs: {name}"] += 1
        else:
            unexplained.append(f"{source}: ours {expression(DATA)!r}, theirs {b!r}")
    print(*sorted(counts.items()), f"unexplained {len(unexplained)}", sep="\n")  # noqa: T201
    assert not unexplained, "\n".join(unexplained[:40])
    assert counts["value in ours"] >= 0.3 * COUNT
    assert counts["agree on a value"] >= 0.3 * COUNT


def test_every_deliberate_difference_is_documented() -> None:
    """docs/expressions.md lists each difference by its name, and no other."""
    text = (Path(__file__).parents[2] / "docs" / "expressions.md").read_text(encoding="utf-8")
    listed = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `") and line.count("|") == 4}
    assert set(DIFFERENCES) <= listed
