"""What this extension brings: agents in processes of their own and in sandboxes, with code of their own, and in any language."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from arena import hookimpl
from arena.api.match import Isolation, PlayerPool
from arena.api.spec import AgentSource

if TYPE_CHECKING:
    from arena import Game
    from arena.api.match import Seat
    from arena.api.spec import SourceReader, Spec, SpecReader


def _open() -> PlayerPool:
    from arena_isolation.remote import RemotePlayers

    return RemotePlayers()


def _keeps_apart() -> bool:
    from arena_isolation.agent_start import namespaces_work

    return namespaces_work()


def _note_reach(spec: "Spec") -> Iterable[str]:
    """Say so if agents in processes of their own are not out of the others' reach."""
    from arena_isolation.agent_start import NO_NAMESPACES

    return [] if _keeps_apart() else [NO_NAMESPACES]


def _check_sandbox(spec: "Spec") -> None:
    from arena_isolation.agent_start import prove_once

    prove_once()


def _why_plain(seat: "Seat", game: "Game") -> str | None:
    from arena_isolation.remote import why_plain

    return why_plain(seat, game)


@hookimpl
def arena_isolations() -> Iterable[Isolation]:
    """Return processes of their own, and sandboxes."""
    return [
        Isolation("process", _open, notes=_note_reach, default=True, shields=_keeps_apart, why_plain=_why_plain),
        Isolation("sandbox", _open, check=_check_sandbox, closed=True, why_plain=_why_plain),
    ]


def _read_code(reading: "SpecReader") -> "SourceReader":
    from arena_isolation.own_code import CodeReader

    return CodeReader(reading)


def _read_command(reading: "SpecReader") -> "SourceReader":
    from arena_isolation.command import CommandReader

    return CommandReader(reading)


@hookimpl
def arena_agent_sources() -> Iterable[AgentSource]:
    """Return agents with code of their own, and programs in any language."""
    keys = {
        "plugin": "A Python file, relative to the spec, that this entry alone loads, in its own process.",
        "version": "Another version of the agent's plugin: a Python file, or git:REVISION.",
    }
    return [AgentSource("code", _read_code, keys), AgentSource("command", _read_command, agent_keys=("command",))]
