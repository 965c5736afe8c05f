"""
Every rule of this room, with the essay that `guideway explain CODE` prints.

A rule is a function; its docstring is its essay.  The reading rules (GW0xx) stand in `guideway.playbooks.codes`.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import getdoc
from typing import Any

from guideway.playbooks.codes import Rule

from . import contracts, falling, flow, names, page, reading, termination


def _rule(code: str, name: str, summary: str, function: Callable[..., Any]) -> Rule:
    return Rule(code, name, summary, getdoc(function) or "")


CATALOGUE: tuple[Rule, ...] = (
    _rule("GW110", "unknown-target", "finds targets that are neither a step nor an outcome", names.unknown_target),
    _rule("GW111", "unknown-outcome", "finds termination outcomes that nothing declares", names.unknown_outcome),
    _rule("GW112", "unknown-tool", "finds tools that `tools` does not list", names.unknown_tool),
    _rule("GW113", "unknown-input", "finds reads of inputs that are not declared", names.unknown_input),
    _rule("GW114", "unknown-fact", "finds reads of facts that no step writes", names.unknown_fact),
    _rule("GW115", "unknown-term", "finds reads of terms that are not defined", names.unknown_term),
    _rule("GW116", "unknown-name", "finds expressions that begin with no known name", names.unknown_name),
    _rule("GW117", "name-not-readable", "finds reads that their place may not make", names.name_not_readable),
    _rule("GW118", "unknown-field", "finds fields of `run` and `claims` that do not exist", names.unknown_field),
    _rule("GW119", "not-supported-yet", "finds names of constructs that this version does not run", names.not_yet),
    _rule("GW120", "clashing-id", "finds step ids that name something else as well", page.clashing_id),
    _rule("GW121", "unresolved-skill", "finds skills whose tools nobody gave", page.unresolved_skill),
    _rule("GW122", "validation-not-enforced", "finds validations that are notes", page.validation_not_enforced),
    _rule("GW123", "term-cycle", "finds terms defined by one another in a circle", page.term_cycle),
    _rule("GW124", "idle-key", "finds keys of a step that have no effect there", page.idle_key),
    _rule("GW130", "bad-schema", "finds schemas that are no JSON Schema", contracts.bad_schema),
    _rule("GW131", "default-against-schema", "finds defaults that do not fit", contracts.default_against_schema),
    _rule("GW132", "retry-of-a-write", "finds retries of calls that may do harm twice", contracts.retry_of_a_write),
    _rule("GW201", "unreachable-step", "finds steps that no run comes to", flow.unreachable_step),
    _rule("GW202", "dead-end", "finds steps from which no end can be reached", flow.dead_end),
    _rule("GW203", "falls-into-handler", "finds handlers that good runs fall into", falling.falls_into_handler),
    _rule("GW301", "ill-formed-expression", "finds text that is no expression", reading.ill_formed),
    _rule("GW302", "ill-typed-expression", "finds expressions that can have no value", reading.ill_typed),
    _rule("GW303", "bad-pattern", "finds patterns that are no RE2", termination.bad_pattern),
    _rule("GW401", "too-few-calls", "finds call limits below what completion needs", contracts.too_few_calls),
    _rule("GW701", "unknown-argument", "finds arguments that a tool does not have", contracts.unknown_argument),
    _rule("GW702", "missing-argument", "finds calls without an argument they need", contracts.missing_argument),
)
"""Every rule, by code.

>>> len({rule.code for rule in CATALOGUE}) == len(CATALOGUE)
True
"""
