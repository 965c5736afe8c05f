"""The peer suite is only worth something if our class really stands where the stock one stood."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).with_name("run.py")
HELPERS = """
from transitions import Machine


class Inherits(Machine):
    pass


class Patched(Machine):
    def set_state(self, state, model=None):
        super().set_state(state, model)


def default(kind=Machine, *, named=Machine):
    return kind, named


class Holder:
    kind = Machine

    def __init__(self, kind=Machine):
        self.chosen = kind
"""
TESTS = """
import transitions
from transitions import Machine
from transitions.extensions import LockedMachine
from .helpers import Holder, Inherits, Patched, default

OURS = "guideway.statemachine.machine"


def test_names_defaults_attributes_and_bases_are_ours():
    assert {c.__module__ for c in (Machine, *default(), Holder.kind, Holder().chosen, Inherits.__mro__[1])} == {OURS}


def test_what_the_library_builds_on_its_own_stays():
    assert OURS not in {c.__module__ for c in LockedMachine.__mro__}
    assert transitions.Machine.__module__ == "transitions.core"


def test_takes_the_short_way():
    machine = Machine(states=["A", "B"], initial="A")
    assert machine.to_B() and machine.state == "B"


def test_leaves_the_short_way():
    machine = Patched(states=["A", "B"], initial="A")
    assert machine.to_B() and machine.state == "B"
"""


def run(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a small suite of our own."""
    suite = folder / "small"
    suite.mkdir()
    for name, text in {"__init__": "", "helpers": HELPERS, "test_small": tests}.items():
        (suite / f"{name}.py").write_text(text)
    return subprocess.run([sys.executable, RUN, "--suite", folder], capture_output=True, text=True, check=False)


def test_our_class_takes_every_place_of_the_stock_one(tmp_path: Path) -> None:
    """
    Names, defaults, class attributes and bases of the test modules are ours; the library's own classes are not.
    """
    done = run(tmp_path, TESTS)

    assert done.returncode == 0, done.stdout
    assert re.search(r"\{'passed': 4\}; our Machine was built in 2 tests and took the short way in 1\n", done.stdout)


def test_a_failure_of_the_suite_is_a_failure_of_the_script(tmp_path: Path) -> None:
    """
    The exit status is not 0 when a test fails.
    """
    done = run(tmp_path, "def test_fails():\n    assert False\n")

    assert done.returncode == 1
    assert "{'failed': 1}; our Machine was built in 0 tests" in done.stdout
