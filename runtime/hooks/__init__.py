"""Code of others at fixed points of an agent's loop: one dispatcher, a native protocol and four dialects."""
