"""Harness sessions: one episode of a harness over one revision."""
