"""
Going on with a run on another version of its playbook: declared, never guessed.

The run must stand still in one step, with nothing under way, asked or done in this visit.  It keeps what it knows and
has counted, and enters the step that takes the place of the one it is in: anew, so that the deadlines of the new
version are set, and what it asks of a person is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from guideway.runtime.moves import enter
from guideway.runtime.plan import Plan, plan_of
from guideway.runtime.records import stamp, to_json
from guideway.runtime.run import Predicates, Run, Timer
from guideway.runtime.saving import leaves_of
from guideway.runtime.session import Session
from guideway.runtime.turns import react
from guideway.statemachine.conditions import TimeLimit, leaves
from guideway.statemachine.definition import Definition, StateKind
from guideway.statemachine.errors import HostError
from guideway.statemachine.machine import Machine

from .recorder import Recorder
from .resuming import Rebuilt, rebuild
from .store import Journal
from .veil import Vault


@dataclass(frozen=True, slots=True)
class Migration:
    """
    From one version of a playbook to another.

    `steps` maps ids that have changed; a step that is in both under one id needs no word.
    """

    old: Machine
    new: Machine
    steps: Mapping[str, str] = field(default_factory=dict)

    def name(self, step: str) -> str:
        """What a step of the old version is called in the new one."""
        return self.steps.get(step, step)


def migrate(
    journal: Journal,
    run: str,
    migration: Migration,
    *,
    inputs: Mapping[str, Any] | None = None,
    now: datetime | None = None,
    predicates: Predicates | None = None,
    key: bytes | None = None,
    vault: Vault | None = None,
) -> Session:
    """
    Go on with a run on another version of its playbook; from now on it resumes with that one.

    Raises:
        HostError: the run cannot be moved as it stands; the message says why, and it is as it was.
        JournalError: as for `resume`.
    """
    given = {"inputs": inputs, "predicates": predicates, "key": key, "vault": vault}
    rebuilt = rebuild(journal, run, migration.old, **given)  # type: ignore[arg-type]
    old, new = plan_of(migration.old), plan_of(migration.new)
    state = rebuilt.session.snapshot.to_json()
    refuse_unless(still(rebuilt.session, state), f"run {run} cannot be moved to another version now")
    refuse_unless(unfit(migration, old, new, state), f"run {run} does not fit the other version")
    session = Session.restore(migration.new, carried(migration, old, new, state), predicates=rebuilt.asked or None)
    begin = migration.name(state["cursors"][0]["step"])
    with session._inside(), session._verb(now, "migrate"):
        land(session._run, landing(new.definition, begin))
    keep(journal, rebuilt, session, migration)
    return session


def refuse_unless(reasons: Iterator[str], what: str) -> None:
    """Raise the first reason, if there is one."""
    reason = next(reasons, None)
    if reason is not None:
        raise HostError(f"{what}: {reason}")


def still(session: Session, state: Mapping[str, Any]) -> Iterator[str]:
    """Why the run does not stand still."""
    if session.outcome is not None:
        yield f"it has ended ({session.outcome})"
    if state["bound"] or state["turn"] is not None:
        yield "calls are under way; resume it with the old version until they are settled"
    if state["pending"]:
        yield "a person is asked; let them decide first"
    if len(state["cursors"]) != 1 or len(state["frames"]) != 1:
        yield "it is in several places, or in a playbook that was called"
    cursor = state["cursors"][0]
    if not cursor.get("step"):
        yield "it is in no step"
    if cursor.get("spent") or cursor.get("issued"):
        yield f"calls were made in this visit of `{cursor['step']}`; go on until it enters a step"


def unfit(migration: Migration, old: Plan, new: Plan, state: Mapping[str, Any]) -> Iterator[str]:
    """Why the other version cannot take over what the run is and knows."""
    step = migration.name(state["cursors"][0]["step"])
    found = new.definition.steps.get(step)
    if found is None:
        yield f"it has no step `{step}`; say which takes its place, steps={{…}}"
    elif found.block:
        yield f"its step `{step}` lies inside of `{found.block}`"
    policies = {policy.id: policy for policy in old.definition.policies}
    for policy in new.definition.policies:
        if policies.get(policy.id) != policy:
            yield f"its policy `{policy.id}` is new, and does not know what the run has done"
    for name, declared in new.definition.inputs.items():
        if name not in state["frames"][0].get("inputs", {}) and declared.required and declared.default is None:
            yield f"it needs the input `{name}`"
    if new.definition.timed and state["now"] is None:
        yield "it keeps time, and the run does not"


def carried(migration: Migration, old: Plan, new: Plan, state: dict[str, Any]) -> dict[str, Any]:
    """The snapshot in the words of the other version; the cursor stands at its start, and is moved then."""
    frame = dict(state["frames"][0])
    for table in ("visits", "anew", "facts", "history", "answers", "claims"):
        if table in frame:
            frame[table] = {migration.name(name): value for name, value in frame[table].items()}
    if "incomplete" in frame:
        frame["incomplete"] = [migration.name(name) for name in frame["incomplete"]]
    for table in ("called", "doubted"):
        met = [leaves_of(old)[index] for index in frame.get(table, ())]
        frame[table] = [index for index, leaf in enumerate(leaves_of(new)) if leaf in met]
    frame["inputs"] = {n: v for n, v in frame.get("inputs", {}).items() if n in new.definition.inputs}
    cursor = {"state": new.definition.initial, "frame": 0}
    return {
        **state, "digest": new.definition.digest, "frames": [frame], "cursors": [cursor], "timers": [], "commands": [],
        "fresh": [], "watching": [], "held": [],
    }  # fmt: skip


def landing(definition: Definition, step: str) -> str:
    """Where a run enters the step: the router or the question before it, else the step itself."""
    mine = [state for state in definition.states.values() if state.step is not None and state.step.id == step]
    order = {StateKind.ROUTER: 0, StateKind.APPROVAL: 1}
    entries = [state for state in mine if state.kind is not StateKind.JOIN]
    return min(entries, key=lambda state: order.get(state.kind, 2)).name


def land(run: Run, state: str) -> None:
    """Enter the state, as any move would; limits in time count from the start of the run."""
    cursor = run.root
    cursor.state, cursor.row = state, run.plan.rows[state]
    for branch in run.plan.definition.termination:
        for leaf in leaves(branch.condition):
            if isinstance(leaf, TimeLimit) and run.started is not None:
                run.set_timer(Timer(run.started + timedelta(seconds=leaf.seconds), "limit", None, run.frame.path))
    enter(run, cursor, None)
    react(run)


def keep(journal: Journal, rebuilt: Rebuilt, session: Session, migration: Migration) -> None:
    """Write what was done, with all there is to go on from."""
    new = plan_of(migration.new).definition
    recorder = Recorder(journal, rebuilt.chain, rebuilt.veil, rebuilt.redactor, rebuilt.asked)
    body = {
        "digest": new.digest, "steps": dict(migration.steps), "now": stamp(session.now),
        "records": [rebuilt.redactor.record(to_json(record)) for record in session.records],
    }  # fmt: skip
    recorder.follow(session, rebuilt.before)
    recorder.migrated(body)
