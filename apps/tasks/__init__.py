"""Environments, splits, tasks and their immutable revisions."""
