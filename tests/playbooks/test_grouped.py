"""Playbooks in groups become flat ones that keep every place."""

from __future__ import annotations

from guideway.playbooks.models import Playbook
from guideway.playbooks.reader import read_text
from guideway.playbooks.validate import validate

TEXT = """\
id: grouped
title: Grouped
summary: What it is
metadata: {owner: me}
priority: high
tools: {a: {}}
step_groups:
  - id: one
    title: First.
    goal: Reach one.
    steps:
      - id: same
        title: Look.
        goal: Find it.
        mode: quick
        guidance: {skill_refs: [s], tone: calm}
        uses: [t]
      - {id: own, description: Plain, title: Unread}
  - id: two
    steps:
      - {id: same, title: Again., metadata: {k: v}}
  - id: three
    steps: []
"""


def loaded() -> Playbook:
    """The playbook of the text above."""
    playbook, found = validate(read_text(TEXT, "g.yaml"))
    assert found == []
    assert playbook is not None
    return playbook


def test_groups_are_flattened_in_order_and_colliding_ids_get_their_group_in_front() -> None:
    """Both of two equal ids are prefixed, so that none is the real one."""
    assert [step.id for step in loaded().steps] == ["one_same", "own", "two_same"]


def test_titles_and_goals_become_what_the_agent_reads() -> None:
    """The heading of a group stands before its first step; a description that was written wins over a title."""
    assert [s.description for s in loaded().steps] == ["First. Reach one.\n\nLook. Find it.", "Plain", "Again."]
    assert (loaded().name, loaded().description) == ("Grouped", "What it is")


def test_skills_become_uses_and_the_rest_is_kept() -> None:
    """Nothing that was written is lost."""
    first, own, again = loaded().steps

    assert first.uses == ["t", "s"]
    assert first.metadata == {"mode": "quick", "guidance": {"tone": "calm"}, "group": "one"}
    assert own.metadata == {"title": "Unread", "group": "one"}
    assert again.metadata == {"k": "v", "group": "two"}
    assert loaded().metadata == {"owner": "me", "priority": "high"}


def test_places_are_those_of_the_file() -> None:
    """The path is that of the flat form, the place that of the grouped text."""
    playbook = loaded()

    assert str(playbook.span(("steps", 0, "id"))) == "g.yaml:12:13"
    assert str(playbook.span(("steps", 2, "description"))) == "g.yaml:21:27"
    assert str(playbook.span(("steps", 0, "uses", 1))) == "g.yaml:16:33"
    assert str(playbook.span(("name",))) == "g.yaml:2:8"


def test_two_equal_ids_in_one_group_stay_an_error() -> None:
    """A prefix that is the same for both does not hide the collision."""
    text = "id: a\nname: A\nstep_groups: [{id: g, steps: [{id: x, title: X}, {id: x, title: X}]}]"

    assert [found.code for found in validate(read_text(text))[1]] == ["GW029"]


def test_a_flat_playbook_does_not_know_the_keys_of_groups() -> None:
    """`title`, `goal` and the others mean something in the grouped form only."""
    text = "id: a\nname: A\nmode: quick\nsteps: [{id: x, description: X, goal: Y}]"

    assert [found.message.partition(" at ")[0].partition(" in ")[0] for found in validate(read_text(text))[1]] == [
        "unknown key `mode`",
        "unknown key `goal`",
    ]
