"""
Keeping what is sensitive off the disk, in a way that whoever has the values can undo.

Records are hidden for good (`runtime.redact`): people read them.  Events and snapshots must be read back to go on, so
a hidden value leaves a mark there that names it.  A mark holds a number drawn for the run, so that no tool or model can
write one that is taken for it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from guideway.runtime.marks import HIDDEN, Marks, unique
from guideway.runtime.redact import SHORTEST, given, hidden_leaves
from guideway.statemachine.canonical import canonical
from guideway.statemachine.definition import Definition
from guideway.statemachine.errors import HostError

from .keys import derived

LITERAL = "!"
"""The mark that stands for the beginning of a mark, where somebody has written one."""
SCRYPT = {"n": 2**14, "r": 8, "p": 1}
"""Cost of the check of a secret input (RFC 7914, section 2, for interactive use): about 50 ms a guess."""


class Vault(Protocol):
    """Where the host keeps values that must not stand in a journal; its own matter how."""

    def put(self, run: str, name: str, value: Any) -> None:
        """Keep a value (text, number) before anything refers to it."""
        ...

    def get(self, run: str, name: str) -> Any:
        """The value, or None where there is none."""
        ...


class Veil:
    """
    Covers the secrets of one run, and uncovers them.

    >>> from guideway.statemachine.definition import Input
    >>> definition = Definition("p", "P", "a", {}, {}, inputs={"token": Input("token", sensitive=True)})
    >>> veil = Veil("run-1", "4711", definition, {"token": "hunter2"})
    >>> veil.cover({"headers": ["Bearer hunter2"]})
    {'headers': ['Bearer •••{4711.token.0}']}
    >>> veil.uncover(veil.cover({"headers": ["Bearer hunter2"]}))
    {'headers': ['Bearer hunter2']}
    """

    def __init__(
        self, run: str, nonce: str, definition: Definition, inputs: Mapping[str, Any], vault: Vault | None = None,
        key: bytes | None = None,
    ) -> None:  # fmt: skip
        self._run, self._nonce, self._vault = run, nonce, vault
        self._pepper = b"" if key is None else derived(key, "inputs")
        self._begin = f"{HIDDEN}{{{nonce}."
        self._mark = re.compile(re.escape(self._begin) + r"([^{}]*)\}")
        self.secrets: dict[str, Any] = dict(secrets_of(definition, inputs))
        self._by_text = {v: k for k, v in self.secrets.items() if isinstance(v, str) and len(v) >= SHORTEST}
        longest_first = sorted(self._by_text, key=len, reverse=True)
        self._texts = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
        self._whole = {(type(value), value): name for name, value in self.secrets.items()}
        self.numbered = 0
        """secrets that are no input, and that were given a number"""

    def _token(self, name: str) -> str:
        return f"{HIDDEN}{{{self._nonce}.{name}}}"

    def escape(self, value: Any) -> Any:
        """
        A copy in which nothing reads like a mark; before anything is covered.

        Whoever can read the journal could say a mark, and have it filled with the secret when the run is resumed.
        """
        if self._begin not in json.dumps(value, ensure_ascii=False):
            return value
        literal = self._token(LITERAL)
        return mapped(value, lambda leaf: leaf.replace(self._begin, literal) if isinstance(leaf, str) else leaf)

    def cover(self, value: Any) -> Any:
        """A copy with the values of sensitive inputs replaced by their marks, wherever they stand."""
        return mapped(value, self._cover_leaf) if self._whole else value

    def _cover_leaf(self, leaf: Any) -> Any:
        try:
            name = self._whole.get((type(leaf), leaf))
        except TypeError:
            return leaf
        if name is not None:
            return self._token(name)
        if isinstance(leaf, str) and self._texts is not None:  # at once, so that no secret is found inside a mark
            return self._texts.sub(lambda found: self._token(self._by_text[found[0]]), leaf)
        return leaf

    def cover_marked(self, value: Any, clean: Any) -> Any:
        """
        A copy with what `clean` hides replaced by numbered marks; their values go to the vault.

        Whether a place is hidden the schema of its tool says, and `clean` is the value without it.
        """
        if value == clean and type(value) is type(clean):
            return value
        if clean == HIDDEN:
            return mapped(value, self._number)
        if isinstance(value, Mapping) and isinstance(clean, Mapping) and len(value) == len(clean):
            pairs = zip(value.items(), clean.items(), strict=True)
            return unique((name, self.cover_marked(item, other)) for (_, item), (name, other) in pairs)
        if isinstance(value, list) and isinstance(clean, list) and len(value) == len(clean):
            return [self.cover_marked(item, other) for item, other in zip(value, clean, strict=True)]
        return clean

    def _number(self, leaf: Any) -> Any:
        if leaf is None or isinstance(leaf, bool):
            return leaf
        self.numbered += 1
        name = f"#{self.numbered}"
        if self._vault is not None:
            whole = leaf.replace(self._token(LITERAL), self._begin) if isinstance(leaf, str) else leaf
            self._vault.put(self._run, name, whole)
        return self._token(name)

    def uncover(self, value: Any) -> Any:
        """
        The value as it was.

        Raises:
            HostError: a secret is not to be had; the message names what was hidden.
        """
        return mapped(value, self._uncover_leaf)

    def uncover_known(self, value: Any) -> Any:
        """The value as far as its secrets are to be had: a note moves nothing, so what is lost in it may stay so."""

        def leaf(found: Any) -> Any:
            try:
                return self._uncover_leaf(found)
            except HostError:
                return found

        return mapped(value, leaf)

    def _uncover_leaf(self, leaf: Any) -> Any:
        if not isinstance(leaf, str) or HIDDEN not in leaf:
            return leaf
        if whole := self._mark.fullmatch(leaf):
            return self._secret(whole[1])
        return self._mark.sub(lambda found: str(self._secret(found[1])), leaf)

    def _secret(self, name: str) -> Any:
        if name == LITERAL:
            return self._begin
        found = self.secrets.get(name)
        if found is None and self._vault is not None and name.startswith("#"):
            found = self._vault.get(self._run, name)
        if found is None:
            lost = name.startswith("#")
            what = "a sensitive argument or result" if lost else f"the input `{name.rpartition('.')[0]}`"
            how = "give it again through vault=" if lost else "give it again, inputs={…}"
            raise HostError(
                f"the journal keeps no sensitive values, and run {self._run} needs {what} to go on: {how}"
            )
        return found

    def checks(self) -> dict[str, str]:
        """By which a secret input is known again, at a cost that makes guessing slow."""
        return {name: check(value, self._nonce, self._pepper) for name, value in self.secrets.items()}

    def confirm(self, checks: Mapping[str, str]) -> None:
        """
        Hold the secrets against those the run began with.

        Raises:
            HostError: one is missing, or another.
        """
        for name, known in checks.items():
            of = name.rpartition(".")[0]
            if name not in self.secrets:
                raise HostError(f"run {self._run} was started with the sensitive input `{of}`; give it again, inputs=…")
            if check(self.secrets[name], self._nonce, self._pepper) != known:
                raise HostError(f"the sensitive input `{of}` is not the one that run {self._run} was started with")


def secrets_of(definition: Definition, inputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The sensitive texts and numbers in the inputs of a run, each with a name."""
    for name, value in given(definition, inputs).items():
        declared = definition.inputs[name]
        clean = HIDDEN if declared.sensitive else Marks(declared.schema).hide(value)
        yield from ((f"{name}.{index}", leaf) for index, leaf in enumerate(hidden_leaves(value, clean)))


def check(value: Any, nonce: str, pepper: bytes) -> str:
    """A slow hash of one secret; with a key, one that cannot even be guessed without it."""
    return hashlib.scrypt(canonical(value), salt=nonce.encode() + pepper, dklen=16, **SCRYPT).hex()


def mapped(value: Any, change: Any) -> Any:
    """A copy of JSON with every leaf and key changed."""
    if isinstance(value, Mapping):
        return unique((str(change(key)), mapped(item, change)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return [mapped(item, change) for item in value]
    return change(value)


