"""
The catalogue of findings about reading: what each finds, why it matters, an example, the repair.

`guideway explain GW007` and the documentation print these very strings.  GW020 to GW049 belong to the shape of a
playbook (unknown and missing keys, wrong types, limits) and stand with the models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding: a stable code, a name that says the flaw, one sentence, and an essay in Markdown."""

    code: str
    name: str
    summary: str
    essay: str


def _rule(code: str, name: str, summary: str, *, finds: str, why: str, example: str, repair: str) -> Rule:
    return Rule(
        code,
        name,
        summary,
        f"## What it finds\n{finds}\n\n## Why it matters\n{why}\n\n## Example\n```yaml\n{example}\n```\n\n"
        f"## Repair\n{repair}\n",
    )


_RULES = (
    _rule(
        "GW001",
        "unreadable-source",
        "finds sources that cannot be read at all",
        finds="A missing file, a folder, a file without read permission, an ending other than `.yaml`, `.yml` or "
        "`.json`, or a source with nothing in it.",
        why="There is no playbook to enforce, and an empty one must not pass for a harmless one.",
        example="# only a comment",
        repair="Check the path; save the playbook as `.yaml`, `.yml` or `.json`.",
    ),
    _rule(
        "GW002",
        "too-many-bytes",
        "finds sources larger than the byte limit",
        finds="A source of more bytes than `--max-bytes` (32 MB unless told otherwise).",
        why="Reading costs memory many times the size of the text; a service that reads other people's playbooks "
        "needs a bound.",
        example="# a log pasted into `description`",
        repair="Split the playbook with `imports`, or raise `--max-bytes`.",
    ),
    _rule(
        "GW003",
        "not-utf8",
        "finds text in another encoding than UTF-8",
        finds="Bytes that are no UTF-8 (Latin-1, UTF-16 …).",
        why="Read in the wrong encoding a name is another name, and a tool of that name does not exist.",
        example="name: Zugang f\\xfcr alle   # a Latin-1 byte",
        repair="Save the file as UTF-8; `iconv -f latin1 -t utf-8` converts one.",
    ),
    _rule(
        "GW004",
        "control-character",
        "finds invisible control characters in the source",
        finds="NUL, other control characters, and the line separators U+0085, U+2028 and U+2029 that some readers take "
        "for line breaks and others do not.",
        why="Nobody can see them in a review, and readers disagree about what they mean.",
        example="id: tri\\x00age",
        repair="Delete the character; where it is meant, write it as an escape in double quotes.",
    ),
    _rule(
        "GW005",
        "yaml-syntax",
        "finds what is no YAML",
        finds="Broken indentation, a tab at the start of a line, a quote or bracket that is never closed, `: ` inside "
        "unquoted text, a value that begins with one of the signs `` * & % @ ` | > ``.",
        why="The text has no meaning at all, or not the one it seems to have.",
        example="steps:\n  - id: look\n    description: Note: the last 24 hours",
        repair='Quote the value: `description: "Note: the last 24 hours"`.',
    ),
    _rule(
        "GW006",
        "json-syntax",
        "finds what is no JSON",
        finds="Trailing commas, comments, single quotes, `NaN`, `True`, unquoted keys, unclosed strings, text after "
        "the end.",
        why="Tools differ in which of these they accept, so the same file would mean different things.",
        example='{"id": "triage", "steps": [],}',
        repair="Write plain JSON, or save the file as `.yaml`, where comments and unquoted words are legal.",
    ),
    _rule(
        "GW007",
        "duplicate-key",
        "finds a key written twice in one map",
        finds="The same key twice in one map. The message names both places.",
        why="Most readers silently keep the last one: a second `expected_tools` further down would open the gate that "
        "the first one closes.",
        example="id: contain\nmax_tool_calls: 2\nmax_tool_calls: 20",
        repair="Delete one of them, or rename it.",
    ),
    _rule(
        "GW008",
        "too-many-values",
        "finds sources that hold more values than the limit, aliases expanded",
        finds="More keys and values than `--max-values` (2,000,000 unless told otherwise), counting what an alias "
        "stands for each time it is used.",
        why="Ten lines of aliases can stand for a billion values; walking them would take the machine down.",
        example="a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]   # and so on",
        repair="Drop the aliases, split the playbook with `imports`, or raise `--max-values`.",
    ),
    _rule(
        "GW009",
        "too-deep",
        "finds lists and maps nested deeper than the limit",
        finds="Nesting beyond `--max-depth` (60 unless told otherwise), aliases expanded.",
        why="No runbook is that deep; such a text is an accident or an attack on the programs that read it.",
        example="a: [[[[[[[[[[ … ]]]]]]]]]]",
        repair="Flatten the structure, call sub-playbooks, or raise `--max-depth`.",
    ),
    _rule(
        "GW010",
        "tag",
        "finds YAML tags, and expressions that begin with `!` and so become tags",
        finds="Any YAML tag: `!!str`, `!!python/object`, or an unquoted expression that begins with `!`.",
        why="A tag asks the reader to build something other than data; and `when: !facts.done` is to YAML an *empty* "
        "value with the tag `!facts.done`, so the condition would vanish.",
        example="when: !facts.host.isolated",
        repair='Quote the expression: `when: "!facts.host.isolated"`.',
    ),
    _rule(
        "GW011",
        "merge-key",
        "finds the YAML 1.1 merge key `<<`",
        finds="An unquoted `<<` as a key.",
        why="It is no part of YAML 1.2; readers differ in which side wins, and merges of merges grow without bound.",
        example="- <<: *defaults\n  id: contain",
        repair="Write the keys out, or use `defaults`, which gives every step the same keys.",
    ),
    _rule(
        "GW012",
        "bad-alias",
        "finds aliases that name nothing, or the very value they stand in",
        finds="`*name` where no `&name` stands before it, or inside the value that `&name` marks.",
        why="The first stands for nothing; the second for a value that contains itself, which has no end.",
        example="hints: &again [look, *again]",
        repair='Put the anchor before the alias; quote the text if it only begins with `*`: `"*.example.org"`.',
    ),
    _rule(
        "GW013",
        "several-documents",
        "finds a second YAML document in one file",
        finds="A `---` that begins a second document.",
        why="Most tools would read the first and ignore the rest, so half of the playbook would not be enforced.",
        example="id: one\n---\nid: two",
        repair="Give each playbook its own file; `imports` joins them.",
    ),
    _rule(
        "GW014",
        "key-not-text",
        "finds keys that are lists or maps",
        finds="A list or a map in the place of a key.",
        why="A key is a name. Usually an unquoted `{` or `[` began a value where a text was meant.",
        example="[a, b]: 1",
        repair="Write a text; quote it if it begins with `[` or `{`.",
    ),
    _rule(
        "GW015",
        "doubtful-number",
        "finds numbers that readers disagree about",
        finds="Leading zeros (`012`, `0o17`), integers of more than 18 digits, floats beyond 64 bits, infinity and "
        "not-a-number.",
        why="`012` is 10 to one reader, 12 to another and text to a third; a ticket number of 20 digits loses "
        "its last ones.",
        example="args: {ticket: 00123}",
        repair='Quote it if it is a name: `"00123"`; else write the number without leading zeros.',
    ),
    _rule(
        "GW016",
        "unquoted-template",
        "finds `{{ … }}` without quotes",
        finds="A value that begins with `{{` and is not quoted.",
        why="To YAML `{{ x }}` is a map whose key is a map. The text it seems to be does not exist.",
        example="args: {user: {{ inputs.user }}}",
        repair='Quote it: `args: {user: "{{ inputs.user }}"}`.',
    ),
    _rule(
        "GW017",
        "escaped-control-character",
        "finds escapes such as `\\b` that became a control character",
        finds="A control character that an escape in double quotes stands for, most often `\\b`.",
        why="In double quotes `\\b` is the backspace character, not the word boundary of a pattern: "
        "the pattern would never match, and its condition never end the run.",
        example='text_mention: "\\bESCALATE\\b"',
        repair="Use single quotes, which leave the backslash alone: `'\\bESCALATE\\b'`.",
    ),
    _rule(
        "GW018",
        "cut-text",
        "finds unquoted text that YAML cuts short at ` #` or, between brackets, at a comma",
        finds="Unquoted text that stops in the middle of a quote or bracket because a comment (` #`) or a comma "
        "follows, and ` #1`, ` #name` where a value seems to be meant.",
        why="What stands behind is lost, or becomes a key of its own: a condition would ask for something else.",
        example="- when: args.channel == 'ops #1'\n- {when: size(facts.x, facts.y) > 1, goto: stop}",
        repair="Quote the whole value: `when: \"args.channel == 'ops #1'\"`.",
    ),
    _rule(
        "GW019",
        "not-json-data",
        "finds Python objects that are no JSON data",
        finds="In a playbook given as a dict: keys that are no text, bytes, sets, dates and other objects, infinite "
        "numbers, lone surrogates, and a container that contains itself.",
        why="Such a playbook has no written form, so it could be neither reviewed nor compared nor stored.",
        example="# Python: {'steps': {1, 2}}",
        repair="Use dict, list, str, int, float, bool and None only.",
    ),
)

CODES: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in _RULES})
"""Every reading rule by its code.

>>> CODES["GW007"].name
'duplicate-key'
"""
