"""From bytes to text: size, encoding, control characters, checked before any parser sees them."""

from __future__ import annotations

import re

from .builder import Builder
from .places import place_of

MAX_TOLD = 10
"""How many bad characters are reported before the source is given up as no text."""

_UNICODE_MARKS = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_JSON_START = re.compile(r"\s*\{\s*[\"}]")
# What libyaml refuses, and the line separators that YAML 1.1 counts as line breaks and 1.2 does not.
_BAD_IN_YAML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_BAD_IN_JSON = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_NAMES = {"\0": "NUL", "\x85": "a line separator", "\u2028": "a line separator", "\u2029": "a paragraph separator"}


def looks_like_json(text: str) -> bool:
    """
    Whether a text without a file name is taken for JSON.

    >>> looks_like_json(' {"id": 1}'), looks_like_json("{id: 1}")
    (True, False)
    """
    return _JSON_START.match(text) is not None


def decoded(text: str | bytes, out: Builder) -> str | None:
    """The source as text without a byte order mark; None, with a finding, when too large or in another encoding."""
    if _too_large(text, out.limits.max_bytes):
        out.report(
            "GW002",
            f"the playbook is larger than {out.limits.max_bytes:,} bytes",
            1,
            1,
            "split it with `imports`, or raise `--max-bytes`",
        )
        return None
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    if encoding := _other_unicode(text):
        help_ = f"save it as UTF-8: iconv -f {encoding} -t UTF-8"
        out.report("GW003", f"the file is {encoding}, not UTF-8", 1, 1, help_)
        return None
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _mended(text, out)


def _too_large(text: str | bytes, limit: int) -> bool:
    if len(text) > limit:
        return True
    return isinstance(text, str) and len(text) * 4 > limit and len(text.encode("utf-8", "surrogatepass")) > limit


def _other_unicode(raw: bytes) -> str | None:
    for mark, name in _UNICODE_MARKS:
        if raw.startswith(mark):
            return name
    head = raw[:4]
    if len(head) == 4 and (head[1] == head[3] == 0 or head[0] == head[2] == 0) and any(head):
        return "UTF-16" if head.count(0) == 2 else "UTF-32"
    return None


def _mended(raw: bytes, out: Builder) -> str | None:
    """Report each run of bytes that is no UTF-8 and go on with a replacement character in its place."""
    parts: list[str] = []
    position = 0
    rest = raw.removeprefix(b"\xef\xbb\xbf")
    while True:
        try:
            parts.append(rest[position:].decode("utf-8"))
            return "".join(parts)
        except UnicodeDecodeError as why:
            good = rest[position : position + why.start].decode("utf-8")
            parts.append(good)
            line, column = place_of("".join(parts), sum(map(len, parts)))
            byte = rest[position + why.start]
            out.report(
                "GW003",
                f"byte 0x{byte:02X} is not valid UTF-8",
                line,
                column,
                "save the file as UTF-8; if it is Latin-1: iconv -f LATIN1 -t UTF-8",
            )
            if len(out.found) > MAX_TOLD:
                return None
            parts.append("\ufffd")
            position += why.end


def cleaned(text: str, syntax: str, out: Builder) -> str | None:
    """Report control characters and go on without them; None when there are so many that this is no text."""
    bad = _BAD_IN_JSON if syntax == "json" else _BAD_IN_YAML
    if bad.search(text) is None:
        return text
    for told, found in enumerate(bad.finditer(text)):
        if told >= MAX_TOLD:
            return None
        sign = found.group()
        name = _NAMES.get(sign, "a surrogate" if "\ud800" <= sign <= "\udfff" else "a control character")
        line, column = place_of(text, found.start())
        out.report(
            "GW004",
            f"the source holds U+{ord(sign):04X}, {name}, which cannot be seen",
            line,
            column,
            "delete it; where it is meant, write an escape in double quotes",
        )
    return bad.sub("\ufffd", text)
