"""
Write the parts of the documentation that follow from the code: `diagnostics.md`, the pictures, digests on the pages.

    python docs/generate.py

A test compares them with what stands here.  A picture ends with the hash of the text it was drawn from, because two
versions of Graphviz lay the same text out differently.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parent

PLAYBOOKS = [*DOCS.glob("playbooks/**/*.yaml"), *DOCS.parent.glob("playbooks/library/*.yaml")]
PAGES = [DOCS.parent / "README.md", *DOCS.glob("*.md"), *DOCS.glob("language/*.md")]

PICTURES: dict[str, tuple[str, tuple[str, ...]]] = {
    # picture -> playbook, and the arguments of the run that is laid over it
    "triage": ("docs/playbooks/triage.yaml", ()),
    "ssh-brute-force": (
        "playbooks/library/ssh-brute-force.yaml",
        ("--tools", "examples/ssh/tools.py", "--input", "log=examples/ssh/auth.log",
         "--approve", "file:examples/ssh/approvals.json"),
    ),
    "phishing-triage": ("playbooks/library/phishing-triage.yaml", ()),
    **{
        name: (f"playbooks/library/{name}.yaml", ())
        for name in (
            "suspicious-sign-in", "lost-device", "access-request", "refund-desk", "order-fulfilment", "canary-deploy",
            "on-call-triage", "coding-agent", "paginated-export", "enrich-ip", "page-on-call", "restart-service",
        )
    },
}  # fmt: skip


def guideway(*argv: str) -> str:
    """Run a command; what it wrote."""
    from guideway.cli import main

    out, err = io.StringIO(), io.StringIO()
    if status := main(argv, stdout=out, stderr=err):
        raise SystemExit(f"guideway {' '.join(argv)}: status {status}\n{out.getvalue()}{err.getvalue()}")
    return out.getvalue()


def trace(playbook: str, arguments: Sequence[str], folder: Path) -> list[str]:
    """The arguments of `draw` that lay a run over the picture; none if there is no run."""
    if not arguments:
        return []
    target = str(folder / "trace.jsonl")
    guideway("run", playbook, *arguments, "--trace", target)
    return ["--trace", target]


def dot(name: str, folder: Path) -> str:
    """The text a picture is drawn from; the working directory is a copy of the repository or the repository itself."""
    playbook, arguments = PICTURES[name]
    return guideway("draw", playbook, *trace(playbook, arguments, folder), "--format", "dot")


def mark(text: str) -> str:
    """The last line of a picture drawn from `text`."""
    return f"<!-- drawn from {hashlib.sha256(text.encode()).hexdigest()} -->\n"


def svg(name: str, folder: Path) -> str:
    """A picture."""
    playbook, arguments = PICTURES[name]
    target = folder / f"{name}.svg"
    guideway("draw", playbook, *trace(playbook, arguments, folder), "-o", str(target))
    return target.read_text(encoding="utf-8") + mark(dot(name, folder))


def diagnostics() -> str:
    """The page of all findings."""
    from guideway.cli.explain import catalogue

    rules = catalogue().values()
    parts = [
        "# Findings\n\nWhat `guideway check` can say. Each finding has a stable code; "
        "`guideway explain CODE` prints the same text.\n"
        "This page is written by `docs/generate.py` from the catalogue in the code.\n\n"
        "| code | name | |\n|---|---|---|\n"
    ]
    parts += [f"| [{r.code}](#{r.code.lower()}-{r.name}) | `{r.name}` | {r.summary} |\n" for r in rules]
    for rule in rules:
        essay = rule.essay.strip().replace("\n## ", "\n### ")
        essay = f"#{essay}" if essay.startswith("## ") else essay
        parts.append(f"\n## {rule.code} {rule.name}\n\nThis rule {rule.summary}.\n\n{essay}\n")
    return "".join(parts)


RUN = re.compile(r"(?<=\[)([\w-]+) [0-9a-f]{12}(?=\] run )")
"""The machine of a run that a page shows: its id and the beginning of its digest."""


def digests(text: str) -> str:
    """A page, with the digests that its playbooks have now."""
    from guideway import load

    def now(found: re.Match[str]) -> str:
        of_it = re.compile(rf"^id: {re.escape(found[1])}$", re.MULTILINE)
        file = next(path for path in PLAYBOOKS if of_it.search(path.read_text(encoding="utf-8")))
        return f"{found[1]} {load(file).definition.digest[:12]}"

    return RUN.sub(now, text)


def main() -> None:
    """Write them all."""
    os.chdir(DOCS.parent)
    (DOCS / "diagnostics.md").write_text(diagnostics(), encoding="utf-8")
    for name in PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            (DOCS / "pictures" / f"{name}.svg").write_text(svg(name, Path(folder)), encoding="utf-8")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if text != (now := digests(text)):
            page.write_text(now, encoding="utf-8")
    sys.stdout.write(f"diagnostics.md, {len(PICTURES)} pictures and the digests of {len(PAGES)} pages are written\n")


if __name__ == "__main__":
    main()
