"""`guideway schema`."""

from __future__ import annotations

import json

from . import options
from .loading import write_file
from .status import CLEAN
from .streams import write


def command(
    output: options.Output = None,
) -> int:
    """Write the JSON Schema of playbooks, for the language servers of editors.

    Example: guideway schema -o playbook.schema.json

    Then begin a playbook with: # yaml-language-server: $schema=playbook.schema.json
    """
    from guideway.playbooks.schema import json_schema

    text = json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    if output is None:
        write(text)
    else:
        write_file(output, "--output", text)
    return CLEAN
