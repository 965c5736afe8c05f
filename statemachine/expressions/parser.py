"""
Tokens to a tree: operator precedence climbing (V. Pratt, Top Down Operator Precedence, 1973).

Precedence is CEL's: `?:`, `||`, `&&`, comparisons with `in`, `+ -`, `* / %`, unary, then `. [] ()`.
"""

from __future__ import annotations

from .calls import call_node, macro_node
from .errors import ExpressionError
from .hints import CONSTANTS, INFIX, PREFIX
from .literals import float_value, int_value, string_value
from .names import MACROS, WORDS
from .nodes import Binary, Conditional, Index, Items, Literal, Logic, Name, Node, Select, Unary, walk
from .tokens import Token, tokens

DEEPEST = 64
"""Deepest nesting, of parentheses as of the tree."""

_BINDS = {
    "||": 1, "&&": 2,
    "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "in": 3,
    "+": 4, "-": 4, "*": 5, "/": 5, "%": 5,
}  # fmt: skip


def tree_of(source: str) -> Node:
    """
    Parse one whole expression.

    Raises `ExpressionError`, whose offset is where the fault begins.

    >>> tree_of("1 + x")
    Binary(op='+', left=Literal(value=1, offset=0, end=1), right=Name(name='x', bound=False, offset=4, end=5), \
offset=0, end=5)
    """
    words = tokens(source)
    parser = _Parser(words, source)
    tree = parser.expression()
    parser.finish()
    if len(words) > DEEPEST:  # every level takes a word
        for node, depth in walk(tree):
            if depth > DEEPEST:
                raise _too_deep(node.offset)
    return tree


def _too_deep(offset: int) -> ExpressionError:
    return ExpressionError(f"the expression is nested more than {DEEPEST} deep", offset, "name its parts under `terms`")


class _Parser:
    """One walk over the tokens; `_variable` is the variable of the macro it is in."""

    def __init__(self, words: list[Token], source: str) -> None:
        self._words, self._source = words, source
        self._place = 0
        self._word = words[0]
        self._depth = 0
        self._right = 0
        self._variable: str | None = None

    # --- words -------------------------------------------------------------------------------------------------

    @property
    def _end(self) -> int:
        """Where the last word taken ends; a node ends there, its closing parentheses included."""
        return self._words[self._place - 1].end

    def _is(self, text: str) -> bool:
        word = self._word
        return word.text == text and word.kind in ("op", "name")

    def _take(self) -> Token:
        word = self._word
        if word.kind != "end":
            self._place += 1
            self._word = self._words[self._place]
        return word

    def _expect(self, text: str, opened: Token, why: str) -> Token:
        if self._is(text):
            return self._take()
        if self._word.kind == "end":
            raise ExpressionError(f"`{opened.text}` is never closed", opened.start, f"add `{text}`")
        raise self._misplaced(why)

    def _misplaced(self, expected: str) -> ExpressionError:
        word = self._word
        if word.kind == "name" and word.text in INFIX:
            return ExpressionError(INFIX[word.text][0], word.start, INFIX[word.text][1])
        if word.kind == "end":
            return ExpressionError(f"the expression ends too early: {expected} is missing", word.start)
        if word.text in (")", "]"):
            return ExpressionError(f"`{word.text}` comes too early: {expected} is missing", word.start)
        if word.text == ":":
            return ExpressionError("`:` without `?`", word.start, "write `condition ? value : other`")
        return ExpressionError(f"`{word.text}` stands where {expected} was expected", word.start)

    # --- operators ---------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Refuse what is left over."""
        if self._word.kind == "end":
            return
        if self._word.text in (")", "]"):
            raise ExpressionError(f"`{self._word.text}` closes nothing", self._word.start, "leave it out")
        raise self._misplaced("an operator")

    def expression(self) -> Node:
        """`condition ? then : otherwise`, or anything that binds tighter."""
        self._enter()
        start = self._word.start
        condition = self._climb(1)
        if self._is("?"):
            opened = self._take()
            then = self.expression()
            if not self._is(":"):
                raise ExpressionError("`?` without `:`", opened.start, "write `condition ? value : other`")
            self._take()
            otherwise = self.expression()
            condition = Conditional(condition, then, otherwise, start, self._end)
        self._depth -= 1
        return condition

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _too_deep(self._word.start)

    def _operand(self, binds: int) -> Node:
        self._right += 1  # each open operator is a level of the tree, so this refuses nothing that `walk` would not
        if self._right > DEEPEST:
            raise _too_deep(self._word.start)
        operand = self._climb(binds + 1)
        self._right -= 1
        return operand

    def _climb(self, least: int) -> Node:
        start = self._word.start
        left = self._unary()
        while (binds := self._binds()) >= least:
            op = self._take().text
            if op in ("&&", "||"):
                left = self._logic(op, left, binds, start)
            else:
                right = self._operand(binds)
                left = Binary(op, left, right, start, self._end)
        return left

    def _binds(self) -> int:
        word = self._word
        return _BINDS.get(word.text, 0) if word.kind == "op" or word.text == "in" else 0

    def _logic(self, op: str, first: Node, binds: int, start: int) -> Node:
        items = [first, self._operand(binds)]
        while self._is(op):
            self._take()
            items.append(self._operand(binds))
        return Logic("&&" if op == "&&" else "||", tuple(items), start, self._end)

    def _unary(self) -> Node:
        if not (self._word.kind == "op" and self._word.text in "!-"):
            start = self._word.start
            return self._postfix(self._primary(), start)
        op = self._take()
        if op.text == "-" and self._word.kind in ("int", "float") and self._word.start == op.end:
            return self._postfix(self._number(op), op.start)
        if op.text == "!" and self._is("in"):
            raise ExpressionError("`!in` is no operator", op.start, "write `!(x in y)`")
        self._enter()
        operand = self._unary()
        self._depth -= 1
        return Unary("!" if op.text == "!" else "-", operand, op.start, self._end)

    # --- operands ----------------------------------------------------------------------------------------------

    def _postfix(self, node: Node, start: int) -> Node:
        while True:
            if self._is("."):
                node = self._dot(node, start)
            elif self._is("["):
                opened = self._take()
                index = self.expression()
                self._expect("]", opened, "`]`")
                node = Index(node, index, start, self._end)
            elif self._is("("):
                raise ExpressionError("only functions are called", start, "put an operator before `(`")
            else:
                return node

    def _dot(self, base: Node, start: int) -> Node:
        self._take()
        word = self._word
        if word.kind != "name":
            raise self._misplaced("a field name after `.`")
        if word.text in WORDS:
            raise ExpressionError(f"`{word.text}` is a word of the language", word.start,
                                  f'write `["{word.text}"]` to read a field called so')  # fmt: skip
        self._take()
        if not self._is("("):
            return Select(base, word.text, start, word.end)
        if word.text in MACROS:
            return self._macro(base, word, start)
        args, end = self._list(")")
        return call_node(word, base, args, start, end)

    def _macro(self, receiver: Node, word: Token, start: int) -> Node:
        opened = self._take()
        if self._variable is not None:
            raise ExpressionError(f"`{word.text}` stands inside another macro; macros are not nested", word.start,
                                  "name the inner one under `terms`, or ask `x in list`")  # fmt: skip
        variable = self._word
        if variable.kind != "name" or self._words[self._place + 1].text != ",":
            raise ExpressionError(f"`{word.text}` needs a variable and a condition", word.start,
                                  f"write `list.{word.text}(x, x.field == 1)`")  # fmt: skip
        self._take()
        self._take()
        self._variable = variable.text
        body = self.expression()
        self._variable = None
        self._expect(")", opened, "`)`")
        return macro_node(word, receiver, variable, body, start, self._end)

    def _list(self, closing: str) -> tuple[tuple[Node, ...], int]:
        opened = self._take()
        items: list[Node] = []
        while not self._is(closing):
            items.append(self.expression())
            if not self._is(","):
                break
            self._take()
            if self._is(closing) and closing == ")":
                raise self._misplaced("an argument")
        return tuple(items), self._expect(closing, opened, f"`,` or `{closing}`").end

    def _primary(self) -> Node:
        word = self._word
        if word.kind in ("int", "float"):
            return self._number(None)
        if word.kind == "string":
            self._take()
            return Literal(string_value(self._source, word.start, word.end), word.start, word.end)
        if word.kind == "name" and word.text != "in":
            return self._name()
        if self._is("("):
            opened = self._take()
            inner = self.expression()
            self._expect(")", opened, "an operator or `)`")
            return inner
        if self._is("["):
            items, end = self._list("]")
            return Items(items, word.start, end)
        raise self._no_operand(word)

    def _no_operand(self, word: Token) -> ExpressionError:
        if word.kind == "end" and self._place == 0:
            return ExpressionError("an expression is missing", 0, "write a condition, as in `facts.lookup.score > 5`")
        return self._misplaced("a value")

    def _number(self, minus: Token | None) -> Node:
        word = self._take()
        read = int_value if word.kind == "int" else float_value
        start = word.start if minus is None else minus.start
        return Literal(read(word.text, start, minus is not None), start, word.end)

    def _name(self) -> Node:
        word = self._take()
        if word.text in ("true", "false", "null"):
            value = None if word.text == "null" else word.text == "true"
            return Literal(value, word.start, word.end)
        if word.text in CONSTANTS:
            right = CONSTANTS[word.text]
            raise ExpressionError(f"`{word.text}` is no constant", word.start, f"write `{right}`")
        if word.text in PREFIX and (self._is("(") or self._word.kind in ("name", "string", "int")):
            raise ExpressionError(PREFIX[word.text][0], word.start, PREFIX[word.text][1])
        if self._is("("):
            args, end = self._list(")")
            return call_node(word, None, args, word.start, end)
        return Name(word.text, word.text == self._variable, word.start, word.end)
