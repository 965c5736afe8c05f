"""Loading playbooks from files, texts and dicts, under the names the seed's users know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from guideway.statemachine.diagnostic import Diagnostic, Level
from guideway.statemachine.errors import PlaybookError

from .document import Document
from .limits import Limits
from .models import Playbook
from .quiet import no_collection
from .reader import read_data, read_file, read_text
from .validate import validate

_SHOWN = 10


class PlaybookLoadError(PlaybookError):
    """
    A playbook could not be loaded.

    `errors` holds one line per fault (`FILE:LINE:COL: error: … [CODE]`), `diagnostics` the same as values, warnings
    included; `path` is the file, where there was one.
    """

    def __init__(
        self,
        message: str,
        path: Path | None = None,
        errors: Sequence[str] | None = None,
        diagnostics: Iterable[Diagnostic] = (),
    ) -> None:
        self.path = path
        self.document: Document | None = None
        """what was read, where something was"""
        self.errors: list[str] = list(errors or ())
        super().__init__(message, diagnostics)


class PlaybookLoader:
    """
    Load playbooks from JSON and YAML.

    `limits` bound what is read (bytes, values, depth).  Every method raises `PlaybookLoadError` with all the faults,
    never another exception, whatever it is given.

    >>> PlaybookLoader().load_yaml_string("id: triage\\nname: Triage").id
    'triage'
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()

    def load_file(self, path: str | Path) -> Playbook:
        """Load a `.json`, `.yaml` or `.yml` file."""
        if not isinstance(path, str | Path):
            raise PlaybookLoadError(f"a path is a str or a Path, not {_kind(path)}")
        return _playbook(partial(read_file, path, limits=self.limits), Path(path))

    def load_dict(self, data: dict[str, Any]) -> Playbook:
        """Load plain data, as `json.load` gives it."""
        if not isinstance(data, dict):
            raise PlaybookLoadError(f"a playbook is a dict of keys, not {_kind(data)}")
        return _playbook(partial(read_data, data, limits=self.limits))

    def load_json_string(self, json_string: str) -> Playbook:
        """Load the text of a JSON file."""
        return _playbook(partial(read_text, _text(json_string), syntax="json", limits=self.limits))

    def load_yaml_string(self, yaml_string: str) -> Playbook:
        """Load the text of a YAML file."""
        return _playbook(partial(read_text, _text(yaml_string), syntax="yaml", limits=self.limits))


def load_playbook(source: str | Path | Mapping[str, Any], *, limits: Limits | None = None) -> Playbook:
    """
    Load a playbook from a dict, a path, or a text.

    A string that holds a newline or begins with `{` is JSON or YAML text; any other string is a path.
    Raises `PlaybookLoadError` with every fault of the source.

    >>> load_playbook({"id": "test", "name": "Test", "steps": []}).steps
    []
    >>> load_playbook('{"id": "test"}')
    Traceback (most recent call last):
    guideway.playbooks.loader.PlaybookLoadError: <text>:1:1: error: the playbook has no `name` [GW023]
    """
    loader = PlaybookLoader(limits)
    if isinstance(source, Mapping):
        return loader.load_dict(dict(source))
    if isinstance(source, Path):
        return loader.load_file(source)
    if not isinstance(source, str):
        raise PlaybookLoadError(f"a playbook comes from a path, a text or a dict, not from {_kind(source)}")
    return _playbook(partial(read_text, source, limits=loader.limits)) if is_text(source) else loader.load_file(source)


def is_text(source: str) -> bool:
    """
    Tell the text of a playbook from a path.

    >>> is_text("id: a\\nname: A"), is_text(' {"id": "a"}'), is_text("playbooks/triage.yaml")
    (True, True, False)
    """
    return "\n" in source or source.lstrip().startswith("{")


def _text(source: Any) -> str:
    if not isinstance(source, str):
        raise PlaybookLoadError(f"a text is a str, not {_kind(source)}")
    return source


def _kind(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _playbook(read: Callable[[], Document], path: Path | None = None) -> Playbook:
    with no_collection():
        document = read()
        playbook, found = validate(document)
    if playbook is None:
        error = load_error(document.file, found, path)
        error.document = document
        raise error
    return playbook


def load_error(file: str, found: Sequence[Diagnostic], path: Path | None = None) -> PlaybookLoadError:
    """Make the exception that holds all findings; its message shows the first of them."""
    errors = [str(finding) for finding in found if finding.level is Level.ERROR]
    message = errors[0] if len(errors) == 1 else f"{len(errors)} errors in {file}:"
    if len(errors) > 1:
        hidden = len(errors) - _SHOWN
        message = "\n  ".join([message, *errors[:_SHOWN], *([f"… and {hidden} more"] if hidden > 0 else [])])
    return PlaybookLoadError(message, path, errors, found)
