"""
What happened in a run, kept so that it survives the program.

>>> import guideway
>>> machine = guideway.load({"id": "t", "name": "T", "tools": {"page": {}}, "steps": [
...     {"id": "tell", "description": "Tell", "expected_tools": ["page"]}]})
>>> journal = MemoryJournal()
>>> session = start(journal, machine, run_id="run-1")
>>> _ = session.propose([guideway.ToolCall("page", {}, call_id="c1")])     # … and here the program stops
>>> later = resume(journal, "run-1", machine)
>>> [question.ask for question in guideway.Approvals(later).pending]
['Did `page` happen? Nobody knows what became of call c1.']
"""

from .checking import Replayed, Verified, replay, verify
from .control import Control
from .delivering import Delivered, deliver
from .jsonl import JsonLinesJournal
from .keys import make_key, read_key
from .migrating import Migration, migrate
from .noted import notes
from .resuming import resume
from .sealing import seal, unseal
from .sqlite import SqliteJournal
from .standing import Asked, Standing, standing
from .starting import start
from .store import Journal, MemoryJournal, Message, Stored
from .veil import Vault

__all__ = [
    "Asked", "Control", "Delivered", "Journal", "JsonLinesJournal", "MemoryJournal", "Message", "Migration",
    "Replayed", "SqliteJournal", "Standing", "Stored", "Vault", "Verified", "deliver", "make_key", "migrate",
    "notes", "read_key", "replay", "resume", "seal", "standing", "start", "unseal", "verify",
]  # fmt: skip
