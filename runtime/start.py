"""What must hold before a run begins."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

from guideway.statemachine.conditions import TimeLimit, leaves
from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import HostError

from .calls import told
from .facts import copy
from .frames import NONE, Frame
from .redact import HIDDEN
from .run import Predicates, Run, Timer
from .schemas import problem


def check_start(definition: Definition, now: datetime | None) -> None:
    """
    Refuse to start without what the run will need.

    Raises:
        HostError: skills nobody resolved, or no `now` where the playbook keeps time (S7).
    """
    if definition.unresolved_skills:
        names = ", ".join(f"`{name}`" for name in definition.unresolved_skills)
        raise HostError(f"nobody said what tools these skills stand for: {names}; give load(..., skills={{...}})")
    if now is None and definition.timed:
        raise HostError(f"`{definition.id}` keeps time; start the session with now=datetime.now(UTC)")


def check_inputs(definition: Definition, given: Mapping[str, Any]) -> dict[str, Any]:
    """
    Copy the inputs, defaults filled in.

    Raises:
        HostError: one is missing, unknown, no JSON, or against its schema.
    """
    if not isinstance(given, Mapping):
        raise HostError(f"the inputs are a map of names and values, not {told(given)}")
    for name in given:
        if name not in definition.inputs:
            near = get_close_matches(str(name), definition.inputs, n=1)
            raise HostError(
                f"`{definition.id}` takes no input `{name}`" + (f"; did you mean `{near[0]}`?" if near else "")
            )
    values: dict[str, Any] = {} if definition.inputs else NONE
    for name, declared in definition.inputs.items():
        if name in given:
            values[name] = check_one(name, declared.schema, given[name])
        elif declared.default is not None:
            values[name] = copy(declared.default)
        elif declared.required:
            raise HostError(f"`{definition.id}` needs the input `{name}`")
    return values


def openly(definition: Definition, values: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs as they may be recorded: `sensitive` ones hidden."""
    return {name: HIDDEN if definition.inputs[name].sensitive else value for name, value in values.items()}


def check_predicates(definition: Definition, given: Predicates | None) -> Predicates | None:
    """
    The predicates of the host, which must be all that the playbook and those it calls ask for.

    Raises:
        HostError: one is missing, or is nothing that can be called.
    """
    if given is not None and not isinstance(given, Mapping):
        raise HostError(f"the predicates are a map of names and functions, not {told(given)}")
    given = given or {}
    for part in definition.playbooks:
        for name in part.predicates:
            if not callable(given.get(name)):
                raise HostError(
                    f"`{part.id}` asks the predicate `{name}`; start the session with predicates={{{name!r}: …}}"
                )
    return dict(given) or None


def set_limits(run: Run, frame: Frame) -> None:
    """A time limit is a timer: it ends its playbook when it is due, whether or not anything else happens then."""
    for branch in frame.plan.definition.termination:
        for leaf in leaves(branch.condition):
            if isinstance(leaf, TimeLimit) and run.now is not None:
                run.set_timer(Timer(run.now + timedelta(seconds=leaf.seconds), "limit", None, frame.path))


def check_one(name: str, schema: Mapping[str, Any], given: Any) -> Any:
    """A copy of one input that keeps its schema."""
    try:
        value = copy(given)
    except ValueError as error:
        raise HostError(f"input `{name}`: {error}") from None
    if wrong := problem(schema or None, value):
        raise HostError(f"input `{name}`: {wrong}")
    return value
