"""People decide in processes of their own, and the run in another goes on: real processes, both kinds of journal."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from guideway.runtime.journal.messages import written

from .desk import GUIDEWAY, LEAD, Desk

Make = Callable[..., Desk]


@pytest.fixture(name="make")
def _make(tmp_path: Path) -> Iterator[Make]:
    """Desks, whose processes end with the test."""
    made: list[Desk] = []

    def make(journal: str = "runs.db", approval: str = LEAD) -> Desk:
        made.append(Desk(tmp_path, journal, approval))
        return made[-1]

    yield make
    for desk in made:
        desk.close()


@pytest.mark.parametrize("journal", ["runs.db", "kept/runs"])
def test_a_run_that_waits_goes_on_once_somebody_allows_it_elsewhere(make: Make, journal: str) -> None:
    """One process waits, another approves, the first goes on to its end; what is asked is shown before."""
    desk = make(journal)
    waiting = desk.begin("--wait")
    asked = desk.asked()
    shown = desk.guideway("approve", "r")
    said = desk.guideway("approve", "r", asked, "--by", "ines", "--group", "lead", "--note", "her laptop")
    ended = desk.end(waiting)

    assert shown.out == (
        f'{asked}: Isolate ws-7?\n  isolate\n    host = "ws-7"\n  may decide: lead, boss\n'
    )
    assert (said.status, said.out.splitlines()[0]) == (0, f"approve of '{asked}' by ines is on its way to run r")
    assert ended.status == 0
    assert "  answer contain approved by ines: her laptop\n" in ended.out
    assert f"decide with:  guideway approve r '{asked}' --by NAME --journal {journal}" in ended.err
    assert desk.done == ["look, key in sight: False", "isolate ws-7"]


def test_without_wait_the_run_says_how_to_decide_and_how_to_go_on(make: Make) -> None:
    """Status 3; the commands that it prints work as they stand."""
    desk = make()
    left = desk.run()
    commands = [line.split("with:  guideway ")[1] for line in left.err.splitlines() if "with:  guideway " in line]
    decided, resumed = (
        subprocess.run(
            [str(GUIDEWAY), *shlex.split(line.replace("NAME", "lead"))], cwd=desk.folder, capture_output=True,
            check=False,
        )
        for line in commands
    )  # fmt: skip

    assert left.status == 3
    assert [decided.returncode, resumed.returncode] == [0, 0]
    assert desk.done == ["look, key in sight: False", "isolate ws-7"]


def test_two_persons_must_allow_it_and_the_one_who_started_it_may_not(make: Make) -> None:
    """`count: 2` with `except`: the excluded one does not count, one person twice is refused, the second lets it go."""
    rule = '{ask: "Go?", approvers: [lead, boss], count: 2, except: "{{ run.started_by }}"}'
    desk = make(approval=rule)
    waiting = desk.begin("--wait", "--started-by", "otto")
    asked = desk.asked()
    excluded = desk.guideway("approve", "r", asked, "--by", "otto", "--group", "lead")
    desk.guideway("approve", "r", asked, "--by", "ines", "--group", "lead")
    desk.until(lambda found: found.questions[asked].said)
    twice = desk.guideway("approve", "r", asked, "--by", "ines", "--group", "lead")
    before = desk.standing().questions[asked].said
    desk.guideway("approve", "r", asked, "--by", "boss")
    ended = desk.end(waiting)

    assert (twice.status, twice.err) == (
        2, "guideway approve: ines has allowed it already; another person must, too\n"
    )  # fmt: skip
    assert before == ("ines",)
    assert (excluded.status, excluded.err) == (2, "guideway approve: otto may not decide this: otto may not\n")
    assert ended.status == 0
    assert [said["by"] for kind in ("allowed", "answered") for said in desk.records(kind)] == ["ines", "boss"]


def test_a_rejection_elsewhere_ends_it(make: Make) -> None:
    """The tool does not run."""
    desk = make()
    waiting = desk.begin("--wait")
    desk.guideway("reject", "r", desk.asked(), "--by", "boss", "--note", "not today")
    ended = desk.end(waiting)

    assert ended.status == 1
    assert ended.out.splitlines()[-1] == "end kept"
    assert desk.done == ["look, key in sight: False"]


def test_edited_arguments_are_gated_again(make: Make) -> None:
    """Arguments that a rule forbids change nothing; ones that are legal run, and only they do."""
    desk = make()
    waiting = desk.begin("--wait")
    asked = desk.asked()
    desk.guideway("approve", "r", asked, "--by", "lead", "--args", '{"host": "dc-1"}')
    desk.guideway("approve", "r", asked, "--by", "lead", "--args", '{"host": "ws-8"}')
    ended = desk.end(waiting)

    assert ended.status == 0
    assert "`approve` by lead does not count" in ended.out
    assert desk.done[1:] == ["isolate ws-8"]
    assert [(edited["by"], edited["args"]) for edited in desk.records("edited")] == [("lead", {"host": "ws-8"})]


def test_of_two_approvals_that_race_exactly_one_counts(make: Make) -> None:
    """Both are posted at once; the call is made once."""
    desk = make()
    waiting = desk.begin("--wait")
    asked = desk.asked()
    lines = [[str(GUIDEWAY), "approve", "r", asked, "--by", who, "--journal", "runs.db"] for who in ("lead", "boss")]
    racing = [subprocess.Popen(line, cwd=desk.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
              for line in lines]  # fmt: skip
    for process in racing:
        process.communicate()
    ended = desk.end(waiting)

    assert ended.status == 0
    assert len(desk.records("answered")) == 1
    assert desk.done.count("isolate ws-7") == 1


def test_a_question_expires_while_nobody_answers(make: Make) -> None:
    """The process that waits looks at the clock, too."""
    desk = make(approval='{ask: "Go?", approvers: [lead], timeout: 1s}')
    ended = desk.end(desk.begin("--wait"))

    assert ended.status == 1
    assert "  time   the question of contain has expired\n" in ended.out
    assert ended.out.splitlines()[-1] == "end kept"


def test_an_approval_after_the_deadline_is_refused(make: Make) -> None:
    """Posted while nobody drives the run, and carried out when the question has expired: it does not count."""
    desk = make(approval='{ask: "Go?", approvers: [lead], timeout: 2d}')
    left = desk.run("--at", "2026-03-03T09:00:00Z")
    desk.guideway("approve", "r", desk.asked(), "--by", "lead")
    late = desk.resume("--at", "2026-03-06T09:00:00Z")

    assert left.status == 3
    assert late.status == 1
    assert "end kept\n" in late.out
    assert "`approve` by lead does not count: it is decided already: expired\n" in late.out
    assert "`approve` by lead does not count" in desk.guideway("trace", "r").out
    assert desk.done == ["look, key in sight: False"]


def test_an_answer_takes_a_choice_and_fields(make: Make) -> None:
    """Values as JSON; an answer of another type is refused by the run, and the question stays."""
    desk = make()
    waiting = desk.begin("--wait", playbook="shift")
    asked = desk.asked()
    desk.guideway("answer", "r", asked, "them", "--field", "days=many", "--by", "ann", "--group", "desk")
    desk.guideway("answer", "r", "sure", "them", "--field", "days=3", "--by", "ann", "--group", "desk")
    ended = desk.end(waiting)

    assert ended.status == 0
    assert "`answer` by ann does not count" in ended.out
    assert desk.records("answered")[0]["answer"] == {"days": 3, "choice": "them"}
    assert ended.out.splitlines()[-1] == "end theirs"


def test_a_signal_comes_from_elsewhere(make: Make) -> None:
    """With what it carries."""
    desk = make()
    waiting = desk.begin("--wait", playbook="parcel")
    desk.until(lambda found: found.entries)
    said = desk.guideway("signal", "r", "shipped", '{"parcel": "p-9"}')
    ended = desk.end(waiting)

    assert (said.status, ended.status) == (0, 0)
    assert '  signal shipped {"parcel": "p-9"}\n' in ended.out


def test_an_agent_that_calls_the_command_line_without_the_key_is_refused_and_recorded(make: Make) -> None:
    """Torture row 1: a tool approves what it wants; its key is none, or its own; the journal tells of it."""
    desk = make()
    (desk.folder / "vault").mkdir()
    (desk.folder / "vault/key").write_text("k" * 64)
    (desk.folder / "mine").write_text("m" * 64)
    attempt = f"{GUIDEWAY} approve r contain --by lead --journal runs.db"
    key = ("--key", "vault/key")
    waiting = desk.begin("--wait", *key, AGENT_DECIDES=attempt)
    asked = desk.asked("vault/key")
    stood = desk.standing("vault/key").entries
    tried = desk.guideway("approve", "r", asked, "--by", "lead", "--key", "mine")
    desk.until(lambda found: found.entries > stood, "vault/key")
    before = desk.standing("vault/key").questions
    desk.guideway("reject", "r", asked, "--by", "boss", *key)
    ended = desk.end(waiting)

    assert desk.done[0].startswith("tool: 2 guideway approve: --key: run r was written with a key, and none was found")
    assert (tried.status, "another key" in tried.err) == (2, True)
    assert list(before) == [asked]
    assert (ended.status, ended.out.splitlines()[-1]) == (1, "end kept")
    assert ended.out.count("does not count: it is not signed with the key of this run") == 2
    told = desk.guideway("trace", "r", *key).out
    assert told.count("does not count: it is not signed with the key of this run") == 2


def test_a_forged_message_in_the_inbox_counts_for_nothing(make: Make) -> None:
    """Written into the file by whoever can write it, with a key of its own: refused, and recorded."""
    desk = make()
    waiting = desk.begin("--wait")
    asked, journal, stood = desk.asked(), desk.journal(), desk.standing().entries
    journal.post("r", written("r", "approve", {"approval_id": asked, "by": "lead", "groups": []}, b"m" * 64))
    journal.close()
    desk.until(lambda found: found.entries > stood)
    still = desk.standing().questions
    desk.guideway("reject", "r", asked, "--by", "boss")
    ended = desk.end(waiting)

    assert asked in still
    assert ended.status == 1
    assert "isolate ws-7" not in desk.done
    assert "not signed with the key" in str(desk.records("noted"))


def test_the_key_of_the_environment_is_out_of_sight_of_tools(make: Make) -> None:
    """`GUIDEWAY_KEY` signs the run, and no tool finds it in its environment."""
    desk = make()
    desk.run(GUIDEWAY_KEY="e" * 64)
    unsigned = desk.guideway("verify", "r")
    signed = desk.guideway("verify", "r", GUIDEWAY_KEY="e" * 64)

    assert desk.done == ["look, key in sight: False"]
    assert (unsigned.status, signed.status) == (1, 0)
    assert not (desk.folder / "runs.db.key").exists()


@pytest.mark.parametrize(("line", "said"), [
    ("approve r contain", "--by: a decision names the person who makes it"),
    ("approve r contain --by mallory", "mallory may not decide this; lead, boss may"),
    ("approve r elsewhere --by lead", "nobody is asked 'elsewhere' in run r"),
    ("answer r contain yes --by lead", "asks for another decision, not `answer`"),
    ("approve s contain --by lead", "RUN: runs.db holds no run s; the latest are r"),
    ("approve r contain --by lead --args 7", "--args: 7 is no JSON object"),
    ("approve r contain --by lead --args {", "--args: { is no JSON"),
    ("answer r contain yes --by lead --field days", "--field: days must be written key=value"),
    ("reconcile r contain --by lead", "--happened: say that it did, or --did-not-happen"),
    ("reconcile r contain --did-not-happen --result 1 --by lead", "--result: only a call that --happened has one"),
    ("signal r go {", "JSON: { is no JSON"),
    ("approve r contain --by lead --key nowhere", "--key: the key nowhere cannot be read: No such file"),
    ("verify", "RUN: name one, or give --all"),
    ("verify --all --head 00", "--head: it is the hash of one run"),
])  # fmt: skip
def test_what_cannot_count_is_refused_at_once(
    make: Make, monkeypatch: pytest.MonkeyPatch, guideway: Callable[..., object], line: str, said: str
) -> None:
    """One sentence, status 2, and nothing is posted."""
    desk = make()
    monkeypatch.chdir(desk.folder)
    guideway("run", "contain.yaml", "--tools", "tools.py", "--input", "host=ws-7", "--journal", "runs.db",
             "--run-id", "r")  # fmt: skip
    result = guideway(*line.split(), "--journal", "runs.db")
    journal = desk.journal()

    assert result.status == 2  # type: ignore[attr-defined]
    assert said in result.err  # type: ignore[attr-defined]
    assert journal.posted("r") == []
    journal.close()
