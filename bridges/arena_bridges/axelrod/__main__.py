"""Prints which strategies can play: `python -m arena_bridges.axelrod`."""

from arena_bridges.axelrod.strategies import table

print(table())
