"""Spans and log lines of runs, for those who watch many."""

from .logs import LogLines
from .telemetry import Telemetry

__all__ = ["LogLines", "Telemetry"]
