"""What is in the package: a sub-package nobody listed would vanish from the wheel while every test stays green."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("statemachine", "playbooks", "compiler", "runtime", "diagrams")
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def folders() -> set[str]:
    """Every package folder of the tree, by import name."""
    found = {"guideway"}
    for base, prefix in [
        *((ROOT / room, ("guideway", room)) for room in ROOMS),
        (ROOT / "src" / "guideway", ("guideway",)),
    ]:
        for init in base.rglob("__init__.py"):
            below = init.parent.relative_to(base).parts
            if not (base.name == "guideway" and below and below[0] in ROOMS):
                found.add(".".join((*prefix, *below)))
    return found


def test_every_folder_is_listed() -> None:
    """
    The package list of pyproject.toml names exactly the package folders of the tree.
    """
    assert folders() == set(CONFIG["tool"]["setuptools"]["packages"])


def test_every_room_has_its_link() -> None:
    """
    Type checkers and editors find the rooms through links under src/guideway.
    """
    for room in ROOMS:
        link = ROOT / "src" / "guideway" / room
        assert link.resolve() == ROOT / room


def test_every_room_is_typed() -> None:
    """
    A marker tells type checkers to read our annotations.
    """
    assert [room for room in ROOMS if not (ROOT / room / "py.typed").exists()] == []


def test_importing_guideway_imports_nothing_heavy() -> None:
    """
    `import guideway` alone loads no room and no third-party package.
    """
    import subprocess
    import sys

    heavy = "('transitions', 'pydantic', 'networkx', 'yaml')"
    code = f"import sys, guideway; print([m for m in sys.modules if m.split('.')[0] in {heavy}])"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_imported() -> None:
    """
    The door opens: each name of `guideway.__all__` resolves.
    """
    import guideway

    assert all(getattr(guideway, name) is not None for name in guideway.__all__)
