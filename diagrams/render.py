"""
A picture as a file: SVG, PNG, PDF, DOT or Mermaid.

SVG, PNG and PDF are drawn by Graphviz, in a child process with a time-out: a dense graph can keep it busy for minutes.
It is the `dot` on the PATH, else the one that the package pygraphviz brings.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from guideway.statemachine.errors import GuidewayError

from .dot import dot
from .mermaid import mermaid
from .picture import Picture

TIMEOUT = 60.0
"""Seconds given to Graphviz."""
DRAWN = ("svg", "png", "pdf")
TEXTS = ("dot", "mmd")

_CHILD = """
import sys, pygraphviz
drawing = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode()).draw(format=sys.argv[1], prog="dot")
sys.stdout.buffer.write(drawing)
"""


class RenderError(GuidewayError):
    """The picture could not be drawn: no renderer, a renderer that failed or took too long, an unknown format."""


def render(picture: Picture, path_or_format: str | Path, *, timeout: float = TIMEOUT) -> bytes:
    """
    Draw a picture, in the format named or that of the path's suffix; nothing is written to the path.

    `timeout` is in seconds.  Raises `RenderError`.
    """
    form = _form(path_or_format)
    if form == "mmd":
        return mermaid(picture).encode()
    drawn = dot(picture)
    if form == "dot":
        return str(drawn.source).encode()
    if form == "png":
        drawn.graph_attr["dpi"] = "144"
    return _run(_command(form), drawn.source, timeout)


def save(picture: Picture, path: str | Path, *, timeout: float = TIMEOUT) -> None:
    """
    Draw a picture into a file, in the format of its suffix.

    Raises `RenderError`, also where the file cannot be written.
    """
    drawing = render(picture, path, timeout=timeout)
    try:
        Path(path).write_bytes(drawing)
    except OSError as fault:
        raise RenderError(f"{path} cannot be written: {fault.strerror or fault}") from None


def _form(path_or_format: str | Path) -> str:
    text = str(path_or_format)
    form = (Path(text).suffix.removeprefix(".") or text.removeprefix(".")).lower()
    if form not in DRAWN + TEXTS:
        raise RenderError(f"`{text}` names no format of a picture; there are {', '.join(DRAWN + TEXTS)}")
    return form


def _command(form: str) -> list[str]:
    """Choose the child that draws."""
    if found := shutil.which("dot"):
        return [found, f"-T{form}"]
    if find_spec("pygraphviz") is None or not sys.executable:
        raise RenderError(
            "no Graphviz found: install it so that `dot` is on the PATH (https://graphviz.org/download/), "
            "or `pip install 'guideway[diagrams]'`, which brings one along; .dot and .mmd need neither"
        )
    return [sys.executable, "-c", _CHILD, form]


def _run(command: list[str], source: str, timeout: float) -> bytes:
    try:
        # The command is ours; what an author wrote goes to its standard input.
        done = subprocess.run(command, input=source.encode(), capture_output=True, timeout=timeout, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise RenderError(
            f"Graphviz took longer than {timeout:g} s: the picture is too dense to be drawn; give it more time, "
            "or take .dot or .mmd, which are only text"
        ) from None
    except OSError as fault:
        raise RenderError(f"Graphviz could not be started: {fault}") from None
    if done.returncode != 0 or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise RenderError(f"Graphviz could not draw the picture: {said[-1] if said else f'status {done.returncode}'}")
    return done.stdout
