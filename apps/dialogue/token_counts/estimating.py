"""Estimating the tokens of a text without a vocabulary."""

from math import ceil


def estimate(text: str) -> int:
    """Estimate the tokens of a text."""
    return ceil(len(text) / 4)
