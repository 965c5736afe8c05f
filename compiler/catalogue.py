"""
Every rule of this room, with the essay that `guideway explain CODE` prints.

A rule is a function; its docstring is its essay.  The reading rules (GW0xx) stand in `guideway.playbooks.codes`.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import getdoc
from typing import Any

from guideway.playbooks.codes import Rule

from .block_rules import nothing_to_undo, target_inside, two_writers
from .calls import (
    missing_given,
    playbook_named_twice,
    playbook_out_of_reach,
    playbooks_in_a_ring,
    unfit_given,
    unknown_given,
    unknown_playbook,
    unusable_playbook,
)
from .contracts import (
    bad_schema,
    default_against_schema,
    missing_argument,
    name_taken,
    retry_of_a_write,
    too_few_calls,
    unknown_argument,
)
from .events import (
    ambiguous_event,
    event_without_call,
    policy_named_twice,
    result_of_a_refusal,
    unasked_approval,
    unknown_event,
)
from .evidence import resting_on_claims
from .falling import falls_into_handler
from .flow import dead_end, join_never_met, unreachable_step
from .names import (
    name_not_readable,
    unknown_fact,
    unknown_field,
    unknown_input,
    unknown_name,
    unknown_outcome,
    unknown_source,
    unknown_target,
    unknown_term,
    unknown_tool,
)
from .page import clashing_id, idle_key, terms_in_a_circle, unresolved_skill, validation_not_enforced
from .reading import ill_formed, ill_typed
from .termination import bad_pattern


def _rule(code: str, name: str, summary: str, function: Callable[..., Any]) -> Rule:
    return Rule(code, name, summary, getdoc(function) or "")


CATALOGUE: tuple[Rule, ...] = (
    _rule("GW110", "unknown-target", "finds targets that are neither a step nor an outcome", unknown_target),
    _rule("GW111", "unknown-outcome", "finds termination outcomes that nothing declares", unknown_outcome),
    _rule("GW112", "unknown-tool", "finds tools that `tools` does not list", unknown_tool),
    _rule("GW113", "unknown-input", "finds reads of inputs that are not declared", unknown_input),
    _rule("GW114", "unknown-fact", "finds reads of facts that no step writes", unknown_fact),
    _rule("GW115", "unknown-term", "finds reads of terms that are not defined", unknown_term),
    _rule("GW116", "unknown-name", "finds expressions that begin with no known name", unknown_name),
    _rule("GW117", "name-not-readable", "finds reads that their place may not make", name_not_readable),
    _rule("GW118", "unknown-field", "finds fields of `run` and `claims` that do not exist", unknown_field),
    _rule("GW119", "unknown-source", "finds reads of answers, signals and predicates nobody gives", unknown_source),
    _rule("GW120", "clashing-id", "finds step ids that name something else as well", clashing_id),
    _rule("GW121", "unresolved-skill", "finds skills whose tools nobody gave", unresolved_skill),
    _rule("GW122", "validation-not-enforced", "finds validations that are notes", validation_not_enforced),
    _rule("GW123", "term-cycle", "finds terms defined by one another in a circle", terms_in_a_circle),
    _rule("GW124", "idle-key", "finds keys of a step that have no effect there", idle_key),
    _rule("GW125", "target-across-blocks", "finds ways into or out of the middle of a block", target_inside),
    _rule("GW126", "two-writers", "finds facts that two branches write at once", two_writers),
    _rule("GW127", "nothing-to-undo", "finds undo steps for tools without an undo", nothing_to_undo),
    _rule("GW130", "bad-schema", "finds schemas that are no JSON Schema", bad_schema),
    _rule("GW131", "default-against-schema", "finds defaults that do not fit", default_against_schema),
    _rule("GW132", "retry-of-a-write", "finds retries of calls that may do harm twice", retry_of_a_write),
    _rule("GW140", "unknown-playbook", "finds calls of playbooks there are not", unknown_playbook),
    _rule("GW141", "playbook-out-of-reach", "finds playbooks that may not or cannot be read", playbook_out_of_reach),
    _rule("GW142", "playbook-named-twice", "finds calls that two playbooks could answer", playbook_named_twice),
    _rule("GW143", "playbook-ring", "finds playbooks that call one another in a ring", playbooks_in_a_ring),
    _rule("GW144", "unusable-playbook", "finds calls of playbooks that have errors", unusable_playbook),
    _rule("GW201", "unreachable-step", "finds steps that no run comes to", unreachable_step),
    _rule("GW202", "dead-end", "finds steps from which no end can be reached", dead_end),
    _rule("GW203", "falls-into-handler", "finds handlers that good runs fall into", falls_into_handler),
    _rule("GW204", "join-never-met", "finds branches that can never come together", join_never_met),
    _rule("GW205", "resting-on-claims", "finds irreversible tools that claims alone lead to", resting_on_claims),
    _rule("GW301", "ill-formed-expression", "finds text that is no expression", ill_formed),
    _rule("GW302", "ill-typed-expression", "finds expressions that can have no value", ill_typed),
    _rule("GW303", "bad-pattern", "finds patterns that are no RE2", bad_pattern),
    _rule("GW401", "too-few-calls", "finds call limits below what completion needs", too_few_calls),
    _rule("GW501", "unknown-event", "finds events of policies that nothing can be", unknown_event),
    _rule("GW502", "ambiguous-event", "finds events that are a tool and a step", ambiguous_event),
    _rule("GW503", "policy-named-twice", "finds policies that share an id", policy_named_twice),
    _rule("GW504", "unasked-approval", "finds approvals of steps that ask nobody", unasked_approval),
    _rule("GW505", "event-without-call", "finds events that are no call where one is needed", event_without_call),
    _rule("GW506", "result-of-a-refusal", "finds results judged before there is one", result_of_a_refusal),
    _rule("GW701", "unknown-argument", "finds arguments that a tool does not have", unknown_argument),
    _rule("GW702", "missing-argument", "finds calls without an argument they need", missing_argument),
    _rule("GW703", "name-taken", "finds tools that share a name", name_taken),
    _rule("GW704", "unknown-given", "finds values for inputs that a playbook does not have", unknown_given),
    _rule("GW705", "missing-given", "finds calls of playbooks without an input they need", missing_given),
    _rule("GW706", "unfit-given", "finds values that do not fit an input of the playbook called", unfit_given),
)
"""Every rule, by code.

>>> len({rule.code for rule in CATALOGUE}) == len(CATALOGUE)
True
"""
