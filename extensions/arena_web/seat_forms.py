"""Entries of a stored run as the forms of pages have them, and as a page tells of them."""

import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from arena import Agent, Game, Puzzle
from arena.api.match import Seat
from arena.api.spec import Board, Registry, Spec, source_line
from arena.spec.parameters import drop_defaults
from arena_web.form import LimitsForm
from arena_web.inventory import PEOPLE, asks_estimates, form_fields, summary

MAX_SECONDS = 60.0
"""Seconds a decision that a page may set at the most."""


def play_on(spec: Spec, board: Board, seats: list[Seat]) -> dict[str, Any]:
    """Return what the page of games or puzzles needs to go on from a position: the `game`, the `agents`, the `limits`.

    None stands for a game, or for an agent, that no form can hold, such as a program, or an option that is a list.
    """
    kind: type[Game] = type(board.game)
    values = _changed_values(kind, board.parameters)
    return {
        "game": None if values is None else {"name": board.name, "parameters": values},
        "puzzle": isinstance(board.game, Puzzle),
        "agents": [_agent_form(spec.registry, board, seat) for seat in seats],
        "limits": [
            LimitsForm(nodes=limits.nodes, seconds=None if limits.seconds is None else min(limits.seconds, MAX_SECONDS)).keys()
            for limits in (seat.limits for seat in seats)
        ],
    }


def entry_facts(spec: Spec, label: str) -> list[dict[str, Any]]:
    """Return what an entry is on each board where it plays: its agent, options, heuristic, limits and source."""
    return [
        {"board": number, "title": board.title, **_facts(spec, seat)}
        for number, board in enumerate(spec.boards)
        for seat in board.seats
        if seat.label == label
    ]


def _facts(spec: Spec, seat: Seat) -> dict[str, Any]:
    settings = seat.settings
    program = None if seat.program is None else seat.program.command
    kind = None if program is not None else spec.registry.agents.get(seat.agent)
    options = {name: value for name, value in settings.options.items() if program is None or name != "command"}
    return {
        "agent": seat.agent,
        "summary": "" if kind is None else summary(kind),
        "options": {name: json.dumps(value, ensure_ascii=False) for name, value in options.items()},
        "heuristic": settings.heuristic,
        "limits": {name: value for name, value in json.loads(seat.identity)["limits"].items() if value is not None},
        "moves": seat.limits.moves,
        "isolation": seat.isolation,
        "source": " ".join(program) if program is not None else _source(spec.registry, seat.agent, kind),
    }


def _source(registry: Registry, name: str, kind: type[Agent] | None) -> str:
    """Who brought an agent, and the file and line; of an installed package the file from its folder on."""
    if kind is None:
        return "unknown"
    origin = registry.sources.get(("agent", name))
    file, _, line = (source_line(kind) or "unknown file").rpartition(":")
    top = kind.__module__.partition(".")[0]
    parts = PurePath(file).parts
    shown = "/".join(parts[parts.index(top) :]) if top in parts else PurePath(file).name
    return f"{origin}, {shown}:{line}" if file else str(origin)


def _agent_form(registry: Registry, board: Board, seat: Seat) -> dict[str, Any] | None:
    kind = registry.agents.get(seat.agent)
    if kind is None or seat.agent in PEOPLE or (seat.program is not None and seat.program.command is not None):
        return None
    settings = seat.settings
    options = _changed_values(kind, settings.options)
    named = settings.heuristic if asks_estimates(kind) else None
    heuristic = named
    if heuristic is not None:
        values = _changed_values(registry.heuristic(board.name, heuristic["name"]), heuristic["parameters"])
        heuristic = None if values is None else {"name": heuristic["name"], "parameters": values}
    if options is None or (heuristic is None) != (named is None):
        return None
    return {"agent": seat.agent, "options": options, "heuristic": heuristic}


def _changed_values(constructor: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parameters that differ from their defaults; None where one of them has no field in a form."""
    fields = {field["name"] for field in form_fields(constructor)}
    changed = drop_defaults(constructor, values)
    return changed if set(changed) <= fields else None
