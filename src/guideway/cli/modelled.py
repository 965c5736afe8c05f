"""A run whose agent is a model: through `guideway.Agent`'s loop, told like any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from guideway.runtime.decisions import Decisions
from guideway.runtime.driver import Finish, Watcher, Why
from guideway.runtime.situation import forgotten
from guideway.runtime.toolbox import load_functions
from guideway.runtime.users import User
from guideway.statemachine.errors import GuidewayError, HostError

from .journals import Opened
from .means import Means
from .postbox import PAUSE
from .status import MisuseError

if TYPE_CHECKING:
    from guideway.runtime.agent.result import AgentResult
    from guideway.runtime.session import Session

FUNCTION = "function:"


def model_named(given: str) -> Any:
    """
    A model: `anthropic:claude-sonnet-4-6` and the like, or `function:FILE:NAME`, a Python function of a request.

    Raises:
        MisuseError: naming `--agent`.
    """
    from guideway.runtime.models.fake import FunctionModel
    from guideway.runtime.models.named import model_of

    try:
        if not given.startswith(FUNCTION):
            return model_of(given)
        file, _, name = given.removeprefix(FUNCTION).rpartition(":")
        found: Mapping[str, Callable[..., Any]] = load_functions(file, "MODELS") if file else {}
        if name not in found:
            raise MisuseError(f"--agent: {given} names no function; write function:FILE.py:NAME")
        return FunctionModel(found[name], name)
    except MisuseError:
        raise
    except GuidewayError as fault:
        raise MisuseError(f"--agent: {fault}") from None


def drive_model(
    session: Session, means: Means, *, run: str, prompt: str, found: Opened | None, patient: bool, resumed: bool,
    decisions: Decisions, user: User, watchers: Sequence[Watcher], waiting: Callable[[], None], mode: str,
) -> Finish:  # fmt: skip
    """Drive the session with the model, until it has ended or somebody is waited for."""
    from guideway.runtime.agent.clock import clock_of
    from guideway.runtime.agent.events import ApprovalAsked
    from guideway.runtime.agent.live import Live
    from guideway.runtime.agent.loop import run_segment
    from guideway.runtime.agent.quiet import hooks_of
    from guideway.runtime.agent.runner import alone
    from guideway.runtime.agent.settings import Settings
    from guideway.runtime.models.tools import toolset

    told = forgotten(session)

    def tell(event: Any = None) -> None:
        nonlocal told
        new = session.since(told)
        told += len(new)
        for watcher in watchers if new else ():
            watcher.happened(new)
        if patient and isinstance(event, ApprovalAsked):
            waiting()

    try:
        settings = Settings(
            model=means.model, machine=session.machine, tools=toolset(means.tools), mode=mode, decisions=decisions,
            user=user.answer, journal=found and found.journal, journal_key=found.key if found else None,
            poll=PAUSE if patient else None, predicates=means.predicates,
        )  # fmt: skip
    except HostError as fault:
        raise MisuseError(f"--tools: {fault}") from None
    memory = remembered(settings, run, session) if resumed else asked(run, prompt, means)
    live = Live(settings, session, memory, hooks_of(()), clock_of(means.clock), tell)
    try:
        result = alone(run_segment(live))
    except KeyboardInterrupt:
        return Finish(Why.INTERRUPTED, f"interrupted in `{'`, `'.join(session.states)}`")
    finally:
        tell()
    return finish_of(result, session)


def asked(run: str, prompt: str, means: Means) -> Any:
    """A transcript that begins with what the agent is asked."""
    from guideway.runtime.agent.memory import Memory

    messages = [{"role": "user", "content": prompt}]
    return Memory(run, prompt, messages=messages, started=means.clock.now())


def remembered(settings: Any, run: str, session: Session) -> Any:
    """The transcript as the journal has it, with what the session knows of calls that were under way."""
    from guideway.runtime.agent.keeping import look_up, memory_of
    from guideway.runtime.agent.memory import Memory

    try:
        memory = memory_of(settings, run, session) or Memory(run, started=session.now)
    except HostError as fault:
        raise MisuseError(f"--agent: {fault}") from None
    for deal in memory.deals:
        if not deal.over:
            look_up(session, deal)
    return memory


def finish_of(result: AgentResult, session: Session) -> Finish:
    """How it came out, as a driver says it."""
    if session.outcome is not None:
        return Finish(Why.ENDED, session.outcome)
    if result.error is not None or not result.waiting:
        return Finish(Why.SILENT, fault_of(result) or result.reason or "the agent has nothing more to say")
    return Finish(Why.WAITING, "; ".join(result.waiting))


def fault_of(result: AgentResult) -> str:
    """What went wrong, if something did."""
    error = result.error
    if error is None or isinstance(error, GuidewayError):
        return str(error or "")
    return f"{type(error).__name__}: {error}"
