"""The formats that come with arena, brought by the same hook as anyone's."""

from collections.abc import Sequence

from arena.format import Format
from arena.formats.head_to_head import HeadToHead
from arena.formats.round_robin import Benchmark, Gauntlet, RoundRobin
from arena.formats.swiss import Knockout, Swiss
from arena.hookspecs import hookimpl

__all__ = ["Benchmark", "Gauntlet", "HeadToHead", "Knockout", "RoundRobin", "Swiss", "arena_formats"]


@hookimpl
def arena_formats() -> Sequence[type[Format]]:
    """The built-in formats."""
    return [RoundRobin, Benchmark, Gauntlet, HeadToHead, Swiss, Knockout]
