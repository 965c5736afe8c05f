"""
Reading: a text, a file or a dict becomes a tree in which every key and value keeps its place.

Reading never stops at the first fault where going on is possible, never raises for what it reads, never recurses and
never executes anything.  Only this file knows PyYAML.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from guideway.statemachine.diagnostic import in_order
from guideway.statemachine.errors import HostError

from .builder import Builder, SpentError
from .cuts import CutError
from .data_events import read_values
from .decoding import cleaned, decoded, looks_like_json
from .document import Document
from .hints import Fault
from .json_events import JsonEvents, JsonStop
from .limits import Limits
from .repairs import Repairs
from .yaml_events import ALIAS, DOCUMENT, END, LIST, MAP, OTHER, SCALAR, YamlEvents

__all__ = ["Document", "Limits", "read_data", "read_file", "read_text"]

Syntax = Literal["yaml", "json"]
SUFFIXES: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
_DEFAULT = Limits()


def read_text(
    text: str | bytes, file: str = "<text>", *, syntax: Syntax | None = None, limits: Limits = _DEFAULT
) -> Document:
    """
    Read YAML or JSON.  Without `syntax`: JSON if the text begins with `{` and then `"` or `}`, else YAML.

    What is wrong with the text is in `diagnostics` (GW002 to GW018), nothing is raised for it.
    Raises `HostError` when PyYAML was built without libyaml.

    >>> document = read_text("id: triage\\nsteps:\\n  - id: look\\n")
    >>> document.root.plain(), str(document.span(["steps", 0, "id"]))
    ({'id': 'triage', 'steps': [{'id': 'look'}]}, '<text>:3:9')
    >>> print(*read_text("id: a\\nid: b").diagnostics)
    <text>:2:1: error: key `id` is written twice in one map; first at line 1, column 1 [GW007]
    """
    out = Builder(file, limits)
    source = decoded(text, out)
    if source is None:
        return Document(None, file, out.found, complete=False)
    syntax = syntax or ("json" if looks_like_json(source) else "yaml")
    clean = cleaned(source, syntax, out)
    if clean is None:
        return Document(None, file, out.found, complete=False)
    with _no_collections(len(clean)):
        return _read_json(clean, out) if syntax == "json" else _read_yaml(clean, out)


def read_file(path: str | Path, *, limits: Limits = _DEFAULT) -> Document:
    """
    Read a `.yaml`, `.yml` or `.json` file; what keeps it from being read is a finding too (GW001).

    >>> print(*read_file("no-such.yaml").diagnostics)
    no-such.yaml:1:1: error: cannot read the file: it does not exist [GW001]
    """
    path = Path(path)
    out = Builder(str(path), limits)
    syntax = SUFFIXES.get(path.suffix.lower())
    try:
        if path.is_dir():
            return _unreadable(out, "cannot read a folder as a playbook", "name a file")
        if syntax is None and path.exists():
            ending = f"`{path.suffix}`" if path.suffix else "no ending"
            return _unreadable(
                out, f"a playbook file ends in .yaml, .yml or .json; this one has {ending}", "rename the file"
            )
        if path.exists() and not path.is_file():
            return _unreadable(out, "cannot read a pipe or a device as a playbook", "name a file")
        with path.open("rb") as stream:
            raw = stream.read(limits.max_bytes + 1)
    except FileNotFoundError:
        return _unreadable(out, "cannot read the file: it does not exist", "check the path")
    except (OSError, ValueError) as why:
        reason = getattr(why, "strerror", None) or str(why)
        return _unreadable(out, f"cannot read the file: {reason.lower()}", "check the path and its permissions")
    return read_text(raw, str(path), syntax=syntax, limits=limits)


def read_data(data: Any, file: str = "<dict>", *, limits: Limits = _DEFAULT) -> Document:
    """
    Read a Python dict or list under the same limits; what is no JSON data is a finding that names its path (GW019).

    >>> print(*read_data({"steps": [{"id": b"x"}]}).diagnostics)
    <dict>:1:1: error: steps[0].id: bytes is no JSON value [GW019]
    """
    out = Builder(file, limits)
    try:
        read_values(data, out)
    except SpentError:
        return Document(out.root, file, out.found, complete=False, has_places=False)
    return Document(out.root, file, out.found, has_places=False)


def _unreadable(out: Builder, message: str, help_: str) -> Document:
    out.report("GW001", message, 1, 1, help_)
    return Document(None, out.file, out.found, complete=False)


def _finished(out: Builder, complete: bool) -> Document:
    if not out.found and (out.root is None or (out.root.value is None and out.root.text == "")):
        out.report("GW001", "the playbook is empty", 1, 1, "write at least `id`, `name` and `steps`")
        complete = False
    return Document(out.root, out.file, in_order(out.found), complete)


def _read_json(text: str, out: Builder) -> Document:
    try:
        JsonEvents(text, out).run()
    except (JsonStop, SpentError):
        return _finished(out, complete=False)
    return _finished(out, complete=True)


def _read_yaml(text: str, out: Builder) -> Document:
    """Read; at each syntax error whose repair is known, report it and read on as if it had been repaired."""
    import yaml

    kinds = _kinds(yaml)
    repairs = Repairs(text)
    while True:
        attempt = Builder(out.file, out.limits)
        try:
            with _events(yaml, repairs.text) as events:
                YamlEvents(text, kinds, attempt, repairs).run(events)
            complete = True
        except CutError as cut:
            repairs.make(cut.hint, out)  # where it cannot, the next reading reports without repairing
            continue
        except SpentError:
            complete = False
        except yaml.YAMLError as why:
            if repairs.take(_fault(why), out):
                continue
            complete = False
        attempt.found += out.found
        return _finished(attempt, complete)


@contextmanager
def _events(yaml: Any, text: str) -> Iterator[Iterator[Any]]:
    """What `yaml.parse` yields, without its generator: a fifth of the time of a large playbook."""
    loader = yaml.CSafeLoader(text)
    try:
        yield iter(loader.get_event, None)
    finally:
        loader.dispose()


@contextmanager
def _no_collections(length: int) -> Iterator[None]:
    """
    Hold the cycle collector while a large tree grows.

    Reading makes many objects and no cycle; looking for some takes a fifth of the time.
    """
    if length < 100_000 or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _kinds(yaml: Any) -> dict[type, int]:
    if not yaml.__with_libyaml__:
        raise HostError("PyYAML was installed without libyaml; install a wheel: `pip install --force-reinstall pyyaml`")
    return {
        yaml.ScalarEvent: SCALAR,
        yaml.MappingStartEvent: MAP,
        yaml.SequenceStartEvent: LIST,
        yaml.MappingEndEvent: END,
        yaml.SequenceEndEvent: END,
        yaml.AliasEvent: ALIAS,
        yaml.DocumentStartEvent: DOCUMENT,
        yaml.DocumentEndEvent: OTHER,
        yaml.StreamStartEvent: OTHER,
        yaml.StreamEndEvent: OTHER,
    }


def _fault(why: Any) -> Fault:
    """What libyaml says, apart from PyYAML's classes."""
    mark = getattr(why, "problem_mark", None) or getattr(why, "context_mark", None)
    context = getattr(why, "context_mark", None)
    return Fault(
        getattr(why, "problem", None) or str(why),
        getattr(why, "context", None) or "",
        mark.index if mark else 0,
        context.index if context else None,
    )
