"""Types of expressions, problems that are certain, and doubts: what may turn out unknown on well-typed data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from .expression import Expression
from .names import nearest
from .nodes import Binary, Call, Conditional, Index, Items, Literal, Logic, Macro, Name, Node, Select, Unary
from .paths import Path, step_of
from .presence import is_shown, path_of, shown_by
from .signatures import arithmetic, call_type, truth_help
from .types import (
    BOOL,
    DYNAMIC,
    FLOAT,
    INT,
    NULL,
    NUMERIC,
    STRING,
    TIMESTAMP,
    Type,
    TypeProblem,
    join,
    list_of,
    may_equal,
)


def type_of(expression: Expression, types: Mapping[str, Type]) -> tuple[Type, list[TypeProblem]]:
    """
    Infer the type of an expression from the types of the roots, and find what can never work.

    A root that is not among `types` is dynamic, and so is anything read from it.

    >>> from guideway.statemachine.expressions import parse
    >>> from guideway.statemachine.expressions.types import map_of, NUMBER
    >>> t, problems = type_of(parse('args.amount == "5"'), {"args": map_of({"amount": NUMBER})})
    >>> print(t, "|", problems[0].message)
    a bool | `args.amount` is a number, `"5"` is a string: they never compare
    """
    inference = Inference(expression, types)
    return inference.of(expression.tree), _unique(inference.problems)


def condition_problems(expression: Expression, types: Mapping[str, Type]) -> list[TypeProblem]:
    """
    Give the problems of an expression that stands where a yes or no is wanted.

    >>> from guideway.statemachine.expressions import parse
    >>> condition_problems(parse("size(inputs.hosts)"), {})[0].help
    'write `size(inputs.hosts) != 0`'
    """
    inference = Inference(expression, types)
    inference.wants_bool(expression.tree, "a condition")
    return _unique(inference.problems)


def doubts_of(expression: Expression, types: Mapping[str, Type]) -> list[TypeProblem]:
    """
    Find what may be unknown at run time though the data fit their declared types.

    A field that may be missing, null where a value is needed, an index, arithmetic on a `number`.  What `has`,
    `default`, `!= null` provide for is no doubt.

    >>> from guideway.statemachine.expressions import parse
    >>> from guideway.statemachine.expressions.types import INT, map_of
    >>> args = {"args": map_of({"n": INT}, optional=["n"])}
    >>> [doubt.message for doubt in doubts_of(parse("args.n > 5"), args)]
    ['`args.n` may be missing']
    >>> doubts_of(parse("has(args.n) && args.n > 5"), args)
    []
    """
    inference = Inference(expression, types)
    inference.of(expression.tree)
    return _unique(inference.doubts)


def _unique(found: list[TypeProblem]) -> list[TypeProblem]:
    return list(dict.fromkeys(found))


class Inference:
    """One walk over a tree; `present` holds the paths that are provided for at the node it stands at."""

    def __init__(self, expression: Expression, types: Mapping[str, Type]) -> None:
        self.problems: list[TypeProblem] = []
        self.doubts: list[TypeProblem] = []
        self._source = expression.source
        self._types = types
        self._variable: Type = DYNAMIC
        self._present: frozenset[Path] = frozenset()
        self._provided = False

    # --- help for the rules ------------------------------------------------------------------------------------

    def text(self, node: Node) -> str:
        """The author's own words, in backquotes."""
        return f"`{self._source[node.offset : node.end]}`"

    def problem(self, message: str, node: Node, help: str | None = None) -> Type:
        """Note what can never work; the result is dynamic, so that one fault is reported once."""
        self.problems.append(TypeProblem(message, node.offset, help))
        return DYNAMIC

    def doubt(self, message: str, node: Node, help: str | None = None) -> None:
        """Note what may be unknown, unless `has` or `default` provides for it here."""
        if not self._provided:
            self.doubts.append(TypeProblem(message, node.offset, help))

    def not_null(self, node: Node, t: Type) -> Type:
        """Use the value for more than `==`: null is a doubt."""
        if t.nullable and not is_shown(path_of(node), self._present, not_null=True):
            self.doubt(f"{self.text(node)} may be null", node, f"ask `{self.text(node)[1:-1]} != null && …` first")
        return replace(t, nullable=False)

    def wants_bool(self, node: Node, where: str) -> None:
        """Infer a node that must be a bool."""
        t = self.not_null(node, self.of(node))
        if t.kind not in ("bool", "dynamic"):
            self.problem(f"{self.text(node)} is {t}, {where} wants a bool", node, truth_help(self.text(node)[1:-1], t))

    @contextmanager
    def knowing(self, paths: frozenset[Path]) -> Iterator[None]:
        """Infer with more paths known to be there."""
        before, self._present = self._present, self._present | paths
        yield
        self._present = before

    @contextmanager
    def provided(self) -> Iterator[None]:
        """Infer where an unknown is provided for."""
        before, self._provided = self._provided, True
        yield
        self._provided = before

    # --- rules -------------------------------------------------------------------------------------------------

    def of(self, node: Node) -> Type:
        """Infer one node."""
        match node:
            case Literal():
                return _constant(node)
            case Name() | Select() | Index():
                return self._path(node)
            case Logic():
                return self._logic(node)
            case Binary():
                return self._binary(node)
            case Unary(op="!", operand=operand):
                self.wants_bool(operand, "`!`")
                return BOOL
            case Unary(operand=operand):
                return self._negative(operand)
            case Conditional():
                return self._conditional(node)
            case Items(items=items):
                return self._items(items)
            case Call():
                return call_type(self, node)
            case Macro():
                return self._macro(node)

    def _path(self, node: Node) -> Type:
        t = self._step(node)
        if t.optional and not is_shown(path_of(node), self._present):
            help = f"ask `has({self.text(node)[1:-1]}) && …` first, or write `default({self.text(node)[1:-1]}, …)`"
            self.doubt(f"{self.text(node)} may be missing", node, help)
        return replace(t, optional=False)

    def _step(self, node: Node) -> Type:
        if isinstance(node, Name):
            if node.bound:
                return self._variable
            return TIMESTAMP if node.name == "now" else self._types.get(node.name, DYNAMIC)
        if not isinstance(node, (Select, Index)):
            return self.of(node)
        base = self._step(node.base)
        if base.nullable and not is_shown(path_of(node.base), self._present, not_null=True):
            base = replace(base, optional=True)
        step = step_of(node)
        if step is None and isinstance(node, Index):
            return self._dynamic_index(node, base)
        found = self._field(node, base, step)
        missing = base.optional and not is_shown(path_of(node.base), self._present)
        return replace(found, optional=True) if missing else found

    def _field(self, node: Select | Index, base: Type, step: str | int | None) -> Type:
        if base.kind == "dynamic":
            return DYNAMIC
        if base.kind == "list" and isinstance(step, int):
            return replace(base.item or DYNAMIC, optional=True)
        if base.kind != "map" or not isinstance(step, str):
            what = f"field `{step}`" if isinstance(step, str) else f"item {step}"
            return self.problem(f"{self.text(node.base)} is {base}, it has no {what}", node)
        found = base.field(step)
        if found is not None:
            return found
        return DYNAMIC if base.open else self._no_field(node, base, step)

    def _no_field(self, node: Select | Index, base: Type, step: str) -> Type:
        near = nearest(step, base.names)
        known = ", ".join(base.names) or "none"
        at = node.end - len(step) if isinstance(node, Select) else node.index.offset
        message = f"{self.text(node.base)} has no field `{step}`; it has {known}"
        self.problems.append(TypeProblem(message, at, near and f"did you mean `{near}`?"))
        return DYNAMIC

    def _dynamic_index(self, node: Index, base: Type) -> Type:
        index = self.of(node.index)
        if base.kind == "list" and index.kind not in ("int", "number", "dynamic"):
            return self.problem(f"a list is read by position, {self.text(node.index)} is {index}", node.index)
        if base.kind == "map" and index.kind not in ("string", "dynamic"):
            return self.problem(f"a map is read by key, {self.text(node.index)} is {index}", node.index)
        if base.kind not in ("list", "map", "dynamic"):
            return self.problem(f"{self.text(node.base)} is {base}, it has no items", node)
        item = base.item or base.other or DYNAMIC
        return replace(item, optional=base.kind != "dynamic")

    def _logic(self, node: Logic) -> Type:
        """Absorption works from both sides, so each item is protected by all the others."""
        shown = [shown_by(item, node.op == "&&") for item in node.items]
        for place, item in enumerate(node.items):
            others = frozenset[Path]().union(*(s for at, s in enumerate(shown) if at != place))
            with self.knowing(others):
                self.wants_bool(item, f"`{node.op}`")
        return BOOL

    def _conditional(self, node: Conditional) -> Type:
        self.wants_bool(node.condition, "`?:`")
        with self.knowing(shown_by(node.condition, True)):
            then = self.of(node.then)
        with self.knowing(shown_by(node.condition, False)):
            return join(then, self.of(node.otherwise))

    def _negative(self, operand: Node) -> Type:
        t = self.not_null(operand, self.of(operand))
        if t.kind in NUMERIC or t.kind == "dynamic":
            return Type(t.kind)
        return self.problem(f"{self.text(operand)} is {t}, `-` wants a number", operand)

    def _items(self, items: tuple[Node, ...]) -> Type:
        found = [self.of(item) for item in items]
        total = found[0] if found else DYNAMIC
        for t in found[1:]:
            total = join(total, t)
        return list_of(total)

    def _macro(self, node: Macro) -> Type:
        receiver = self.not_null(node.receiver, self.of(node.receiver))
        if receiver.kind not in ("list", "map", "dynamic"):
            message = f"{self.text(node.receiver)} is {receiver}, `{node.macro}` wants a list or a map"
            self.problem(message, node.receiver)
        item = STRING if receiver.kind == "map" else receiver.item or DYNAMIC
        outer, self._variable = self._variable, replace(item, optional=False)
        if node.macro == "map":
            body = self.of(node.body)
        else:
            self.wants_bool(node.body, f"`{node.macro}`")
            body = DYNAMIC
        self._variable = outer
        return list_of(body if node.macro == "map" else item) if node.macro in ("map", "filter") else BOOL

    def _binary(self, node: Binary) -> Type:
        left, right = self.of(node.left), self.of(node.right)
        if node.op in ("==", "!="):
            self._equality(node, left, right)
            return BOOL
        if node.op == "in":
            self._membership(node, left, self.not_null(node.right, right))
            return BOOL
        left, right = self.not_null(node.left, left), self.not_null(node.right, right)
        if node.op in ("<", "<=", ">", ">="):
            self._order(node, left, right)
            return BOOL
        return arithmetic(self, node, left, right)

    def _equality(self, node: Binary, left: Type, right: Type) -> None:
        if not may_equal(left, right):
            self._never(node.left, left, node.right, right)

    def _never(self, a: Node, left: Type, b: Node, right: Type) -> None:
        """Say why two sides can never be equal."""
        if left.kind == right.kind and isinstance(a, Literal):
            a, left, b, right = b, right, a, left
        help = None
        if left.kind == right.kind and isinstance(b, Literal):
            near = nearest(str(b.value), tuple(map(str, left.values or ())))
            help = near and f"did you mean `{near}`?"
            message = f"{self.text(a)} is {left.choices}: it never equals {self.text(b)}"
        else:
            message = f"{self.text(a)} is {left}, {self.text(b)} is {right}: they never compare"
        self.problem(message, a, help)

    def _membership(self, node: Binary, left: Type, right: Type) -> None:
        if isinstance(node.right, Items):
            for item in node.right.items:
                if not may_equal(left, t := self.of(item)):
                    self._never(node.left, left, item, t)
        elif right.kind == "string":
            self.problem(f"{self.text(node.right)} is {right}, `in` looks into lists and maps", node.right,
                         "write `text.contains(part)`")  # fmt: skip
        elif right.kind not in ("list", "map", "dynamic"):
            self.problem(f"{self.text(node.right)} is {right}, `in` looks into lists and maps", node.right)
        elif right.kind != "dynamic" and not may_equal(left, STRING if right.kind == "map" else right.item or DYNAMIC):
            inside = "strings" if right.kind == "map" else f"{right.item}".removeprefix("a ").removeprefix("an ") + "s"
            self.problem(f"{self.text(node.left)} is {left}, {self.text(node.right)} holds {inside}: it is never in",
                         node.left)  # fmt: skip

    def _order(self, node: Binary, left: Type, right: Type) -> None:
        if "dynamic" in (left.kind, right.kind) or (left.kind in NUMERIC and right.kind in NUMERIC):
            return
        if left.kind != right.kind or left.kind in ("list", "map", "null"):
            self.problem(f"{self.text(node.left)} is {left}, {self.text(node.right)} is {right}: "
                         f"`{node.op}` has no meaning between them", node.left)  # fmt: skip


_BY_CLASS = {bool: BOOL, int: INT, float: FLOAT, str: STRING}


def _constant(node: Literal) -> Type:
    value = node.value
    if value is None:
        return NULL
    return replace(_BY_CLASS[type(value)], values=(value,))
