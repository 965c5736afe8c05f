"""What a call must look like: known name, right shape, right number of arguments, constants that can be used."""

from __future__ import annotations

from guideway.statemachine.patterns import PatternError, pattern

from .clock import parse_duration, parse_timestamp, zone
from .errors import ExpressionError
from .hints import FUNCTIONS as FOREIGN
from .names import FUNCTIONS, MACROS, ROOTS, WORDS, Function, nearest
from .nodes import Call, Index, Literal, Macro, Name, Node, Select
from .tokens import Token


def call_node(word: Token, receiver: Node | None, args: tuple[Node, ...], offset: int, end: int) -> Call:
    """Check a call and make its node; raise `ExpressionError` at the function's name or at the argument."""
    function = FUNCTIONS.get(word.text)
    if function is None:
        raise _unknown_function(word, receiver)
    _check_shape(function, word, receiver, args)
    call = Call(word.text, receiver, args, offset, end)
    _check_constants(call, word)
    return call


def macro_node(word: Token, receiver: Node, variable: Token, body: Node, start: int, end: int) -> Macro:
    """Check the variable of a macro and make its node."""
    if variable.text in ROOTS or variable.text in WORDS:
        raise ExpressionError(f"`{variable.text}` is taken; the variable of a macro needs a name of its own",
                              variable.start, f"write `{word.text}(x, …)`")  # fmt: skip
    for macro in ("all", "exists", "filter", "map"):
        if macro == word.text:
            return Macro(macro, receiver, variable.text, body, start, end)
    raise AssertionError(word.text)


def _unknown_function(word: Token, receiver: Node | None) -> ExpressionError:
    if receiver is None and word.text in MACROS and word.text != "exists":
        return ExpressionError(f"`{word.text}` is called on a list", word.start, f"write `list.{word.text}(x, …)`")
    help = FOREIGN.get(word.text)
    if help is None:
        found = nearest(word.text, (*FUNCTIONS, *MACROS))
        help = f"write `{FUNCTIONS[found].call}`" if found in FUNCTIONS else found and f"write `list.{found}(x, …)`"
    known = ", ".join((*FUNCTIONS, *MACROS))
    if receiver is None and word.text in ROOTS:
        return ExpressionError(f"`{word.text}` is no function", word.start, f"read a field: `{word.text}.name`")
    return ExpressionError(f"there is no function `{word.text}`; there are {known}", word.start, help)


def _check_shape(function: Function, word: Token, receiver: Node | None, args: tuple[Node, ...]) -> None:
    if receiver is None and not function.plain:
        raise ExpressionError(f"`{function.name}` is called on a value", word.start, f"write `{function.call}`")
    if receiver is not None and not function.method:
        raise ExpressionError(f"`{function.name}` is not called on a value", word.start, f"write `{function.call}`")
    least, greatest = function.arguments
    if function.name == "size":
        least = greatest = 1 if receiver is None else 0
    if not least <= len(args) <= greatest:
        wanted = str(least) if least == greatest else f"{least} or {greatest}"
        raise ExpressionError(
            f"`{function.name}` takes {wanted} argument{'s' if wanted != '1' else ''}, not {len(args)}",
            word.start, f"write `{function.call}`",
        )  # fmt: skip


def _check_constants(call: Call, word: Token) -> None:
    first = call.args[0] if call.args else None
    if call.function == "has" and not isinstance(first, (Name, Select, Index)):
        raise ExpressionError("`has` asks about a path", word.start, "write `has(facts.lookup.score)`")
    if call.function == "predicate" and not (isinstance(first, Literal) and isinstance(first.value, str)):
        raise ExpressionError("`predicate` takes a name in quotes", word.start, 'write `predicate("is_vip")`')
    if isinstance(first, Literal) and isinstance(first.value, str):
        _check_text(call.function, first.value, first.offset)


def _check_text(function: str, text: str, offset: int) -> None:
    if function == "matches":
        try:
            pattern(text)
        except PatternError as fault:
            raise ExpressionError(f"the pattern is not RE2: {fault}", offset,
                                  "look-around and back-references do not exist there") from None  # fmt: skip
    elif function == "timestamp" and parse_timestamp(text) is None:
        raise ExpressionError(f'"{text}" is no RFC 3339 time', offset, 'write `timestamp("2026-01-31T09:00:00Z")`')
    elif function == "duration" and parse_duration(text) is None:
        raise ExpressionError(f'"{text}" is no duration', offset, 'write `duration("1h30m")`; a day is "24h"')
    elif function in ("getHours", "getDayOfWeek") and zone(text) is None:
        raise ExpressionError(f'there is no time zone "{text}"', offset, 'write an IANA name, as in "Europe/Berlin"')
