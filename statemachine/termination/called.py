"""`ToolCalled`: a tool has run, with these arguments, and with this result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from guideway.statemachine.errors import HostError
from guideway.statemachine.expressions import Expression

from .arguments import Predicate, agree, expression_of, identity, rule, wanted
from .base import TerminationCondition
from .checks import shown, words
from .judgement import Judgement
from .names import name_of
from .state import RunState, ToolExecution

WHERE = frozenset({"args"})
EXPECT = frozenset({"args", "result"})


@dataclass(frozen=True, slots=True, repr=False)
class ToolCalled(TerminationCondition):
    """
    The tool `name` was called and ran; a blocked, denied, cancelled or unknown call never counts (S36).

    `args`: arguments that the call must have, among others; or a function of all of them.  A call that failed counts,
    unless `require_success`.  `where` (over `args`) and `expect` (over `args` and `result`) are expressions, as in a
    playbook; with `expect`, only a success counts.

    Raises:
        HostError: the arguments are no JSON, an expression is none, or reads what only a playbook knows.

    >>> from guideway.termination import RunState
    >>> contained = ToolCalled("isolate_host", expect="result.ticket != null")
    >>> contained.check(RunState(tool_executions=(ToolExecution("isolate_host", result={"ticket": None}),)))
    (False, None)
    >>> contained.check(RunState(tool_executions=(ToolExecution("isolate_host", result={"ticket": "C-1"}),)))
    (True, 'tool_called:isolate_host')
    """

    name: str
    args: Mapping[str, Any] | Predicate | None = field(default=None, compare=False)
    require_success: bool = False
    where: str | None = field(default=None, kw_only=True)
    expect: str | None = field(default=None, kw_only=True)
    _asked: Any = field(init=False, hash=False)
    """the arguments as JSON compares them: `1` is no `true`"""
    _rules: tuple[Expression, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        words("ToolCalled", self.name)
        if not isinstance(self.require_success, bool):
            raise HostError(f"ToolCalled: require_success is True or False, not {shown(self.require_success)}")
        args = wanted(self.args)
        rules = (rule(self.where, "where", WHERE), rule(self.expect, "expect", EXPECT))
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "_asked", identity(args))
        object.__setattr__(self, "_rules", tuple(made for made in rules if made is not None))

    @property
    def reason(self) -> str:
        """`tool_called:` and the tool's name."""
        return f"tool_called:{self.name}"

    def judge(self, state: RunState, *, whole: bool = False) -> Judgement:
        """True where one call meets it; unknown where one may, and none does."""
        answers = [self._met(done) for done in state.tool_executions if done.tool_name == self.name]
        holds = True if True in answers else None if None in answers else False
        why = "a call may have met it: what it asks for is missing, or a function raised" if holds is None else ""
        return Judgement(self, holds, self.reason, why=why)

    def _met(self, done: ToolExecution) -> bool | None:
        if not done.counts or (done.error is not None and (self.require_success or self.expect is not None)):
            return False
        names = {"args": done.arguments, "result": done.result}
        answers = [agree(self.args, done.arguments), *(made(names) for made in self._rules)]
        if False in answers:
            return False
        return True if all(answer is True for answer in answers) else None

    def to_json(self) -> dict[str, Any]:
        """
        `{"tool_called": name}`, and what else was given; a function by its name, as `predicate`.

        Raises:
            HostError: the function has no name to be found by.
        """
        data: dict[str, Any] = {"tool_called": self.name}
        if isinstance(self.args, Mapping):
            data["args"] = wanted(self.args)
        elif self.args is not None:
            data["predicate"] = name_of(self.args)
        if self.require_success:
            data["require_success"] = True
        return data | self._written_rules()

    def to_playbook(self) -> dict[str, Any]:
        """
        `tool_called: name`, with `where` and `expect`; there, only a success counts (S36).

        Raises:
            HostError: `args` is a function, or holds a map.
        """
        if self.args is not None and not isinstance(self.args, Mapping):
            raise HostError(
                f"{self!r} cannot be written in a playbook, which holds no Python: "
                "write what the function asks as `where`, an expression over `args`"
            )
        data = {"tool_called": self.name} | self._written_rules()
        if self.args:
            asked = expression_of(self.args)
            data["where"] = f"{asked} && ({self.where})" if self.where is not None else asked
        return data

    def _written_rules(self) -> dict[str, str]:
        given = {"where": self.where, "expect": self.expect}
        return {key: source for key, source in given.items() if source is not None}

    def __repr__(self) -> str:
        parts = [repr(self.name)]
        if self.args is not None:
            parts.append(repr(self.args) if isinstance(self.args, dict) else f"args={name_of(self.args, strict=False)}")
        parts += ["require_success=True"] if self.require_success else []
        parts += [f"{key}={source!r}" for key, source in self._written_rules().items()]
        return f"ToolCalled({', '.join(parts)})"
