"""Which places of events and snapshots the schemas of tools mark as sensitive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guideway.runtime.marks import HIDDEN, Marks
from guideway.runtime.redact import Redactor
from guideway.runtime.tool_marks import MarksOfTools
from guideway.statemachine.definition import Definition

from .veil import Veil


class Places:
    """
    Covers by place what tools, questions and called playbooks mark; what inputs hold, the veil covers by value.

    A snapshot names tools where it has calls; of a fact it is the tools that may have written it, and too much is safe.
    """

    def __init__(self, definition: Definition, veil: Veil, redactor: Redactor) -> None:
        self._parts = definition.playbooks
        self._marks = MarksOfTools(self._parts)
        self._veil = veil
        self._redactor = redactor
        self._facts = dict(self._writers())
        self._open: dict[str, str] = {}
        """calls under way -> their tools, to know whose result comes"""

    def _writers(self) -> dict[str, list[str]]:
        """Names of facts -> the tools that write them and mark something of their results."""
        found: dict[str, list[str]] = {}
        for part in self._parts:
            for step in part.steps.values():
                for entry in step.work.entries if step.work is not None else ():
                    found.setdefault(entry.fact or entry.tool, []).append(entry.tool)
                if step.call is not None:
                    found.setdefault(step.id, []).append(step.call.tool)
            for tool in part.tools:
                found.setdefault(tool, []).append(tool)
        return found

    def event(self, verb: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """What a verb was given."""
        made = dict(data)
        if "calls" in made:
            made["calls"] = [self._call(call) for call in made["calls"]]
        if "call" in made:
            self._open[made["call"][2]] = made["call"][0]
            made["call"] = self._call(made["call"])
        if "outcome" in made:
            tool = self._open.get(made.get("call_id") or data["call"][2], "")
            word, content = made["outcome"]
            made["outcome"] = [word, self._content(tool, content)] if word != "error" else made["outcome"]
        if verb == "happened":
            about = str(made["approval_id"]).removeprefix("reconcile ")
            made["result"] = self._content(self._open.get(about), made["result"])
        if "args" in made:
            made["args"] = self._args(self._open.get(str(made["approval_id"]).removeprefix("call ")), made["args"])
        if verb == "note":
            made["data"] = self._veil.cover_marked(made["data"], self._marks.noted(made["data"]))
        if "fields" in made:
            made["fields"] = self._answer(made["fields"])
        return made

    def _call(self, call: list[Any]) -> list[Any]:
        name, args, call_id = call
        if "value" in args:
            args = {"value": self._args(name, args["value"])}
        return [name, args, call_id]

    def _args(self, tool: str | None, args: Any) -> Any:
        return args if args is None else self._veil.cover_marked(args, self._marks.args(tool, args))

    def _result(self, tool: str | None, value: Any) -> Any:
        if tool is None:
            return value
        self._redactor.learn_result(tool, value)
        return self._veil.cover_marked(value, self._marks.result(tool, value))

    def _content(self, tool: str | None, content: Mapping[str, Any]) -> dict[str, Any]:
        return {"value": self._result(tool, content["value"])} if "value" in content else dict(content)

    def _answer(self, fields: Any) -> Any:
        for part in self._parts:
            for step in part.steps.values():
                if step.ask is not None and step.ask.fields:
                    clean = Marks({"properties": dict(step.ask.fields)}).hide(fields)
                    fields = self._veil.cover_marked(fields, clean)
        return fields

    def watch(self, records: list[dict[str, Any]]) -> None:
        """Note which tools the calls under way are of."""
        for record in records:
            if record["kind"] == "decided" and record["verdict"] != "deny":
                self._open[record["call_id"]] = record["tool"]
            elif record["kind"] == "settled":
                self._open.pop(record["call_id"], None)

    def snapshot(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """All there is to save of a run."""
        made = dict(data)
        made["bound"] = [self._bound(bound) for bound in data["bound"]]
        asked = {part["approval_id"]: self._shown(part) for part in data["pending"]}
        made["pending"] = [
            {**part, "args": self._args(part["tool"], part["args"]), "ask": asked[part["approval_id"]]}
            for part in data["pending"]
        ]
        made["commands"] = [self._command(command, asked) for command in data["commands"]]
        made["cursors"] = [self._cursor(cursor) for cursor in data["cursors"]]
        made["frames"] = [self._frame(frame) for frame in data["frames"]]
        return made

    def _bound(self, bound: Mapping[str, Any]) -> dict[str, Any]:
        self._open[bound["call_id"]] = bound["tool"]
        outcome = bound["outcome"]
        if outcome is not None and outcome[0] == "ok":
            outcome = [outcome[0], self._result(bound["tool"], outcome[1]), *outcome[2:]]
        args, answer = self._args(bound["tool"], bound["args"]), bound["answer"]
        if answer is not None and (args != bound["args"] or answer[0] == "needs_approval"):
            answer = self._verdict(bound, answer)
        return {**bound, "args": args, "outcome": outcome, "answer": answer}

    def _verdict(self, bound: Mapping[str, Any], answer: list[Any]) -> list[Any]:
        """A verdict may repeat the arguments, in its message or its question."""
        if answer[0] == "deny":
            return [*answer[:4], f"`{bound['tool']}` did not run ({answer[3]}).", *answer[5:]]
        if answer[0] == "needs_approval":
            about = {"of": "call", "step": answer[3], "tool": bound["tool"], "args": bound["args"], "ask": answer[5]}
            return [*answer[:5], self._shown(about), *answer[6:]]
        return [HIDDEN if index == 5 else part for index, part in enumerate(answer)]

    def _shown(self, pending: Mapping[str, Any]) -> str:
        """A question as people may read it."""
        return str(self._redactor.record({"approval_id": "", "kind": "asked", "approvers": [], **pending})["ask"])

    def _command(self, command: list[Any], asked: Mapping[str, str]) -> list[Any]:
        if command[0] == "Ask":
            kind, approval_id, ask, *rest = command
            return [kind, approval_id, asked.get(approval_id, ask), *rest]
        if command[0] != "RunCall":
            return command
        kind, call_id, tool, args, *rest = command
        return [kind, call_id, tool, self._args(tool, args), *rest]

    def _cursor(self, cursor: Mapping[str, Any]) -> dict[str, Any]:
        if not cursor.get("again"):
            return dict(cursor)
        args = cursor["again"]
        for part in self._parts:
            step = part.steps.get(cursor.get("step", ""))
            if step is not None and step.call is not None:
                args = self._args(step.call.tool, args)
        return {**cursor, "again": args}

    def _frame(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        made = dict(frame)
        if "facts" in made:
            made["facts"] = {name: self._fact(name, value) for name, value in made["facts"].items()}
        if "history" in made:
            made["history"] = {n: [self._fact(n, value) for value in values] for n, values in made["history"].items()}
        if "done" in made:
            made["done"] = [[t, self._args(t, args), self._result(t, r), *rest] for t, args, r, *rest in made["done"]]
        if "claims" in made:
            made["claims"] = {step: self._args("complete_step", said) for step, said in made["claims"].items()}
        if "answers" in made:
            made["answers"] = {step: self._answer(answer) for step, answer in made["answers"].items()}
        if "inputs" in made:
            made["inputs"] = self._inputs(frame.get("playbook"), made["inputs"])
        return made

    def _fact(self, name: str, value: Any) -> Any:
        for tool in self._facts.get(name, ()):
            value = self._result(tool, value)
        return value

    def _inputs(self, playbook: str | None, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the run are covered by value; what a called playbook marks, by place."""
        part = next((part for part in self._parts if playbook is not None and part.id == playbook), None)
        if part is None:
            return dict(inputs)
        made = {}
        for name, value in inputs.items():
            declared = part.inputs[name]
            clean = HIDDEN if declared.sensitive else Marks(declared.schema).hide(value)
            made[name] = self._veil.cover_marked(value, clean)
        return made
