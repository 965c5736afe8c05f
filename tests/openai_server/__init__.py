"""A server on this machine that speaks the OpenAI chat protocol, and misbehaves on request; and what it drives."""
