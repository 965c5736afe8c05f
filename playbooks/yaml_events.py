"""
From libyaml's events to the tree: YAML 1.2 core meaning, every place kept.

The events come from outside (only the reader imports yaml); this file decides what each means here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .anchors import Anchors
from .builder import Builder
from .cuts import Cuts
from .nodes import Node
from .repairs import Repairs
from .scalars import CONSTANTS, NUMBER_STARTS, NumberError, control_in, number, quoted, short

SCALAR, MAP, LIST, END, ALIAS, DOCUMENT, OTHER = range(7)

_SUSPECT = re.compile(r"[\"'(\[{]")
_STANDARD_TAG = "tag:yaml.org,2002:"


class YamlEvents:
    """
    One pass over the events of one text.

    `text` is as the author wrote it, while the events come from the text with its repairs.  `kinds` maps each event
    class to one of the numbers above.
    """

    def __init__(self, text: str, kinds: Mapping[type, int], out: Builder, repairs: Repairs) -> None:
        self.text = text
        self.kinds = kinds
        self.out = out
        self.stand_ins = repairs.stand_ins
        self.anchors = Anchors(out)
        self.cuts = Cuts(text, out, repairs.possible)
        self.documents = 0

    def run(self, events: Iterator[Any]) -> None:
        """Build the tree; what libyaml raises passes through, and the builder keeps what came before."""
        out, kinds, stand_ins, node = self.out, self.kinds, self.stand_ins, self._node
        for event in events:
            kind = kinds[type(event)]
            if kind == SCALAR:
                if event.tag is not None or event.anchor is not None or stand_ins:
                    self._rare(event)
                elif not out.wants_key:
                    made = node(event)
                    if made is not None:
                        out.scalar(made)
                elif event.style == '"' or event.value == "<<":
                    self._odd_key(event)
                else:
                    mark = event.start_mark
                    out.key(event.value, mark.line + 1, mark.column + 1)
            elif kind in (MAP, LIST):
                self._open(event, kind, events)
            elif kind == END:
                out.close()
            elif kind == ALIAS:
                self._alias(event)
            elif kind == DOCUMENT and not self._first(event):
                return

    def _node(self, event: Any) -> Node | None:
        """What a scalar without tag means as a value; None where it is the missing value of half a text."""
        mark, value, style = event.start_mark, event.value, event.style
        start, end, comments = mark.index, event.end_mark.index, self.cuts.comments
        if style:
            more = None
            if style in "|>" or end - start != len(value) + 2:  # an escape or a fold
                more = self.text[start:end]
                if style == '"':
                    self._controls(value, mark)
            return Node(value, mark.line + 1, mark.column + 1, style, more)
        if value in CONSTANTS:
            if not value:
                self.cuts.nothing(mark)
                if self._joined(mark):
                    return None
            return Node(CONSTANTS[value], mark.line + 1, mark.column + 1, "", value)
        if value[0] in NUMBER_STARTS:
            found = self._number(value, mark)
            if found is not value:
                return Node(found, mark.line + 1, mark.column + 1, "", value)
        if end in comments or (self.text.startswith(",", end) and _SUSPECT.search(value)):
            self.cuts.check(value, mark, end)
        more = None if end - start == len(value) else self.text[start:end]  # differs where lines are folded
        return Node(value, mark.line + 1, mark.column + 1, "", more)

    def _joined(self, mark: Any) -> bool:
        """Whether a key without colon is the rest of the text before it: `{description: first this, then that}`."""
        out, here, key = self.out, self.out.here, self.out.pending
        if out.dropped or here is None or key is None or key not in here.more or " " not in key or not here.value:
            return False
        last = next(reversed(here.value))
        before = here.value[last]
        has_colon = self.text[max(mark.index - 80, 0) : mark.index].rstrip().endswith(":")
        if has_colon or before.style or not isinstance(before.value, str):
            return False
        line, column = here.more.pop(key)
        whole = f"{before.value}, {key}"
        here.value[last] = Node(whole, before.line, before.column)
        out.pending, out.wants_key = None, True
        out.report(
            "GW018",
            f"`{short(key)}` is a key without a value: between brackets a comma ends the text before it",
            line,
            column,
            f"quote the whole value: {quoted(short(whole, 100))}",
        )
        return True

    def _number(self, value: str, mark: Any) -> int | float | str:
        try:
            return number(value)
        except NumberError as why:
            self.out.report(
                "GW015",
                f"number `{short(value)}` {why}",
                mark.line + 1,
                mark.column + 1,
                f"quote it if it is a name: {quoted(short(value))}",
            )
            return value

    def _controls(self, value: str, mark: Any) -> None:
        """Point at a `\\b` in double quotes and its like."""
        if found := control_in(value):
            self.out.report("GW017", found[0], mark.line + 1, mark.column + 1, found[1])

    def _odd_key(self, event: Any) -> None:
        mark = event.start_mark
        if event.value == "<<" and not event.style:
            self.out.report(
                "GW011",
                "merge key `<<` is no part of YAML 1.2",
                mark.line + 1,
                mark.column + 1,
                "write the keys out here, or use `defaults` for what all steps share",
            )
            self.out.drop_value()
            return
        if event.style == '"':
            self._controls(event.value, mark)
        self.out.key(event.value, mark.line + 1, mark.column + 1)

    def _rare(self, event: Any) -> None:
        """A scalar with a tag or an anchor, or any scalar of a text with repaired parts."""
        mark, style = event.start_mark, event.style or ""
        line, column = mark.line + 1, mark.column + 1
        if mark.index in self.stand_ins:
            node = Node(self.stand_ins[mark.index], line, column)
        elif event.tag is not None:
            node = Node(self._tagged(event), line, column, style)
        elif self.out.wants_key:
            node = Node(event.value, line, column, style)
        else:
            made = self._node(event)
            if made is None:
                return
            node = made
        if event.anchor is not None:
            self.anchors.mark(event.anchor, node)
        if not self.out.wants_key:
            self.out.scalar(node)
        elif event.value == "<<" or style == '"':
            self._odd_key(event)
        else:
            self.out.key(node.value, line, column)

    def _tagged(self, event: Any) -> str:
        """Report the tag; as the value take the words that became the tag, or the text behind a real tag."""
        tag: str = event.tag
        mark = event.start_mark
        value: str = event.value
        written = self.text[mark.index : event.end_mark.index].rstrip()
        if tag.startswith(_STANDARD_TAG):
            tag = "!!" + tag.removeprefix(_STANDARD_TAG)
        elif tag.startswith("!") and not event.style:
            self.out.report(
                "GW010",
                f"`{short(written)}` begins with `!`, which YAML reads as a tag",
                mark.line + 1,
                mark.column + 1,
                f"quote the whole value: {quoted(short(written))}",
            )
            return written
        self._tag(tag, mark)
        return value

    def _tag(self, tag: str, mark: Any) -> None:
        self.out.report(
            "GW010",
            f"tag `{short(tag)}`: a playbook is plain data and takes no tags",
            mark.line + 1,
            mark.column + 1,
            "delete the tag; quote the value if it is a text",
        )

    def _open(self, event: Any, kind: int, events: Iterator[Any]) -> None:
        mark, out = event.start_mark, self.out
        line, column = mark.line + 1, mark.column + 1
        if event.tag is not None:
            self._tag(event.tag.replace(_STANDARD_TAG, "!!"), mark)
        if self.text.startswith("{{", mark.index):
            self._template(mark, events)
            return
        if out.wants_key and not out.dropped:
            what = "map" if kind == MAP else "list"
            out.report("GW014", f"a {what} stands in the place of a key", line, column, "write a text; quote it")
            out.drop_value()
            out.dropped = 1
            opened = False
        else:
            opened = out.open({} if kind == MAP else [], line, column)
        if event.anchor is not None:
            node = out.here if opened and out.here is not None else Node(None, line, column)
            self.anchors.mark(event.anchor, node)

    def _template(self, mark: Any, events: Iterator[Any]) -> None:
        """Take an unquoted `{{ … }}` for the text that it was meant to be."""
        nesting = 1
        end = mark.index
        for event in events:
            kind = self.kinds[type(event)]
            nesting += 1 if kind in {MAP, LIST} else -1 if kind == END else 0
            if nesting == 0:
                end = event.end_mark.index
                break
        text, out = self.text[mark.index : end], self.out
        line, column = mark.line + 1, mark.column + 1
        out.report(
            "GW016",
            f"`{short(text)}` is not quoted: YAML reads `{{{{` as a map inside a map",
            line,
            column,
            f"quote it: {quoted(short(text))}",
        )
        if out.wants_key:
            out.key(text, line, column)
        else:
            out.scalar(Node(text, line, column))

    def _alias(self, event: Any) -> None:
        mark, out = event.start_mark, self.out
        line, column = mark.line + 1, mark.column + 1
        node = self.anchors.use(event.anchor, line, column)
        if not out.wants_key:
            out.scalar(node)
        elif node.kind == "scalar":
            out.key(node.text, line, column)
        else:
            out.report("GW014", f"alias `*{event.anchor}` of a list or map stands in the place of a key", line, column,
                       "write a text")
            out.drop_value()

    def _first(self, event: Any) -> bool:
        """Whether this is the first document of the text; a second one is reported."""
        self.documents += 1
        if self.documents == 1:
            return True
        mark = event.start_mark
        self.out.report(
            "GW013",
            "a second YAML document begins here; a file holds one playbook",
            mark.line + 1,
            mark.column + 1,
            "give it a file of its own, or delete the `---`",
        )
        return False
