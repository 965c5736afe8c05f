"""An agent over a session: the loop between a model, its tools and the gate."""
