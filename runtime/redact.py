"""
Keeping what is sensitive out of everything that leaves the process: traces, messages, questions, pictures.

What a model passes is hidden by its place: a parameter marked `sensitive` shows as `•••` there, and nowhere else, so
that no model can choose what people do not get to read.  What the operator gave as a sensitive input is hidden by its
value, wherever it turns up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guideway.statemachine.definition import Definition
from guideway.statemachine.expressions import Terms

from .asks import Asked, sources_of
from .marks import HIDDEN, Marks, unique
from .tool_marks import MarksOfTools

if TYPE_CHECKING:
    from .approvals import Question

__all__ = ["HIDDEN", "Redactor"]

SHORTEST = 3
"""A shorter text is hidden where it is a whole value, and not inside of others: that would leave no text readable."""
HARMLESS = ("is a required property", "is not among the properties it takes", "are not among the properties it takes")
"""How faults end that name keys, and show nothing of a value."""
GLIMPSE = 4
"""A message that holds this much of the beginning of a hidden argument is not shown."""
EVALUATED = ("where", "approval", "expect")
"""Faults that an expression over the arguments found."""
KEPT = (
    "kind", "at", "playbook", "digest", "verdict", "state", "source", "event", "target", "outcome", "code", "of",
    "step", "number", "tokens", "confidence", "counts", "timer", "effect", "verb", "rule", "because", "frame", "signal",
    "policy", "standing",
)  # fmt: skip
"""Words and numbers of the engine and of the playbook: nothing that an input could have put there."""


class Redactor:
    """
    Knows the sensitive inputs of one run, and which parameters its tools mark, those of called playbooks included.

    >>> from guideway.statemachine.definition import Input
    >>> definition = Definition("p", "P", "a", {}, {}, inputs={"token": Input("token", sensitive=True)})
    >>> redactor = Redactor(definition, {"token": "hunter2", "host": "ws-7"})
    >>> redactor.hide({"headers": ["Bearer hunter2"], "host": "ws-7"})
    {'headers': ['Bearer •••'], 'host': 'ws-7'}
    """

    def __init__(self, definition: Definition, inputs: Mapping[str, Any]) -> None:
        self._definition = definition
        self._parts = definition.playbooks
        self._inputs = given(definition, inputs)
        self._marks = MarksOfTools(self._parts)
        self._texts: set[str] = set()
        self._from_results: set[str] = set()
        """what results hold that their schemas mark: a question of the playbook's may show it, and must not"""
        self._numbers: set[float] = set()
        self._longest_first: list[str] = []
        self._words: frozenset[str] = frozenset()
        self.learn(definition, inputs)

    def learn(self, definition: Definition, inputs: Mapping[str, Any]) -> None:
        """Hide from now on what is sensitive in the inputs that one playbook was given."""
        for name, value in given(definition, inputs).items():
            declared = definition.inputs[name]
            clean = HIDDEN if declared.sensitive else Marks(declared.schema).hide(value)
            for secret in hidden_leaves(value, clean):
                self._learn(secret)
        self._longest_first = sorted((text for text in self._texts if len(text) >= SHORTEST), key=len, reverse=True)
        if self._texts and not self._words:
            self._words = frozenset(word for part in self._parts for word in words(part))

    def _learn(self, secret: Any) -> None:
        if not isinstance(secret, str):
            self._numbers.add(secret)
        text = str(secret)
        # as it is, and as JSON and messages quote it
        for form in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]):
            if form:
                self._texts.add(form)

    def learn_result(self, tool: str, result: Any) -> None:
        """Hide from now on, in questions, what the result of a tool holds that its schema marks."""
        for leaf in hidden_leaves(result, self._marks.result(tool, result)):
            if isinstance(leaf, str) and len(leaf) >= SHORTEST:
                self._from_results.add(leaf)

    def hide(self, value: Any) -> Any:
        """A copy without the values of sensitive inputs."""
        if not self._texts:
            return value
        match value:
            case str():
                return self._hide_text(value)
            case dict():
                return unique((self._hide_key(key), self.hide(item)) for key, item in value.items())
            case list() | tuple():
                return [self.hide(item) for item in value]
            case int() | float() if not isinstance(value, bool) and value in self._numbers:
                return HIDDEN
        return value

    def args(self, tool: str | None, args: Any) -> Any:
        """The arguments of a call as they may be shown: what the tool's schema marks is hidden in its place."""
        return self.hide(self._marks.args(tool, args))

    def question(self, question: Question) -> Question:
        """A question as it may be shown: its text, and its call."""
        about = {"of": question.of, "step": question.step, "tool": question.tool, "args": question.args}
        ask = self._ask({**about, "ask": question.ask})
        return replace(question, ask=ask, args=self.args(question.tool, question.args))

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record as it may be written."""
        kept = {key: record[key] for key in KEPT if key in record}
        shown = {key: self.hide(value) for key, value in record.items() if key not in kept} | kept
        tool = record.get("tool")
        if isinstance(tool, str) and self._marks.knows(tool):
            shown["tool"] = tool
        if "args" in record:
            shown["args"] = self.args(tool, record["args"])
        match record["kind"]:
            case "started" | "called":
                shown["inputs"] = self.hide(self._given(record["playbook"], record.get("inputs")))
            case "asked":
                shown["ask"] = self._ask(record)
                shown["approvers"] = [self._person(name) for name in record.get("approvers", ())]
                shown["excluded"] = [self._person(name) for name in record.get("excluded", ())]
            case "answered" | "allowed":
                shown["by"] = self._person(record.get("by"))
                shown["groups"] = [self._person(name) for name in record.get("groups", ())]
                shown["answer"] = self._answer(record)
            case "noted":
                shown["data"] = self.hide(self._marks.noted(record.get("data")))
            case "decided" if "detail" in record:
                clean = self._marks.args(tool, record.get("args"))
                shown["detail"] = self.hide(fault_text(record["detail"], record.get("args"), clean, record.get("code")))
            case "settled" if isinstance(record.get("detail"), Mapping):
                self.learn_result(str(tool), record["detail"].get("result"))
                shown["detail"] = self.hide(self._detail(str(tool), record["detail"]))
        return {key: shown[key] for key in record}

    def _given(self, playbook: str, inputs: Any) -> Any:
        part = self._definition.callees.get(playbook, self._definition)
        return {name: Marks(part.inputs[name].schema).hide(value) for name, value in dict(inputs or {}).items()}

    def _answer(self, record: Mapping[str, Any]) -> Any:
        """What a person has answered: a label is the playbook's, and fields may be marked."""
        answer = record.get("answer")
        asks = [step.ask for part in self._parts if (step := part.steps.get(record["step"])) and step.ask]
        if any(answer in ask.choices for ask in asks):
            return answer
        for ask in asks:
            answer = Marks({"properties": dict(ask.fields)}).hide(answer)
        return self.hide(answer)

    def _detail(self, tool: str, detail: Mapping[str, Any]) -> dict[str, Any]:
        """What came of a call; a result schema may mark places, too."""
        if "result" not in detail:
            return dict(detail)
        clean = self._marks.result(tool, detail["result"])
        code = "bad_args" if str(detail.get("fault")).startswith("result_schema") else "expect"
        told = {"fault": fault_text(detail["fault"], detail["result"], clean, code)} if "fault" in detail else {}
        return {**detail, "result": clean, **told}

    def _person(self, name: Any) -> Any:
        """Whom the playbook names is no secret."""
        return name if name in self._words else self.hide(name)

    def _ask(self, record: Mapping[str, Any]) -> str:
        ask = self._asked(record)
        for secret in sorted(self._from_results, key=len, reverse=True):
            ask = ask.replace(secret, HIDDEN)
        return ask

    def _asked(self, record: Mapping[str, Any]) -> str:
        args, tool = record.get("args"), record.get("tool")
        ask, clean = str(record["ask"]), self._marks.args(tool, args)
        if record["of"] == "reconcile" or (not self._texts and clean == args):
            return ask
        ways = [(part, sources_of(part, record["of"], part.steps.get(record["step"]), tool)) for part in self._parts]
        part = next((part for part, sources in ways if sources), self._definition)
        known = {"inputs": self._inputs, "terms": Terms(part.terms)} if part is self._definition else {}
        return Asked(ask, args or {}, clean or {}, known, part.terms).shown(
            [source for _, sources in ways for source in sources], self._hide_text
        )

    def _hide_key(self, key: str) -> str:
        return key if key in self._words else self._hide_text(key)

    def _hide_text(self, text: str) -> str:
        if text in self._texts:
            return HIDDEN
        for secret in self._longest_first:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        return text


def given(definition: Definition, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a playbook, defaults filled in."""
    return {name: inputs.get(name, declared.default) for name, declared in definition.inputs.items()}


def fault_text(message: Any, value: Any, clean: Any, code: str | None) -> Any:
    """
    What is said about a value, unless it shows something of what is hidden in it.

    >>> fault_text("['pin']: '4711' is too short", {"pin": "4711"}, {"pin": "•••"}, "bad_args")
    '•••'
    >>> fault_text("'user' is a required property", {"pin": "4711"}, {"pin": "•••"}, "bad_args")
    "'user' is a required property"
    """
    if not isinstance(message, str) or value == clean:
        return message
    if code == "bad_args":
        return message if message.endswith(HARMLESS) else HIDDEN
    if code not in EVALUATED:
        return message
    glimpses = (str(leaf)[:GLIMPSE] for leaf in hidden_leaves(value, clean))
    return HIDDEN if any(glimpse and glimpse in message for glimpse in glimpses) else message


def hidden_leaves(value: Any, clean: Any) -> Iterator[Any]:
    """
    Every text and number of a value that its clean copy hides.

    >>> list(hidden_leaves({"a": ["x", 7, True], "b": "y"}, {"a": "•••", "b": "y"}))
    ['x', 7]
    """
    if clean == HIDDEN:
        yield from leaves(value)
    elif isinstance(value, Mapping) and isinstance(clean, Mapping):
        for item, other in zip(value.values(), clean.values(), strict=True):
            yield from hidden_leaves(item, other)
    elif isinstance(value, list | tuple) and isinstance(clean, list):
        for item, other in zip(value, clean, strict=True):
            yield from hidden_leaves(item, other)


def leaves(value: Any) -> Iterator[Any]:
    """
    Every text and number in a value; truth values and null say too little to hide.

    >>> list(leaves({"a": ["x", 7, True, None]}))
    ['x', 7]
    """
    match value:
        case bool() | None:
            return
        case Mapping():
            for item in value.values():
                yield from leaves(item)
        case list() | tuple():
            for item in value:
                yield from leaves(item)
        case _:
            yield value


def words(definition: Definition) -> Iterator[str]:
    """Names that the playbook gives: those of steps, tools, inputs, arguments, fields, claims and people."""
    yield from (*definition.inputs, *definition.tools, *definition.steps)
    for tool in definition.tools.values():
        for schema in (tool.parameters, tool.result):
            yield from dict((schema or {}).get("properties", {}))
        rules = tool.approval.rules() if tool.approval is not None else ()
        yield from (person for rule in rules for person in rule.approvers)
    for step in definition.steps.values():
        entries = step.work.entries if step.work is not None else ()
        yield from (*step.claims, *(entry.tool for entry in entries))
        yield from dict(step.call.args) if step.call is not None else ()
        yield from (*step.ask.fields, *step.ask.assignees) if step.ask is not None else ()
        for approval in (step.approval, *(entry.approval for entry in entries)):
            rules = approval.rules() if approval is not None else ()
            yield from (person for rule in rules for person in rule.approvers)
