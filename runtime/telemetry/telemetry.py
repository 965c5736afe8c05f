"""An agent's run as OpenTelemetry spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from guideway.runtime.calls import Usage
from guideway.runtime.hooks.points import AfterModel, AtEnd, BeforeModel, Facts, Start
from guideway.runtime.models.messages import ModelError
from guideway.runtime.session import Session

from . import names as n
from .quiet import Quiet, quietly
from .run_spans import RunSpans
from .spans import Spans
from .transcripts import instructions_json, messages_json

if TYPE_CHECKING:
    from .spans import Span, TracerProvider


Shown = Callable[[Any], Any]
"""Makes of a value what may be shown of it."""


@dataclass
class Segment:
    """What is open of one segment of a run."""

    root: Span
    before: Usage
    """what the run had cost before"""
    turns: int
    run: RunSpans | None
    provider: str
    model: str
    conversation: str
    chat: Span | None = None


class Telemetry(Quiet):
    """
    A hook that shows runs as spans: `invoke_agent`, below it `chat` and `execute_tool`.

    It changes nothing, and nothing that goes wrong in it reaches the run.  For a session without an agent, `watch` it.

    Args:
        tracer_provider: where spans go; by default the provider that the program has set.
        content: also arguments, results and texts, without what is sensitive.  They may hold anything; keep it off
            unless whoever reads the spans may read that.
        agent: the name of the agent; by default that of its playbook.

    Raises:
        HostError: OpenTelemetry is not installed.
    """

    name = "telemetry"
    priority = 150

    def __init__(
        self, tracer_provider: TracerProvider | None = None, *, content: bool = False, agent: str = ""
    ) -> None:
        self._spans = Spans(tracer_provider)
        self._content, self._agent = content, agent
        self._segments: dict[str, Segment] = {}
        self._runs: WeakValueDictionary[str, RunSpans] = WeakValueDictionary()

    def watch(self, session: Session) -> RunSpans:
        """
        A watcher for a session that no agent drives: give it to a `Driver`, or let it `catch_up` by yourself.

        It is `close`d when nobody drives the session any more before its end.
        """
        return RunSpans(session, self._spans, content=self._content)

    def watch_run(self, session: Session, run_id: str) -> RunSpans | None:
        """For an agent: the watcher of a run that this is a hook of."""
        try:
            made = self._runs[run_id] = self.watch(session)
        except Exception as error:
            self.fault(error)
            return None
        return made

    @quietly
    def on_start(self, point: Start) -> None:
        """A segment begins."""
        facts = point.facts
        run = self._runs.get(facts.run_id)
        provider, model = n.provider_and_model(point.model)
        name = self._agent or (run.definition.name if run is not None else "agent")
        about = {} if run is None else run.about
        about |= {
            n.OPERATION: n.INVOKE_AGENT, n.AGENT_NAME: name, n.PROVIDER: provider, n.REQUEST_MODEL: model,
            n.RUN: facts.run_id, n.CONVERSATION: facts.session_id or facts.run_id,
        }  # fmt: skip
        root = self._spans.begin(f"{n.INVOKE_AGENT} {name}", about)
        conversation = about[n.CONVERSATION]
        segment = Segment(root, facts.usage, facts.iteration, run, provider, model, conversation)
        self._segments[facts.run_id] = segment
        if run is not None:
            run.root = root

    @quietly
    def before_model(self, point: BeforeModel) -> None:
        """The model is asked."""
        segment = self._segments[point.facts.run_id]
        self._failed(segment, "no_reply")
        about = {
            n.OPERATION: n.CHAT, n.PROVIDER: segment.provider, n.REQUEST_MODEL: segment.model,
            n.CONVERSATION: segment.conversation, n.RUN: point.facts.run_id, n.STEP: step_of(point.facts),
        }  # fmt: skip
        about |= self._texts(segment, lambda shown: {
            n.INPUT_MESSAGES: messages_json(shown(point.messages)),
            n.SYSTEM_INSTRUCTIONS: instructions_json(shown(point.system_prompt)),
        })  # fmt: skip
        segment.chat = self._spans.begin(f"{n.CHAT} {segment.model}", about, parent=segment.root, remote=True)

    @quietly
    def after_model(self, point: AfterModel) -> None:
        """It has replied."""
        segment, reply = self._segments[point.facts.run_id], point.reply
        chat, segment.chat = segment.chat, None
        if chat is None:
            return
        about: dict[str, Any] = {
            n.RESPONSE_MODEL: n.provider_and_model(reply.model)[1], **cost_of(reply.usage, Usage()),
            n.FINISH_REASONS: [reply.finish] if reply.finish else None,
        }  # fmt: skip
        about |= self._texts(
            segment, lambda shown: {n.OUTPUT_MESSAGES: messages_json([shown(reply.as_message())], reply.finish)}
        )
        self._spans.end(chat, about)

    @quietly
    def on_end(self, point: AtEnd) -> None:
        """The segment is over."""
        facts = point.facts
        segment = self._segments.pop(facts.run_id)
        failure = kind_of(point) if point.error is not None or point.outcome == "failed" else None
        self._failed(segment, failure or point.stop_reason)
        if segment.run is not None:
            segment.run.close()
            segment.run.root = None
        about = {
            n.STATUS: point.outcome, n.STOP_REASON: str(point.stop_reason), n.SUCCESS: point.success,
            n.OUTCOME: facts.state.get("outcome"), n.SEGMENT_TURNS: facts.iteration - segment.turns,
            **cost_of(facts.usage, segment.before),
        }  # fmt: skip
        why = str(point.error) if self._content and point.error is not None else None
        if why is not None:
            why = segment.run.shown(why) if segment.run is not None else None
        self._spans.end(segment.root, about, error=failure, why=why)

    def _failed(self, segment: Segment, kind: str) -> None:
        """A question to the model that was never answered."""
        chat, segment.chat = segment.chat, None
        if chat is not None:
            self._spans.end(chat, {}, error=kind)

    def _texts(self, segment: Segment, made: Callable[[Shown], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Content, where it is wanted and it is known what of it is sensitive."""
        return made(segment.run.shown) if self._content and segment.run is not None else {}


def cost_of(used: Usage, before: Usage) -> dict[str, Any]:
    """
    What has been used since; a provider that does not report it has not said that it was nothing.

    >>> cost_of(Usage(input_tokens=11, output_tokens=7), Usage(input_tokens=4))["gen_ai.usage.input_tokens"]
    7
    >>> cost_of(Usage(), Usage())
    {}
    """
    told = {
        n.INPUT_TOKENS: used.input_tokens - before.input_tokens,
        n.OUTPUT_TOKENS: used.output_tokens - before.output_tokens,
    }
    return (told if any(told.values()) else {}) | ({n.COST: used.cost - before.cost} if used.cost > before.cost else {})


def step_of(facts: Facts) -> str | None:
    """Where the run stands."""
    step = facts.state.get("step")
    return step if isinstance(step, str) else None


def kind_of(point: AtEnd) -> str:
    """What a segment failed of, in one word."""
    error = point.error
    if isinstance(error, ModelError) and error.kind:
        return error.kind
    return str(point.stop_reason) if error is None else type(error).__name__
