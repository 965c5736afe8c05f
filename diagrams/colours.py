"""
The colours: those of Okabe and Ito (https://jfly.uni-koeln.de/color/), told apart by the colour-blind, on white.

Every box also carries a sign and a word, so a picture printed in grey says the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from .picture import Shape

INK = "#1f2933"
SOFT = "#52606d"
LINE = "#7b8794"
FAINT = "#87939f"
FAINT_LINE = "#ccd3da"
WALKED = "#0057a8"
CURRENT = "#fff3c4"
CURRENT_LINE = "#c27803"
DANGER = "#b03a00"
PAPER = "#ffffff"
FRAME = "#f3f5f8"
FRAME_LINE = "#dfe4ea"
BLOCK = (FRAME, PAPER)
"""Blocks in blocks, by turns."""
BLOCK_LINE = "#aab4be"


@dataclass(frozen=True, slots=True)
class Paint:
    """How boxes of one shape look: their fill, their outline, and the sign before their word."""

    fill: str
    line: str
    sign: str


PAINT = {
    Shape.START: Paint(INK, INK, ""),
    Shape.AGENT: Paint("#eaf3fb", "#0072b2", "▷"),
    Shape.CALL: Paint("#f0f1f3", "#52606d", "⚙"),
    Shape.APPROVAL: Paint("#fdf1dc", "#b36b00", "♙"),
    Shape.ROUTER: Paint("#f7eef4", "#9c5583", "◇"),
    Shape.ASK: Paint("#fdf1dc", "#b36b00", "?"),
    Shape.WAIT: Paint("#f0f1f3", "#52606d", "◷"),
    Shape.UNDO: Paint("#f0f1f3", "#52606d", "↶"),
    Shape.PLAYBOOK: Paint("#eaf3fb", "#0072b2", "▤"),
    Shape.FORK: Paint(PAPER, INK, "∥"),
    Shape.EACH: Paint(PAPER, INK, "∀"),
    Shape.LOOP: Paint(PAPER, INK, "↻"),
    Shape.SECTION: Paint(PAPER, INK, "§"),
    Shape.JOIN: Paint(INK, INK, ""),
    Shape.SUCCESS: Paint("#e3f5ee", "#00805c", "✓"),
    Shape.STOPPED: Paint("#f0f1f3", "#52606d", "■"),
    Shape.FAILED: Paint("#fce9df", "#b84a00", "✗"),
    Shape.ESCALATED: Paint("#f7eef4", "#9c5583", "▲"),
    Shape.ANYWHERE: Paint(PAPER, LINE, "○"),
}
