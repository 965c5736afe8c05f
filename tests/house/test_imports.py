"""The import table of the house: which room may import what (docs/adr/0001)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("statemachine", "playbooks", "compiler", "runtime", "diagrams")

MAY: dict[str, dict[str, frozenset[str] | None]] = {
    # room -> package from outside the room -> files it may be imported in (None: any)
    "statemachine": {
        "transitions": frozenset({"machine.py"}),
        "networkx": frozenset({"graph.py"}),
        "re2": frozenset({"patterns.py"}),
    },
    "playbooks": {
        "pydantic": None,
        "pydantic_core": None,
        "annotated_types": None,  # the constraints of pydantic's own fields
        "yaml": frozenset({"reader.py"}),
        "guideway.statemachine": None,
    },
    "compiler": {
        "guideway.playbooks": None,
        "guideway.statemachine": None,
        "jsonschema": frozenset({"schemas.py"}),
        "referencing": frozenset({"schemas.py"}),
        "z3": frozenset({"smt.py"}),
    },
    "runtime": {
        "guideway.statemachine": None,
        "jsonschema": frozenset({"schemas.py"}),
        "referencing": frozenset({"schemas.py"}),
        "rich": frozenset(),
        "pydantic": frozenset({"hints.py"}),
        "pydantic_core": frozenset({"hints.py"}),
        "pydantic_ai": frozenset({"providers.py"}),
        "opentelemetry": frozenset({"spans.py"}),
    },
    "diagrams": {
        "guideway.statemachine": None,
        "graphviz": frozenset({"dot.py", "render.py"}),
        "pygraphviz": frozenset({"render.py"}),
    },
}
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute names a file imports anywhere, and how far its relative imports reach up."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level


def allowed(room: str, file: str, name: str) -> bool:
    """The table lets this file import the name."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or name.startswith(f"guideway.{room}"):
        return True
    for package, files in MAY[room].items():
        if name == package or name.startswith(package + "."):
            return files is None or file in files
    return False


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_what_its_room_may(path: Path) -> None:
    """
    Each import of a room's file stands in the table, and relative imports stay in their folder.
    """
    room = path.relative_to(ROOT).parts[0]
    wrong = [n for n, level in imported(path) if (level == 0 and not allowed(room, path.name, n)) or level > 1]

    assert wrong == []


def test_the_table_can_refuse() -> None:
    """
    The check itself is no rubber stamp.
    """
    assert not allowed("statemachine", "definition.py", "yaml")
    assert not allowed("runtime", "session.py", "guideway.compiler")
    assert not allowed("playbooks", "models.py", "yaml")
    assert allowed("playbooks", "reader.py", "yaml")


def test_no_import_cycle() -> None:
    """
    Modules of the house import one another in one direction only (imports made inside functions left out).
    """
    import networkx

    names = {module(path): path for path in [*FILES, *(ROOT / "src" / "guideway").glob("*.py")]}
    graph: networkx.DiGraph[str] = networkx.DiGraph(
        (name, target) for name, path in names.items() for target in top_level(name, path) & names.keys()
    )

    assert [sorted(group) for group in networkx.strongly_connected_components(graph) if len(group) > 1] == []


def module(path: Path) -> str:
    """The import name of a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "src" else ("guideway", *parts)
    return ".".join(part for part in parts if part != "__init__")


def top_level(name: str, path: Path) -> set[str]:
    """Modules imported when the file itself is imported."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            base = name if path.name == "__init__.py" else name.rpartition(".")[0]
            target = (
                f"{base}.{node.module}" if node.level and node.module else base if node.level else node.module or ""
            )
            found |= {target} | {f"{target}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found - {name}
