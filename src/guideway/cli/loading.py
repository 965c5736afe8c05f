"""Playbooks and machines as arguments of commands."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .status import MisuseError, OutputError, UnusableError

if TYPE_CHECKING:
    from guideway.compiler.library import Library
    from guideway.playbooks.document import Document
    from guideway.playbooks.limits import Limits
    from guideway.statemachine.definition import Definition
    from guideway.statemachine.diagnostic import Diagnostic

Skills = Mapping[str, Sequence[str]]
ARTIFACT = ".machine.json"
SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"
Texts = dict[str, str]
"""Sources that are no files, by the name that findings give them."""


def playbook_files(paths: Sequence[str]) -> Iterator[str]:
    """
    Spread folders to the playbooks under them (hidden folders and compiled machines left out), sorted.

    Raises:
        MisuseError: a path does not exist, a folder holds no playbook, or a file is a compiled machine.
    """
    for path in paths:
        if path == STDIN:
            yield path
        elif path.endswith(ARTIFACT):
            raise MisuseError(f"PATHS: {path} is a compiled machine; check the playbook it was made from")
        elif exists(path, "PATHS").is_dir():
            yield from _under(Path(path))
        else:
            file_of(path, "PATHS")
            yield path


def _under(folder: Path) -> Iterator[str]:
    found = [
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in SUFFIXES and not file.name.endswith(ARTIFACT) and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts) and not _is_list(file)
    ]  # fmt: skip
    if not found:
        raise MisuseError(f"PATHS: {folder} holds no .yaml, .yml or .json file")
    yield from map(str, sorted(found))


def _is_list(file: Path) -> bool:
    """A JSON list, such as recorded decisions beside a playbook, is no playbook."""
    if file.suffix.lower() != ".json":
        return False
    try:
        with file.open("rb") as stream:
            return stream.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    except OSError:
        return False


def exists(path: str, argument: str) -> Path:
    """
    The path, if something is there.

    Raises:
        MisuseError: nothing is, or its name cannot be one.
    """
    try:
        found = Path(path)
        if found.exists():
            return found
    except (OSError, ValueError):
        pass
    raise MisuseError(f"{argument}: {path} does not exist")


def file_of(path: str, argument: str) -> Path:
    """
    The path, if a file is there.

    Raises:
        MisuseError: nothing is there, or a folder, or what would be read without end (a pipe, a device).
    """
    found = exists(path, argument)
    if found.is_dir():
        raise MisuseError(f"{argument}: {path} is a folder; name a file")
    if not found.is_file():
        raise MisuseError(f"{argument}: {path} is a pipe or a device; name a file")
    return found


def folder_of(root: str | None) -> str | None:
    """
    The folder that `--root` names.

    Raises:
        MisuseError: there is none.
    """
    if root is not None and not exists(root, "--root").is_dir():
        raise MisuseError(f"--root: {root} is no folder")
    return root


def document_of(path: str, texts: Texts, limits: Limits | None = None) -> Document:
    """Read a playbook from a file, or from standard input, whose text is kept in `texts`."""
    from guideway.playbooks.limits import Limits
    from guideway.playbooks.reader import read_file, read_text

    limits = limits or Limits()
    if path != STDIN:
        return read_file(path, limits=limits)
    raw = sys.stdin.buffer if hasattr(sys.stdin, "buffer") else sys.stdin
    source = raw.read(limits.max_bytes + 1)
    texts["<stdin>"] = source if isinstance(source, str) else source.decode("utf-8", "replace")
    return read_text(source, "<stdin>", limits=limits)


def findings(
    path: str, skills: Skills, texts: Texts, limits: Limits | None = None, library: Library | None = None
) -> list[Diagnostic]:
    """Everything that is known to be wrong with a playbook and those it calls, in the order of the page."""
    return examine(path, skills, texts, limits, library)[1]


def examine(
    path: str, skills: Skills, texts: Texts, limits: Limits | None = None, library: Library | None = None
) -> tuple[Definition | None, list[Diagnostic]]:
    """Read, validate, compile and check one playbook; what was found, those of reading included."""
    from guideway.compiler.checking import check_names
    from guideway.compiler.checking import examine as compiled_and_checked
    from guideway.compiler.library import Library
    from guideway.playbooks.validate import validate
    from guideway.statemachine.diagnostic import in_order

    document = document_of(path, texts, limits)
    playbook, found = validate(document)
    if playbook is None:
        return None, in_order([*found, *check_names(document, skills=skills)])
    if library is None:
        library = Library(root=root_of(path), limits=limits)
    compiled = compiled_and_checked(playbook, skills=skills, library=library)
    return compiled.definition, in_order([*found, *compiled.diagnostics])


def root_of(path: str) -> str | None:
    """The folder out of which no playbook is read: for standard input the present one, else that of the file."""
    return os.curdir if path == STDIN else None


def definition_of(path: str, skills: Skills, *, strictly: bool = True, root: str | None = None) -> Definition:
    """
    The machine of a playbook, with those it calls, or of an artifact.

    Args:
        path: a playbook, a `*.machine.json`, or `-` for standard input.
        skills: the tools of skills.
        strictly: refuse a playbook whose flow has errors, too.
        root: the folder out of which no playbook that it calls is read; by default that of the file.

    Raises:
        MisuseError: there is no such file, or it holds no machine.
        UnusableError: the playbook has errors; they are printed on standard error.
    """
    if path != STDIN:
        file_of(path, "PLAYBOOK")
    if path.endswith(ARTIFACT):
        return artifact(path)
    from guideway.compiler.library import Library
    from guideway.statemachine.diagnostic import Level

    texts: Texts = {}
    definition, found = examine(path, skills, texts, library=Library(root=root or root_of(path)))
    faulty = any(finding.level is Level.ERROR for finding in found)
    if definition is None or (strictly and faulty):
        refuse(path, found, texts)
    return definition


def refuse(path: str, found: Sequence[Diagnostic], texts: Texts) -> NoReturn:
    """Print the errors, and leave."""
    from guideway.statemachine.diagnostic import Level
    from guideway.statemachine.span import escaped

    from .excerpts import Excerpts, human
    from .streams import coloured, say

    errors = [finding for finding in found if finding.level is Level.ERROR]
    excerpts = Excerpts(texts)
    for finding in errors:
        say(human(finding, excerpts, coloured(sys.stderr)))
    say(f"{escaped(path)} cannot be used: {len(errors)} error{'s' * (len(errors) != 1)}")
    raise UnusableError(path)


def artifact(path: str) -> Definition:
    """
    Read a compiled machine.

    Raises:
        MisuseError: the file does not hold one, as it was written.
    """
    from guideway.statemachine.artifact import load
    from guideway.statemachine.errors import JournalError

    try:
        return load(text_of(path, "PLAYBOOK"))
    except JournalError as fault:
        raise MisuseError(f"PLAYBOOK: {path}: {fault}") from None


def text_of(path: str, argument: str) -> str:
    """
    The text of a file.

    Raises:
        MisuseError: it cannot be read, or is no UTF-8.
    """
    from guideway.runtime.lines import read_text
    from guideway.statemachine.errors import HostError

    try:
        return read_text(path)
    except HostError as fault:
        raise MisuseError(f"{argument}: {fault}") from None


def skills_of(path: str | None) -> Skills:
    """
    Read a map of skills to their tools, YAML or JSON.

    Raises:
        MisuseError: the file is no such map.
    """
    if path is None:
        return {}
    from guideway.playbooks.reader import read_file

    document = read_file(file_of(path, "--skills"))
    if document.diagnostics:
        raise MisuseError(f"--skills: {document.diagnostics[0]}")
    data = document.root.plain() if document.root else None
    if not isinstance(data, dict) or not all(
        isinstance(tools, list) and all(isinstance(tool, str) for tool in tools) for tools in data.values()
    ):
        raise MisuseError(f"--skills: {path} must map each skill to a list of tools")
    return data


def writable(path: str, argument: str) -> Path:
    """
    Make the folder of a file that is to be written.

    Raises:
        MisuseError: a file cannot be written there.
    """
    target = Path(path)
    try:
        if target.is_dir():
            raise MisuseError(f"{argument}: {path} is a folder; name a file")
        if target.exists() and not takes_text(target):
            raise MisuseError(f"{argument}: {path} is a pipe or a device; name a file")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("ab"):
            pass
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise MisuseError(f"{argument}: {path} cannot be written: {why}") from None
    return target


def takes_text(target: Path) -> bool:
    """A plain file, a terminal or its like (`/dev/null`), or what standard output is itself (`/dev/stdout`)."""
    there = target.stat()
    if stat.S_ISREG(there.st_mode) or stat.S_ISCHR(there.st_mode):
        return True
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(there, os.fstat(number)):
                return True
    return False


def write_file(path: str, argument: str, text: str | bytes) -> None:
    """
    Write a whole file.

    Raises:
        MisuseError: it cannot be written there.
        OutputError: it was begun, and could not be written to its end.
    """
    target = writable(path, argument)
    try:
        target.write_bytes(text.encode() if isinstance(text, str) else text)
    except OSError as fault:
        raise OutputError(f"{argument}: {path} cannot be written: {fault.strerror or fault}") from None
