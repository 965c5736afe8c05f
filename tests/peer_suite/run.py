# ruff: noqa: T201 - a script whose answer is what it prints
"""
The suite of `transitions` itself, run with our `Machine` in the place of its own (`make peer-suite`).

The suite comes from the library's source archive, fetched once into `.peer/`.  After collection our class takes the
place of the stock one wherever the *test modules* hold it; classes the library builds on its own (nested, locked,
graph) stay what they are.  It must come out at 760 passed and none skipped, and it must really have been about us.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from functools import wraps
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
import transitions
from transitions import core

from guideway.statemachine import machine as ours

VERSION = "0.9.3"
FILES = tuple(f"tests/test_{name}.py" for name in ("core", "states", "enum", "add_remove", "reuse", "threading"))
PASSED, BUILT = 760, 380
ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / ".peer"
DOT = f"""#!{sys.executable}
# `dot`, as far as the `graphviz` package calls it, by the C library that pygraphviz carries.
import sys
from pathlib import Path
import pygraphviz
options = {{word[:2]: word[2:] for word in sys.argv[1:] if word.startswith("-")}}
[file] = [Path(word) for word in sys.argv[1:] if not word.startswith("-")] or [None]
graph = pygraphviz.AGraph(string=(file.read_text() if file else sys.stdin.read()))
picture = graph.draw(format=options["-T"], prog=options.get("-K", "dot"))
if "-O" in options:
    Path(f"{{file}}.{{options['-T']}}").write_bytes(picture)
else:
    sys.stdout.buffer.write(picture)
"""


class Substitution:
    """A pytest plugin: puts our class in the place of the stock one, and counts what comes of it."""

    def __init__(self) -> None:
        self.outcomes: dict[str, int] = {}
        self.built = self.short = 0
        """Tests in which our class was built, and in which an event of it took the short way."""
        self._builds = self._moves = self._library = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Replace the stock class in every module of the folders that hold the tests."""
        folders = {item.path.parent for item in session.items}
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if file and Path(file).parent in folders:
                substitute(module)
        self._count()

    def _count(self) -> None:
        def counted(kind: type, method: str, note: Callable[[bool], None]) -> None:
            stock = getattr(kind, method)

            @wraps(stock)
            def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
                before = plugin._library
                result = stock(self, *args, **kwargs)
                note(plugin._library == before)
                return result

            setattr(kind, method, wrapper)

        def library(_: bool) -> None:
            plugin._library += 1

        def build(_: bool) -> None:
            plugin._builds += 1

        def move(alone: bool) -> None:
            plugin._moves += alone

        plugin = self
        counted(core.Event, "trigger", library)
        counted(ours.Event, "trigger", move)
        counted(ours.Machine, "__init__", build)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        """Look at the counters before and after each test."""
        self._builds = self._moves = 0
        result = yield
        self.built += self._builds > 0
        self.short += self._moves > 0
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count outcomes; a set-up or tear-down counts when it is no success."""
        if report.when == "call" or not report.passed:
            self.outcomes[report.outcome] = self.outcomes.get(report.outcome, 0) + 1


def substitute(module: ModuleType) -> None:
    """Put our class wherever `module` holds the stock one: names, class attributes, bases, defaults of arguments."""
    for name, value in list(vars(module).items()):
        if value is core.Machine:
            setattr(module, name, ours.Machine)
        elif getattr(value, "__module__", None) == module.__name__:
            _substitute_in(value)


def _substitute_in(thing: Any) -> None:
    if isinstance(thing, FunctionType):
        thing.__defaults__ = thing.__defaults__ and tuple(_swap(value) for value in thing.__defaults__)
        thing.__kwdefaults__ = thing.__kwdefaults__ and {k: _swap(v) for k, v in thing.__kwdefaults__.items()}
    elif isinstance(thing, type):
        for name, value in list(vars(thing).items()):
            if value is core.Machine:
                setattr(thing, name, ours.Machine)
            elif isinstance(value, FunctionType):
                _substitute_in(value)
        if core.Machine in thing.__bases__:
            thing.__bases__ = tuple(map(_swap, thing.__bases__))
            super(thing, thing).__init_subclass__()  # type: ignore[arg-type]  # as its definition would have


def _swap(value: Any) -> Any:
    return ours.Machine if value is core.Machine else value


def fetch() -> Path:
    """Fetch the source archive once, take its tests, and give their folder."""
    suite = PEER / f"transitions-{VERSION}"
    if not (suite / "tests").is_dir():
        command = ["download", "-q", "--no-binary", ":all:", "--no-deps", "-d", str(PEER), f"transitions=={VERSION}"]
        subprocess.run([sys.executable, "-m", "pip", *command], check=True)
        with tarfile.open(PEER / f"transitions-{VERSION}.tar.gz") as archive:
            wanted = ("tests/", "pytest.ini", "conftest.py")
            members = [m for m in archive if m.name.partition("/")[2].startswith(wanted)]
            archive.extractall(PEER, members, filter="data")
    return suite


def provide_dot() -> None:
    """Give the pictures among the tests a `dot`: the one that is installed, else one made of pygraphviz."""
    if shutil.which("dot") is None:
        script = PEER / "bin" / "dot"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(DOT)
        script.chmod(0o755)
        os.environ["PATH"] = f"{script.parent}{os.pathsep}{os.environ['PATH']}"


def run(suite: Path, files: Sequence[str]) -> tuple[int, Substitution]:
    """Run `files` of the folder `suite` with our class in place; give pytest's exit status and what was counted."""
    plugin = Substitution()
    with chdir(suite):
        status = pytest.main(["-q", "-o", "addopts=", "-p", "no:cacheprovider", *files], plugins=[plugin])
    print(f"{plugin.outcomes}; our Machine was built in {plugin.built} tests and took the short way in {plugin.short}")
    return int(status), plugin


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the whole suite, or the files given; 0 if all is as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, help="a folder of tests to run instead of the library's")
    options = parser.parse_args(arguments)
    if options.suite:
        return run(options.suite, ["."])[0]
    if transitions.__version__ != VERSION:
        print(f"transitions {VERSION} must be installed, found {transitions.__version__}", file=sys.stderr)
        return 2
    suite = fetch()
    provide_dot()
    status, plugin = run(suite, FILES)
    as_wanted = plugin.outcomes == {"passed": PASSED} and plugin.built >= BUILT and plugin.short > 0
    print("as it must be" if as_wanted else f"WRONG: {PASSED} must pass, none be skipped, {BUILT} build our Machine")
    return 0 if as_wanted and status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
