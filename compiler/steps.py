"""One step of the page as one `Step` of the machine: defaults applied, expressions read, contracts checked."""

from __future__ import annotations

from guideway.playbooks.approvals import waived
from guideway.playbooks.attempts import RetrySpec
from guideway.playbooks.steps import PlaybookStep
from guideway.playbooks.tools_spec import CallSpec, ToolEntry
from guideway.playbooks.values import seconds
from guideway.statemachine.definition import StateKind
from guideway.statemachine.expressions.expression import Expression
from guideway.statemachine.steps import Call, Entry, Repeat, Retry, Step, Work
from guideway.statemachine.tools import CONTROL, Effect, is_pattern

from .contracts import name_taken, retry_of_a_write, too_few_calls
from .defaults import Keys
from .findings import Path
from .idle import check_idle_keys
from .kinds import KINDS, KindLowering
from .names import unknown_tool
from .page import unresolved_skill
from .reading import Reader
from .tools import check_arguments, lower_approval
from .validations import lower_validation


class StepLowering:
    """Lowers the steps of one playbook."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.kinds = KindLowering(reader)
        self.unresolved: dict[str, None] = {}

    def step(self, keys: Keys) -> Step:
        """Lower one step.  What is wrong with it goes to the findings."""
        written, path = keys.step, keys.path
        kind = KINDS[keys.kind]
        work = self._work(written, path) if kind is StateKind.STEP else None
        step = Step(
            written.id,
            written.description,
            tuple(written.hints),
            written.required,
            self.reader.expression(written.when, "when", (*path, "when")),
            keys.count("max_visits"),
            keys.timeout() if kind is not StateKind.ROUTER or written.approval is not None else None,
            lower_approval(written.approval, "step", (*path, "approval"), self.reader),
            work,
            self._call(written.call, written, path),
            lower_validation(written.validation, (*path, "validation"), self.reader),
            written.min_tool_calls or 0,
            keys.count("max_tool_calls") if kind is StateKind.STEP else None,
            None if keys.plain else self._retry(keys, work),
            written.metadata,
            self.reader.findings.at(path),
            keys.home.block,
            **({} if keys.plain else self.kinds.lower(keys)),
        )
        self._check_budget(step, path)
        if not keys.plain:
            check_idle_keys(keys, self.reader)
        return step

    # --- the agent's work ----------------------------------------------------------------------------------------

    def _work(self, written: PlaybookStep, path: Path) -> Work:
        lists = (("expected_tools", False, written.expected_tools), ("optional_tools", True, written.optional_tools))
        entries = [
            self._entry(entry, optional, (*path, key, index))
            for key, optional, listed in lists
            for index, entry in enumerate(listed)
        ]
        for index, skill in enumerate(written.uses):
            entries += self._skill(skill, (*path, "uses", index))
        return Work(tuple(entries), written.order == "listed")

    def _entry(self, entry: str | ToolEntry, optional: bool, path: Path) -> Entry:
        span = self.reader.findings.at(path)
        if isinstance(entry, str):
            self._known(entry, path)
            fact = "" if is_pattern(entry) else entry
            return Entry(entry, optional, self._times(entry, None, optional), fact=fact, span=span)
        self._known(entry.tool, (*path, "tool"))
        return Entry(
            entry.tool,
            optional,
            self._times(entry.tool, entry.times, optional),
            self.reader.expression(entry.where, "where", (*path, "where"), entry.tool),
            self.reader.expression(entry.expect, "expect", (*path, "expect"), entry.tool),
            entry.as_ or ("" if is_pattern(entry.tool) else entry.tool),
            lower_approval(entry.approval, "call", (*path, "approval"), self.reader, entry.tool),
            entry.because,
            span,
            waived=waived(entry.approval),
        )

    def _times(self, tool: str, written: int | None, optional: bool) -> int | None:
        """S18: an irreversible tool is called once where nothing else is said."""
        if written is not None or optional:
            return written
        spec = self.reader.scope.spec(tool)
        return 1 if spec is not None and spec.effect == Effect.IRREVERSIBLE.value else None

    def _skill(self, skill: str, path: Path) -> list[Entry]:
        span = self.reader.findings.at(path)
        tools = self.reader.scope.skills.get(skill)
        if tools is None:
            self.unresolved[skill] = None
            self.reader.findings.add(path, unresolved_skill(skill, span, self.reader.scope.skills))
            return []
        return [Entry(tool, True, fact="" if is_pattern(tool) else tool, span=span) for tool in tools]

    def _known(self, tool: str, path: Path) -> None:
        scope = self.reader.scope
        if tool in CONTROL:
            self.reader.findings.add(path, name_taken(tool, tool, self.reader.findings.at(path)))
        elif not scope.knows_tool(tool):
            self.reader.findings.add(
                path, unknown_tool(tool, self.reader.findings.at(path), self.reader.findings.offer(scope.tools))
            )

    # --- the runtime's call --------------------------------------------------------------------------------------

    def _call(self, call: CallSpec | None, written: PlaybookStep, path: Path) -> Call | None:
        if call is None:
            return None
        here = (*path, "call")
        self._known(call.tool, (*here, "tool"))
        self.reader.templates(call.args, "template", (*here, "args"))
        check_arguments(call.tool, call.args, here, self.reader)
        expect = self.reader.expression(call.expect, "expect", (*here, "expect"), call.tool)
        return Call(call.tool, call.args, expect, self._repeat(written, path, call.tool))

    def _repeat(self, written: PlaybookStep, path: Path, tool: str) -> Repeat | None:
        spec = written.repeat
        if spec is None:
            return None
        here = (*path, "repeat")
        until = self.reader.expression(spec.until, "until", (*here, "until"), tool)
        collect = self.reader.expression(spec.collect, "collect", (*here, "collect"), tool, wants="")
        wait = seconds(spec.wait) if spec.wait is not None else 0.0
        return Repeat(until, spec.at_most, wait, collect) if until is not None else None

    # --- limits --------------------------------------------------------------------------------------------------

    def _retry(self, keys: Keys, work: Work | None) -> Retry | None:
        """A default reaches only the tools that may be repeated; a step's own `retry` elsewhere is an error."""
        called = self._called(keys.step, work)
        own = keys.own("retry")
        refused = [tool for tool in called if not self._repeatable(tool)]
        path: Path = (*keys.path, "retry") if own else ("defaults", "retry")
        if own and keys.step.retry is not None:
            for tool in refused:
                declared = self.reader.scope.spec(tool) is not None
                finding = retry_of_a_write(tool, declared, self.reader.findings.key_at(path))
                self.reader.findings.add(path, finding)
        spec = keys.retry()
        if spec is None or not called or len(refused) == len(called):
            return None
        wait = seconds(spec.wait) if spec.wait is not None else 0.0
        return Retry(spec.at_most, wait, spec.backoff, self._worth(spec, path, called))

    def _worth(self, spec: RetrySpec, path: Path, called: list[str]) -> Expression | None:
        tool = called[0] if len(called) == 1 else None
        return self.reader.once(spec.when, "retry", (*path, "when"), tool)

    def _called(self, written: PlaybookStep, work: Work | None) -> list[str]:
        if written.call is not None:
            return [written.call.tool]
        return list(dict.fromkeys(entry.tool for entry in work.entries if not entry.optional)) if work else []

    def _repeatable(self, tool: str) -> bool:
        spec = self.reader.scope.spec(tool)
        return spec is not None and (spec.idempotent or spec.effect == Effect.READ.value)

    def _check_budget(self, step: Step, path: Path) -> None:
        if step.max_calls is None or step.work is None:
            return
        needed = max(step.min_calls, sum(entry.times or 1 for entry in step.work.entries if not entry.optional))
        if needed > step.max_calls:
            span = self.reader.findings.at((*path, "max_tool_calls"))
            self.reader.findings.add(path, too_few_calls(step.id, needed, step.max_calls, span))
