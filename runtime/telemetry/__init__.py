"""Spans and log lines of runs, for those who watch many; `guideway.telemetry` is the way in."""
