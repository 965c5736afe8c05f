"""Write the `.out` files of the corpus anew.  Read the difference before you commit it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from .test_shape_corpus import findings, inputs

if __name__ == "__main__":
    for source in inputs("err"):
        source.with_name(source.name + ".out").write_text(findings(source), encoding="utf-8")
