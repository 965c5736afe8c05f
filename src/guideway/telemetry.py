"""
Spans and log lines of runs: `Agent(…, hooks=[Telemetry(), LogLines()])`, or `watch` a session.

>>> from guideway.telemetry import LogLines, Telemetry
"""

from guideway.runtime.telemetry.logs import LogLines
from guideway.runtime.telemetry.telemetry import Telemetry

__all__ = ["LogLines", "Telemetry"]
