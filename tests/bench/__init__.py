"""Benchmarks: ratios against a peer or a floor of the same run. Never part of the tests."""
