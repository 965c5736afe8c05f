"""Reads the corpus of this folder and writes findings as its `.out` files hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from guideway.compiler import check
from guideway.playbooks.loader import load_playbook
from guideway.statemachine.diagnostic import Diagnostic

HERE = Path(__file__).parent
SKILLS = {"known": ["helper"]}


def report(path: Path) -> str:
    """Check one file; each finding is a line, its help, witness and related places indented below."""
    return "".join(f"{line}\n" for finding in check(load_playbook(path), skills=SKILLS) for line in _lines(finding))


def _lines(finding: Diagnostic) -> Iterator[str]:
    yield f"{finding.span.line}:{finding.span.column}: {finding.level}: {finding.message} [{finding.code}]"
    if finding.help:
        yield f"    help: {finding.help}"
    if finding.witness:
        yield f"    witness: {'; '.join(finding.witness)}"
    for related in finding.related:
        yield f"    see {related.span.line}:{related.span.column}: {related.message}"


def files(folder: str) -> Iterable[Path]:
    """The playbooks of a part of the corpus."""
    return sorted((HERE / folder).glob("*.yaml"))


if __name__ == "__main__":
    for path in files("err"):  # write anew what a rule now says; read the difference before you keep it
        path.with_suffix(".out").write_text(report(path), encoding="utf-8")
