"""What a run of a playbook is told to be: the answers of its world, what goes wrong in it, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

T0 = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
"""A Tuesday morning, when every story begins."""


class Fault(StrEnum):
    """What goes wrong at one step of a story."""

    FAILS = "fails"
    """its calls fail"""
    UNKNOWN = "unknown"
    """nobody knows whether its calls happened"""
    REJECTED = "rejected"
    """a person says no"""
    SILENT = "silent"
    """nobody says anything: no person, no signal, no agent, no tool"""
    HOST = "host"
    """the host declares the step failed"""


class InTurn(tuple[Any, ...]):
    """Answers that come one after the other; the last one stays."""

    __slots__ = ()


@dataclass(frozen=True)
class Story:
    """
    One run, and how it ends.

    `tools` are results by step or by tool: a value, values `InTurn`, or a function of the arguments.  `agent` holds the
    replies in each step: a text, a confidence, or calls as (tool, arguments).  `people` are answers by step: a label,
    a map of fields, `Fault.REJECTED`; approvals are given where nothing is said.  `signals` come when a step waits for
    them, those `sent` at the beginning.
    """

    outcome: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, Any] = field(default_factory=dict)
    agent: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    people: Mapping[str, Any] = field(default_factory=dict)
    signals: Mapping[str, Any] = field(default_factory=dict)
    faults: Mapping[str, Fault] = field(default_factory=dict)
    predicates: Mapping[str, bool] = field(default_factory=dict)
    sent: Sequence[str] = ()
    start: datetime = T0
