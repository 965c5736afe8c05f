"""Playbooks that call others: where they are found, what may not be, and the one machine that comes out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import guideway
from guideway.compiler import Library, compile_playbook, link
from guideway.compiler.heads import MOST_FILES
from guideway.playbooks.loader import load_playbook
from guideway.playbooks.models import Playbook
from guideway.statemachine.artifact import dump, load
from guideway.statemachine.definition import Definition, StateKind
from guideway.statemachine.diagnostic import Diagnostic
from guideway.statemachine.errors import PlaybookError

from .corpus import SKILLS
from .corpus import files as corpus

LOOK = {"id": "look", "call": {"tool": "lookup", "args": {"ip": "{{ inputs.ip }}"}}}
ENRICH: dict[str, Any] = {
    "id": "enrich", "name": "Enrich", "inputs": {"ip": "string"}, "outputs": {"score": "facts.look.score"},
    "steps": [LOOK],
}  # fmt: skip


def calling(*names: str, id: str = "triage", given: Mapping[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    """A playbook whose steps s0, s1 … call the playbooks named."""
    steps = [{"id": f"s{n}", "playbook": name, "with": dict(given or {})} for n, name in enumerate(names)]
    return {"id": id, "name": id, "steps": steps, **top}


def simple(id: str, **top: Any) -> dict[str, Any]:
    """A playbook of one call."""
    return {"id": id, "name": id, "steps": [{"id": "act", "call": {"tool": f"tool_of_{id}"}}], **top}


def files(folder: Path, **playbooks: Any) -> Path:
    """Write playbooks as files, `__` in a name for a folder; give the folder."""
    for name, playbook in playbooks.items():
        path = folder / (name.replace("__", "/") + ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(playbook if isinstance(playbook, str) else json.dumps(playbook), encoding="utf-8")
    return folder


def found(source: Any, **keys: Any) -> list[Diagnostic]:
    """Check a playbook, and those it calls."""
    return guideway.check(source, **keys)


def codes(source: Any, **keys: Any) -> list[str]:
    """Give the codes of what was found."""
    return [finding.code for finding in found(source, **keys)]


def machine(source: Any, **keys: Any) -> Definition:
    """Load a playbook that is sound."""
    definition = guideway.load(source, **keys).definition
    assert definition is not None
    return definition


# --- where a playbook is found ---------------------------------------------------------------------------------------


def test_a_playbook_is_found_by_its_id_beside_the_caller(tmp_path: Path) -> None:
    """The name of the file does not matter, and neither does the form; YAML and JSON lie side by side."""
    files(tmp_path, main=calling("enrich", "note", given={}), other=simple("enrich"), stray="no playbook at all")
    (tmp_path / "n.yml").write_text("# A note\nname: Note\nid: 'note'  # quoted\n", encoding="utf-8")

    assert list(machine(tmp_path / "main.json").callees) == ["enrich", "note"]


def test_imports_say_where_a_file_is(tmp_path: Path) -> None:
    """The path is relative to the file it stands in, also in a playbook that is called itself."""
    files(
        tmp_path,
        main=calling("mid", imports={"mid": "./parts/mid.json"}),
        parts__mid=calling("low", id="mid", imports={"low": "../deep/low.json"}),
        deep__low=simple("low"),
    )

    assert list(machine(tmp_path / "main.json").callees) == ["mid", "low"]


def test_imports_may_give_a_playbook_another_name(tmp_path: Path) -> None:
    """The step says the name of `imports`; the machine, the trace and the digest say the id."""
    files(tmp_path, main=calling("scan", imports={"scan": "x.json"}), x=simple("vendor-scan-v2"))
    definition = machine(tmp_path / "main.json")

    assert definition.steps["s0"].playbook is not None
    assert definition.steps["s0"].playbook.playbook == "vendor-scan-v2"
    assert list(definition.callees) == ["vendor-scan-v2"]


def test_imports_win_over_what_lies_beside(tmp_path: Path) -> None:
    """What the page names is what is meant."""
    files(
        tmp_path,
        main=calling("enrich", imports={"enrich": "new/enrich.json"}),
        enrich=simple("enrich", version="1"),
        new__enrich=simple("enrich", version="2"),
    )

    assert machine(tmp_path / "main.json").callees["enrich"].version == "2"


def test_playbooks_may_be_given(tmp_path: Path) -> None:
    """In any form a source has; they go before what lies beside the file."""
    files(tmp_path, main=calling("enrich"), enrich=simple("enrich", version="beside"))
    given = simple("enrich", version="given")
    forms: list[Any] = [given, json.dumps(given), load_playbook(given), Playbook.model_validate(given)]

    assert machine(tmp_path / "main.json").callees["enrich"].version == "beside"
    for form in forms:
        assert machine(tmp_path / "main.json", library=[form]).callees["enrich"].version == "given"
        assert machine(calling("enrich"), library=[form]).callees["enrich"].version == "given"


def test_a_text_is_given_a_folder_by_its_root(tmp_path: Path) -> None:
    """A dict comes from no file: its paths lead from the root, where there is one."""
    files(tmp_path, enrich=simple("enrich"), parts__note=simple("note"))
    source = calling("enrich", "note", imports={"note": "parts/note.json"})

    assert list(machine(source, root=tmp_path).callees) == ["enrich", "note"]
    assert codes(source) == ["GW140", "GW141"]
    assert "comes from no file" in found(source)[1].message


def test_a_given_file_looks_in_its_own_folder(tmp_path: Path) -> None:
    """What it calls lies beside it, and not beside the playbook that calls it."""
    files(tmp_path, a__main=calling("mid"), b__mid=calling("low", id="mid"), b__low=simple("low"), a__low=simple("x"))
    library = [tmp_path / "b" / "mid.json"]

    assert list(machine(tmp_path / "a" / "main.json", library=library).callees) == ["mid", "low"]
    assert list(machine(calling("mid"), library=library).callees) == ["mid", "low"]
    assert codes(tmp_path / "a" / "main.json", library=library, root=tmp_path / "a") == ["GW140"]


def test_callees_may_be_given_to_the_compiler_by_the_names_steps_use() -> None:
    """`compile_playbook` takes them as a map, and puts the machines together."""
    enrich = load_playbook(ENRICH)
    made = compile_playbook(load_playbook(calling("e", given={"ip": "x"})), callees={"e": enrich}).definition

    assert made is not None
    assert list(made.callees) == ["enrich"]


def test_a_caller_knows_what_comes_back() -> None:
    """`facts.STEP` has the outputs and the outcome of the playbook, and nothing else."""
    source = calling("enrich", given={"ip": "x"})

    def reads(when: str) -> list[str]:
        steps = [*source["steps"], {"id": "then", "when": when, "call": {"tool": "t"}}]
        return codes({**source, "steps": steps}, library=[ENRICH])

    assert reads('facts.s0.score > 3 && facts.s0.outcome == "success"') == []
    assert reads("facts.s0.scoore > 3") != []


# --- what may not be -------------------------------------------------------------------------------------------------


def test_nothing_outside_the_root_is_read(tmp_path: Path) -> None:
    """Neither by a path upwards nor by an absolute one; the file is not even opened."""
    files(tmp_path, secret=simple("secret"), in__main=calling("a", "b", imports={"a": "../secret.json"}))
    main = tmp_path / "in" / "main.json"
    main.write_text(json.dumps(calling("a", "b", imports={"a": "../secret.json", "b": str(tmp_path / "secret.json")})))

    assert codes(main) == ["GW141", "GW141"]
    assert codes(main, root=tmp_path / "in") == ["GW141", "GW141"]
    assert codes(main, root=tmp_path) == []


def test_a_symbolic_link_out_of_the_root_is_refused(tmp_path: Path) -> None:
    """As a file, as a folder on the way, and beside the caller."""
    files(tmp_path, out__secret=simple("secret"), main=calling("a", "b", "secret"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "link.json").symlink_to(tmp_path / "out" / "secret.json")
    (home / "far").symlink_to(tmp_path / "out")
    main = home / "main.json"
    main.write_text(json.dumps(calling("a", "b", "secret", imports={"a": "link.json", "b": "far/secret.json"})))

    assert codes(main) == ["GW141", "GW141", "GW140"]
    assert codes(main, root=tmp_path) == []


def test_a_link_within_the_root_is_as_good_as_the_file(tmp_path: Path) -> None:
    """And two names for one file are one playbook, not two with an id."""
    files(tmp_path, main=calling("enrich"), enrich=simple("enrich"))
    (tmp_path / "same.json").symlink_to(tmp_path / "enrich.json")

    assert codes(tmp_path / "main.json") == []


def test_a_caller_outside_the_root_reads_nothing(tmp_path: Path) -> None:
    """The root holds for what lies beside the first playbook, too."""
    files(tmp_path, main=calling("enrich"), enrich=simple("enrich"), elsewhere__x=simple("x"))

    assert codes(tmp_path / "main.json", root=tmp_path / "elsewhere") == ["GW140"]


@pytest.mark.parametrize("path", ["no.json", "parts", "enrich.machine.json", "enrich.txt", "a" * 300 + ".json", "."])
def test_an_import_names_the_file_of_a_playbook(tmp_path: Path, path: str) -> None:
    """A folder, a machine, another ending, a name that cannot be one: told where it is written."""
    files(tmp_path, main=calling("a", imports={"a": path}), parts__x=simple("x"))
    (tmp_path / "enrich.machine.json").write_text("{}")
    (tmp_path / "enrich.txt").write_text("id: a")

    assert codes(tmp_path / "main.json") == ["GW141"]


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    """It would be read without end."""
    files(tmp_path, main=calling("a", "b", imports={"a": "pipe.yaml"}))
    os.mkfifo(tmp_path / "pipe.yaml")

    assert codes(tmp_path / "main.json") == ["GW141", "GW140"]


def test_an_unknown_playbook_has_the_nearest_suggested(tmp_path: Path) -> None:
    """Of those beside, those given, and those under `imports`."""
    files(tmp_path, main=calling("enrihc", "noot", "scna", imports={"scan": "x.json"}), e=simple("enrich"))
    helps = [finding.help or "" for finding in found(tmp_path / "main.json", library=[simple("note")])]

    assert ["`enrich`" in helps[0], "`note`" in helps[1], "`scan`" in helps[2]] == [True, True, True]


def test_a_ring_is_named_where_it_closes(tmp_path: Path) -> None:
    """A playbook that calls itself, and one that comes back by way of others."""
    files(tmp_path, a=calling("b", "c", id="a"), b=calling("c", id="b"), c=calling("a", id="c"))
    [finding, *rest] = [each for each in found(tmp_path / "a.json") if each.code == "GW143"]

    assert rest == []
    assert "`a` → `b` → `c` → `a`" in finding.message
    assert finding.span.file == str(tmp_path / "c.json")
    assert codes(calling("me", id="me"), library=[calling("me", id="me")]) == ["GW143"]


def test_a_playbook_called_twice_is_no_ring_and_compiled_once() -> None:
    """Two ways to one playbook are two calls of it."""
    library = [calling("low", id="left"), calling("low", id="right"), simple("low")]

    assert list(machine(calling("left", "right", "low"), library=library).callees) == ["left", "low", "right"]


def test_two_playbooks_with_the_id_that_is_called_are_told_apart_by_nobody(tmp_path: Path) -> None:
    """Beside one another, given twice, or under `imports` and beside: the step that calls is where it matters."""
    files(tmp_path, main=calling("twin"), a=simple("twin"), b=simple("twin"), unrelated=simple("x"), copy=simple("x"))

    [finding] = found(tmp_path / "main.json")
    assert finding.code == "GW142"
    assert "a.json and b.json" in finding.message
    assert codes(calling("twin"), library=[simple("twin"), simple("twin")]) == ["GW142"]


def test_a_callee_may_not_have_the_id_of_its_caller(tmp_path: Path) -> None:
    """One id in one machine is one playbook."""
    files(tmp_path, main=calling("other", imports={"other": "o.json"}), o=simple("triage"))

    assert codes(tmp_path / "main.json") == ["GW142"]


def test_faults_of_a_callee_are_its_own(tmp_path: Path) -> None:
    """They stand in its file; where it is called one line says which file."""
    files(tmp_path, main=calling("bad", "worse"), b={**simple("bad"), "stepz": []}, w=calling("nobody", id="worse"))
    (tmp_path / "b.json").write_text(
        '{"id": "bad", "name": "B", "steps": [{"id": "x", "call": {"tool": "t"}, "next": "y"}]}'
    )
    by_file = {(Path(finding.span.file).name, finding.code) for finding in found(tmp_path / "main.json")}

    assert by_file == {("b.json", "GW110"), ("main.json", "GW144"), ("w.json", "GW140")}


def test_a_callee_that_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    """Its faults of shape once, however many steps call it, and each of those says so."""
    files(tmp_path, main=calling("bad", "bad"), b={**simple("bad"), "stepz": []})
    result = [finding.code for finding in found(tmp_path / "main.json")]

    assert sorted(result) == ["GW020", "GW144", "GW144"]


def test_a_callee_with_a_fault_of_flow_cannot_be_used(tmp_path: Path) -> None:
    """`load` refuses with the findings of both."""
    lost = {"id": "lost", "call": {"tool": "t"}}
    callee = {**simple("enrich"), "steps": [{"id": "a", "call": {"tool": "t"}, "next": "success"}, lost]}
    files(tmp_path, main=calling("enrich"), e=callee)

    with pytest.raises(PlaybookError) as caught:
        guideway.load(tmp_path / "main.json")
    assert [finding.code for finding in caught.value.diagnostics] == ["GW201"]
    assert list(machine(tmp_path / "main.json", flow=False).callees) == ["enrich"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"ip": "10.0.0.1"}, []),
        ({"ip": "{{ inputs.x }}"}, []),
        ({}, ["GW705"]),
        ({"ip": 5}, ["GW706"]),
        ({"ip": "a", "hours": "many"}, ["GW706"]),
        ({"ip": "a", "hours": "{{ inputs.x }}"}, []),
        ({"ip": "a", "tags": ["b", 3]}, ["GW706"]),
        ({"ip": "a", "tags": ["b", "{{ inputs.x }}"]}, []),
        ({"ip": "a", "colour": "red"}, ["GW704"]),
        ({"ipp": "a"}, ["GW704"]),
        ({"ip": "{{ inputs.y }}"}, ["GW113"]),
        ({"ip": "{{ args.y }}"}, ["GW117"]),
    ],
    ids=str,
)
def test_what_is_given_fits_what_is_declared(given: dict[str, Any], expected: list[str]) -> None:
    """Names, values that are plain, and what is missing; a template is judged when it has a value."""
    tags = {"type": "array", "items": {"type": "string"}, "required": False}
    callee = {**ENRICH, "inputs": {"ip": "string", "hours": {"type": "integer", "default": 3}, "tags": tags}}

    assert codes(calling("enrich", given=given, inputs={"x": "string"}), library=[callee]) == expected


# --- limits ----------------------------------------------------------------------------------------------------------


def test_a_huge_folder_is_not_looked_through(tmp_path: Path) -> None:
    """Past a thousand playbooks `imports` has to say which; with it nothing is looked through."""
    files(tmp_path, main=calling("enrich"), enrich=simple("enrich"))
    for number in range(MOST_FILES):
        (tmp_path / f"f{number}.yaml").touch()

    [finding] = found(tmp_path / "main.json")
    assert (finding.code, "imports: {enrich: ./enrich.yaml}" in (finding.help or "")) == ("GW141", True)
    files(tmp_path, main=calling("enrich", imports={"enrich": "enrich.json"}))
    assert codes(tmp_path / "main.json") == []


def test_files_that_are_not_called_are_not_read_whole(tmp_path: Path) -> None:
    """A broken neighbour is nobody's fault but its own, and costs no reading."""
    files(tmp_path, main=calling("enrich"), enrich=simple("enrich"), broken='{"id": "x", "name": [')
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)))

    assert codes(tmp_path / "main.json") == []


def test_a_long_chain_of_playbooks_is_no_deep_recursion() -> None:
    """A thousand playbooks, each calling the next."""
    last = 1000
    library = [calling(f"p{n + 1}", id=f"p{n}") for n in range(last)] + [simple(f"p{last}")]
    linked = link(load_playbook(library[0]), Library((each["id"], load_playbook(each)) for each in library[1:]))

    assert linked.definition is not None
    assert len(linked.definition.callees) == last


def test_limits_hold_for_callees(tmp_path: Path) -> None:
    """What is read of each file is bounded as that of the first."""
    files(tmp_path, main=calling("enrich"), enrich=simple("enrich", description="x" * 5000))

    assert codes(tmp_path / "main.json", limits=guideway.Limits(max_bytes=1000)) != []
    assert codes(tmp_path / "main.json", limits=guideway.Limits(max_bytes=10_000)) == []


# --- the machine -----------------------------------------------------------------------------------------------------


def test_callees_lie_flat_in_the_first_machine() -> None:
    """By id, each by itself, whatever the depth of the calls."""
    definition = machine(calling("mid"), library=[calling("low", id="mid"), simple("low")])

    assert {name: list(callee.callees) for name, callee in definition.callees.items()} == {"mid": [], "low": []}
    assert definition.states["s0"].kind is StateKind.FRAME
    assert definition.calls_others == {"mid"}


def test_the_digest_covers_what_is_called() -> None:
    """S50: a change in a playbook that is called, however deep, is a change of the machine."""
    library = [calling("low", id="mid"), simple("low")]
    changed = [calling("low", id="mid"), simple("low", version="2")]
    source = calling("mid")

    assert machine(source, library=library).digest == machine(source, library=library[::-1]).digest
    assert machine(source, library=library).digest != machine(source, library=changed).digest


def test_an_artifact_holds_what_is_called() -> None:
    """The machine runs with no playbook at hand; states of callees share their steps again."""
    definition = machine(calling("mid"), library=[calling("low", id="mid"), simple("low")])
    back = load(dump(definition))

    assert back == definition
    assert back.digest == definition.digest
    assert back.callees["low"].states["act"].step is back.callees["low"].steps["act"]


@pytest.mark.parametrize("path", corpus("ok"), ids=lambda path: path.stem)
def test_every_sound_playbook_survives_its_artifact(path: Path) -> None:
    """Whatever the compiler makes, with blocks, policies and calls, holds together when it is read back."""
    definition = machine(path, skills=SKILLS)

    assert load(dump(definition)) == definition


def test_skills_serve_callees_and_what_lacks_holds_up_the_whole() -> None:
    """A skill that a callee uses is resolved by the same map; unresolved, a session of the caller must not start."""
    step = {"id": "look", "description": "Look", "uses": ["siem"]}
    source, library = calling("enrich"), [{**simple("enrich"), "steps": [step]}]
    callee = machine(source, library=library, skills={"siem": ["query"]}).callees["enrich"]

    assert callee.steps["look"].work is not None
    assert [entry.tool for entry in callee.steps["look"].work.entries] == ["query"]
    assert machine(source, library=library).unresolved_skills == ("siem",)
