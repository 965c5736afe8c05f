"""
The command line.

>>> import io
>>> out = io.StringIO()
>>> main(["check", "no-such.yaml"], stdout=out, stderr=out), out.getvalue()
(2, 'guideway check: PATHS: no-such.yaml does not exist\\n')
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import TextIO

__all__ = ["main"]


def main(
    argv: Sequence[str] | None = None,
    *,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """
    Run one command and return its exit status; nothing is raised.

    The streams are those of the process unless others are given.
    """
    from .running import run

    with ExitStack() as stack:
        if stdout is not None:
            stack.enter_context(redirect_stdout(stdout))
        if stderr is not None:
            stack.enter_context(redirect_stderr(stderr))
        if stdin is not None:
            before, sys.stdin = sys.stdin, stdin
            stack.callback(setattr, sys, "stdin", before)
        return run(list(sys.argv[1:] if argv is None else argv))
