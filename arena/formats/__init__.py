"""The formats of the core. They are registered through the same hook as the formats of plugins."""

from collections.abc import Sequence

from arena.format import Format
from arena.formats.round_robin import Benchmark, Gauntlet, RoundRobin
from arena.hookspecs import hookimpl

__all__ = ["Benchmark", "Gauntlet", "RoundRobin", "arena_formats"]


@hookimpl
def arena_formats() -> Sequence[type[Format]]:
    """The built-in formats."""
    return [RoundRobin, Benchmark, Gauntlet]
