"""
The catalogue of findings about the shape of a playbook: keys, types, limits, names.

`guideway explain GW020` and the documentation print these very strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .codes import Rule


def _rule(code: str, name: str, summary: str, *, finds: str, why: str, example: str, repair: str) -> Rule:
    essay = (
        f"## What it finds\n{finds}\n\n## Why it matters\n{why}\n\n"
        f"## Example\n```yaml\n{example}\n```\n\n## Repair\n{repair}\n"
    )
    return Rule(code, name, summary, essay)


_RULES = (
    _rule(
        "GW020",
        "unknown-key",
        "finds keys that the format does not know",
        finds="A key that no map of the format has, most often a slip of the finger. The nearest known key is named.",
        why="A misspelt `expected_tool` that is ignored leaves the step without expected tools: the gate is open "
        "where its "
        "author shut it.",
        example="- id: contain\n  expected_tool: [isolate_host]",
        repair="Write the key that the message names; keep notes of your own under `metadata`.",
    ),
    _rule(
        "GW021",
        "borrowed-key",
        "finds keys of other formats that have another name here",
        finds="`if`, `tools`, `depends_on`, `then`, `else`, `on_error`, `retries`, `foreach`, `branches`, `sleep` and "
        "other words of workflow formats.",
        why="Each thing has one word here. A borrowed one would be ignored elsewhere; here it is an error with the "
        "word meant.",
        example="- id: contain\n  if: facts.host.infected\n  expected_tools: [isolate_host]",
        repair="Write what the message says: `when` for `if`, `next` for `then`, `on_failure` for `on_error`.",
    ),
    _rule(
        "GW022",
        "misplaced-key",
        "finds keys that belong to another map",
        finds="A key that the format knows, at a level where it means nothing: `where` on a step, `goto` outside a "
        "branch, `when` in `defaults`, `join` without `parallel`.",
        why="At the wrong level a condition guards nothing.",
        example="- id: refund\n  where: args.amount < 100\n  expected_tools: [issue_refund]",
        repair="Move it where the message says: `expected_tools: [{tool: issue_refund, where: args.amount < 100}]`.",
    ),
    _rule(
        "GW023",
        "missing-key",
        "finds maps that lack a key they need",
        finds="A playbook without `id` or `name`, a step without `id`, a branch without `goto`, a `retry` without "
        "`at_most`, "
        "an agent's step that says neither in `description` nor by its tools what is to be done.",
        why="There is nothing sensible to assume in its place.",
        example="steps:\n  - description: Isolate the host",
        repair="Add the key.",
    ),
    _rule(
        "GW024",
        "wrong-type",
        "finds values of the wrong type",
        finds="Text where a number is meant, a single value where a list is, a map where a name is.",
        why='Guessing would turn `"3"` into 3 here and into text there; `required: yes` is text in YAML 1.2, and '
        "text is not false.",
        example='- id: contain\n  expected_tools: isolate_host\n  max_tool_calls: "3"',
        repair="Write the type that the message names: `expected_tools: [isolate_host]`, `max_tool_calls: 3`.",
    ),
    _rule(
        "GW025",
        "out-of-range",
        "finds numbers outside their range",
        finds="Negative limits, `times: 0`, a confidence above 1, hundreds of retries.",
        why="A negative `max_tool_calls` allows nothing or everything, depending on who compares.",
        example="- id: contain\n  expected_tools: [isolate_host]\n  max_tool_calls: -3",
        repair="Write a number in the range that the message names. `max_tool_calls: 0` is legal and allows no call.",
    ),
    _rule(
        "GW026",
        "ill-formed-name",
        "finds names that cannot serve as names",
        finds="Ids and names that are empty, begin or end with a blank, hold line breaks or control characters, "
        "begin with two "
        "underscores, or are longer than 200 characters; a loop whose items are called by no plain word.",
        why="Names stand in targets, expressions, pictures and journals; two that look the same must be the same.",
        example='- id: "contain "',
        repair="Choose a visible name without blanks at its ends.",
    ),
    _rule(
        "GW027",
        "reserved-name",
        "finds names that mean something else already",
        finds="A step or branch called `success`, `failed`, `stopped`, `escalated`, `done`, `incomplete` or by a word "
        "of `outcomes`; an outcome called like one of the first six; items of a loop called `facts` or by another word "
        "that expressions know; a claim called `result`, `confidence` or `step`; a field called `choice` beside "
        "`choices`.",
        why="`next: done` could mean the step or the end, and `facts` the item or what is known.",
        example="- id: done\n  expected_tools: [close_case]",
        repair="Choose another word.",
    ),
    _rule(
        "GW028",
        "bad-duration",
        "finds durations that say no unit or are none",
        finds="`timeout: 30`, `wait: 1.5h`, `timeout: 0s`.",
        why="30 is seconds to one reader, minutes to another.",
        example="- id: agree\n  approval: {ask: Deploy?}\n  timeout: 30",
        repair="Write `30s`, `15m`, `4h`, `1d` or `1h30m`. Only `timeout_seconds` takes a bare number.",
    ),
    _rule(
        "GW029",
        "duplicate-name",
        "finds two steps or branches of one name",
        finds="A step id or the name of a branch that is used twice, anywhere in the file, inside blocks and in "
        "`finally` as well; an answer that `choices` lists twice. The message names both places.",
        why="A target names one step. Facts and budgets of the two would be mixed.",
        example="- id: enrich\n  expected_tools: [query_siem]\n- id: enrich\n  expected_tools: [enrich_indicator]",
        repair="Rename one of them.",
    ),
    _rule(
        "GW030",
        "two-kinds",
        "finds steps that do two things",
        finds="Two of `call`, `switch`, `ask`, `wait`, `playbook`, `parallel`, `for_each`, `repeat`, `steps`, `undo` "
        "and the agent's tools in one step. `approval` may stand beside any of them; `repeat` takes `call` or `steps`, "
        "`for_each` takes `steps`.",
        why="Which of the two comes first, and which one's failure is the step's, is not said.",
        example="- id: look\n  call: {tool: query_siem}\n  expected_tools: [enrich_indicator]",
        repair="Make two steps; what a loop does stands under its `steps`.",
    ),
    _rule(
        "GW031",
        "nothing-to-repeat",
        "finds loops without anything to do",
        finds="A `repeat` beside neither `call` nor `steps`, a `for_each` without `steps`.",
        why="There is no round to repeat.",
        example="- id: verify\n  repeat: {until: facts.verify.done, at_most: 5}",
        repair="Add `call: {tool: …}` or `steps: […]`; for failed calls of an agent's step use `retry`.",
    ),
    _rule(
        "GW032",
        "no-branch",
        "finds branch lists without a branch, and questions without an answer",
        finds="`switch: []`, `next: []`, `on_failure: []`, `choices: []`.",
        why="No branch can be taken, so the step fails whenever it gets there.",
        example="- id: route\n  switch: []",
        repair="Write a branch, or delete the key.",
    ),
    _rule(
        "GW033",
        "pattern-for-tool",
        "finds patterns where one tool is meant",
        finds="A `*` in `expected_tools`, in `call` or in `undo`.",
        why="Which call would meet it? A pattern allows many tools; an expected tool is one that has to succeed.",
        example='expected_tools: ["mcp__siem__*"]',
        repair="Name the tool, or move the pattern to `optional_tools`.",
    ),
    _rule(
        "GW034",
        "unknown-word",
        "finds words outside a fixed list",
        finds="An `effect` other than `read`, `write`, `irreversible`; a class in `outcomes` other than `success`, "
        "`stopped`, "
        "`failed`, `escalated`; an unknown type word of an input.",
        why="A misspelt `irreversable` would make a tool an ordinary one.",
        example="tools:\n  wipe_disk: {effect: irreversable}",
        repair="Write one of the words that the message lists.",
    ),
    _rule(
        "GW035",
        "dead-branch",
        "finds branches behind one that is always taken",
        finds="A branch without `when` that is not the last of its list; the same of a list of approval rules.",
        why="The first true one is taken, and one without a condition is always true: all behind it is dead.",
        example="switch:\n  - goto: close\n  - {when: facts.host.infected, goto: isolate}",
        repair="Move the branch without `when` to the end, or give it a condition.",
    ),
    _rule(
        "GW036",
        "empty-approval",
        "finds approvals that ask nothing, and waivers that say no reason",
        finds="`approval: {}`, a rule with neither `ask` nor `approvers`, `count: all` without `approvers`, and "
        "`approval: none` without a `because`.",
        why="A person who is asked must see a question; a gate that is left out on purpose needs a reason a "
        "reviewer can read.",
        example="tools:\n  wipe_disk: {effect: irreversible, approval: none}",
        repair="Write `approval: {ask: …, approvers: […]}`, or `{none: true, because: …}`.",
    ),
    _rule(
        "GW037",
        "no-value",
        "finds keys without a value",
        finds="A key with nothing behind its colon, or `null`.",
        why="An empty `where:` is no condition at all; that its author wanted none is the less likely reading.",
        example="expected_tools:\n  - tool: issue_refund\n    where:",
        repair="Write the value, or delete the key.",
    ),
    _rule(
        "GW038",
        "bad-json-schema",
        "finds JSON Schemas that are none",
        finds="In inputs, `parameters`, `result`, `claims` and `fields`: a keyword whose value has the wrong type, an "
        "unknown type word.",
        why="Arguments would be checked against something else than what was meant.",
        example="inputs:\n  hosts: {type: list}",
        repair="Write JSON Schema (draft 2020-12): `{type: array, items: {type: string}}`.",
    ),
    _rule(
        "GW039",
        "not-one-condition",
        "finds items of `termination` with no condition or with two",
        finds="An item without a condition key, or with two of them, and `all`, `any` without parts.",
        why="Whether two conditions mean `all` or `any` is not said.",
        example="termination:\n  - {max_iterations: 40, token_limit: 100000}",
        repair="Write an item for each (a list is `any`), or `all: [{…}, {…}]`.",
    ),
    _rule(
        "GW040",
        "keys-in-conflict",
        "finds keys that contradict each other",
        finds="`timeout` with `timeout_seconds`, `next` with `switch`, `none` with `ask` in `approval` or in a list of "
        "rules, `where` without `tool_called` in a condition, `outcome` inside `all`, `claims` or `max_tool_calls` "
        "beside a kind that would not keep them, a loop inside another that calls its items the same.",
        why="One of the two would be ignored.",
        example="- id: agree\n  approval: {ask: Deploy?}\n  timeout: 1d\n  timeout_seconds: 60",
        repair="Keep one.",
    ),
    _rule(
        "GW041",
        "not-a-map",
        "finds sources that are no map of keys",
        finds="A list or a single value in the place of the playbook.",
        why="A playbook has at least an `id` and a `name`.",
        example="- id: enrich\n- id: contain",
        repair="Begin with `id`, `name` and `steps`.",
    ),
    _rule(
        "GW042",
        "more-faults",
        "tells that there are more faults than are listed",
        finds="More than a thousand faults of shape in one source.",
        why="They would bury each other; most likely the source is no playbook.",
        example="# an export of another program",
        repair="Repair those that are listed and look again.",
    ),
    _rule(
        "GW043",
        "nothing-inside",
        "finds blocks and lists with nothing in them",
        finds="A section or loop with `steps: []`, a `parallel` without branches, a branch without steps, `undo: []`, "
        "an `ask` whose `fields` are empty.",
        why="A block that does nothing is most likely one that lost its steps; nothing would be done in its place.",
        example="- id: contain\n  steps: []",
        repair="Write what belongs there, or delete the block.",
    ),
    _rule(
        "GW044",
        "not-one-form",
        "finds policies and waits of no form, or of two",
        finds="A policy without a kind (`precedence`, `never`, `at_most` …) or with two; a `wait` that waits for "
        "nothing, or for two things.",
        why="Whether two kinds mean both or either is not said, and one of them would be dropped.",
        example="policies:\n  - {never: wipe_disk, at_most: {event: reboot, times: 1}}",
        repair="Write a policy for each; make two steps of a wait, or say with `timeout` how long at most.",
    ),
    _rule(
        "GW047",
        "not-for-the-end",
        "finds steps of `finally` that are no plain calls",
        finds="In `finally`: a step without `call`, and beside the call `next`, an `on_…`, `max_visits`, `approval` "
        "or `when`.",
        why="These calls are made at every end, when the outcome is fixed: nothing there leads anywhere, and no person "
        "is waited for before it.",
        example="finally:\n  - {id: log_out, call: {tool: log_out}, on_failure: escalated}",
        repair="Keep the `call`; a failure in `finally` is recorded and changes nothing.",
    ),
)

SHAPE_CODES: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in _RULES})
"""Every rule of shape by its code.

>>> SHAPE_CODES["GW020"].name
'unknown-key'
"""
