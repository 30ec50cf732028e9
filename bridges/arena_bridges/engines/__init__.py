"""Engines that speak UCI or GTP, as agents: `{agent: {command: [stockfish], protocol: uci}}`.

`uci` and `gtp` are found through the entry points of the group `arena.protocols`. Each is an adapter, which runs as a separate
program.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from arena import hookimpl
from arena.api.spec import AgentSource

if TYPE_CHECKING:
    from arena.api.spec import SourceReader, SpecReader


@hookimpl
def arena_agent_sources() -> Iterable[AgentSource]:
    """Return the source of engines, which are programs with another protocol."""

    def open_reader(reading: "SpecReader") -> "SourceReader":
        from arena_bridges.engines.entries import EngineReader

        return EngineReader(reading)

    return [AgentSource("engine", open_reader, agent_keys=("protocol",), harmless_keys=("protocol",), rank=1)]
