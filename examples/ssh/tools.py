"""The tools of the playbook `ssh-brute-force`: plain functions, JSON in, JSON out, no network.

    guideway run playbooks/library/ssh-brute-force.yaml --tools examples/ssh/tools.py ...

A tool raises ValueError with one clear sentence when it cannot do its work; the run records it as a failed call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Loaded by its path, this file has no package; its siblings are found beside it.
if (_EXAMPLES := str(Path(__file__).resolve().parent.parent)) not in sys.path:
    sys.path.insert(0, _EXAMPLES)

from ssh.accounts import find_new_accounts
from ssh.blocklist import propose_blocklist, verify_blocklist
from ssh.lock import disable_account, open_case, verify_disabled
from ssh.logins import find_logins
from ssh.report import write_report
from ssh.sources import find_sources

TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    "open_case": open_case,
    "find_sources": find_sources,
    "find_logins": find_logins,
    "find_new_accounts": find_new_accounts,
    "propose_blocklist": propose_blocklist,
    "verify_blocklist": verify_blocklist,
    "disable_account": disable_account,
    "verify_disabled": verify_disabled,
    "write_report": write_report,
}
"""Name in the playbook to function."""
