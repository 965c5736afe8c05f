"""Values of other programs, as JSON."""

from __future__ import annotations

import json
from typing import Any


def plain(value: Any) -> Any:
    """
    A value as JSON; what is none is kept as its text.

    >>> from pathlib import PurePosixPath
    >>> plain({"file": PurePosixPath("/tmp/x"), "lines": (1, 2)}), plain(float("nan"))
    ({'file': '/tmp/x', 'lines': [1, 2]}, 'nan')
    """
    try:
        return json.loads(json.dumps(value, default=str, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return str(value)
