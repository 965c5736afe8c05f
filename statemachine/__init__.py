"""The machine: definition, expressions, artifact, and the `transitions.Machine` that moves."""
