"""What this extension adds: agents in separate processes and in sandboxes, agents with their own code, and agents in any
language.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from arena import hookimpl
from arena.api.match import Isolation
from arena.api.spec import AgentSource

if TYPE_CHECKING:
    from arena import Game, Spec
    from arena.api.match import Seat
    from arena.api.spec import SourceReader, SpecReader
    from arena_isolation.remote import RemotePlayers


@hookimpl
def arena_isolations() -> Iterable[Isolation]:
    """Return the isolations `process` and `sandbox`. Their modules are imported on first use."""

    def open_players() -> "RemotePlayers":
        from arena_isolation.remote import RemotePlayers

        return RemotePlayers()

    def keeps_apart() -> bool:
        from arena_isolation.agent_start import namespaces_work

        return namespaces_work()

    def note_reach(spec: "Spec") -> Iterable[str]:
        """Return a note if agents in separate processes can reach each other on this machine."""
        from arena_isolation.agent_start import NO_NAMESPACES

        return [*note_stops(spec), *([] if keeps_apart() else [NO_NAMESPACES])]

    def note_stops(spec: "Spec") -> Iterable[str]:
        """Return a note if agents can be stopped only by signals on this machine."""
        from arena_isolation.agent_start import NO_GROUPS, groups_work

        stopped = any(seat.program and not seat.program.pondering for board in spec.boards for seat in board.seats)
        return [NO_GROUPS] if stopped and not groups_work() else []

    def check_sandbox(spec: "Spec") -> None:
        from arena_isolation.agent_start import prove_once

        prove_once()

    def explain_plain(seat: "Seat", game: "Game") -> str | None:
        from arena_isolation.remote import why_plain

        return why_plain(seat, game)

    return [
        Isolation("process", open_players, notes=note_reach, default=True, shields=keeps_apart, why_plain=explain_plain),
        Isolation("sandbox", open_players, check=check_sandbox, notes=note_stops, closed=True, why_plain=explain_plain),
    ]


@hookimpl
def arena_agent_sources() -> Iterable[AgentSource]:
    """Return the sources for agents with their own code and for programs in any language."""

    def read_code(reading: "SpecReader") -> "SourceReader":
        from arena_isolation.own_code import CodeReader

        return CodeReader(reading)

    def read_command(reading: "SpecReader") -> "SourceReader":
        from arena_isolation.command import CommandReader

        return CommandReader(reading)

    keys = {
        "plugin": "A Python file, relative to the spec, that only this entry loads, in its own process.",
        "version": "Another version of the agent's plugin: a Python file, or git:REVISION.",
    }
    return [AgentSource("code", read_code, keys), AgentSource("command", read_command, agent_keys=("command",))]
