"""Benchmarks beside other engines: ``python -m sapwood.bench SUITE``."""
