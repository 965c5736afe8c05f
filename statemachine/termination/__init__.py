"""When a run ends: conditions that combine with `&`, `|` and `~`."""
