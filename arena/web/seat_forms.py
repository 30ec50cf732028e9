"""Entries of a stored run as the forms of pages have them, and as a page tells of them."""

import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from arena.agent import Agent
from arena.configured import parameters_of
from arena.game import Game, Puzzle
from arena.match.match import Seat
from arena.plugins.contract import source_line
from arena.plugins.registry import Registry
from arena.spec import Board, Spec
from arena.spec.parameters import plain
from arena.web.form import LimitsForm
from arena.web.inventory import PEOPLE, asks_estimates, form_fields, summary

LONGEST = 60.0
"""Seconds a decision that a page may set at the most."""


def play_on(spec: Spec, board: Board, seats: list[Seat]) -> dict[str, Any]:
    """Return what the page of games or puzzles needs to go on from a position: the `game`, the `agents`, the `limits`.

    None stands for a game, or for an agent, that no form can hold, such as a program, or an option that is a list.
    """
    kind: type[Game] = type(board.game)
    values = _changed(kind, board.parameters)
    return {
        "game": None if values is None else {"name": board.name, "parameters": values},
        "puzzle": isinstance(board.game, Puzzle),
        "agents": [_agent_form(spec.registry, board, seat) for seat in seats],
        "limits": [_limits(seat) for seat in seats],
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
    told = json.loads(seat.identity)
    program = None if seat.program is None else seat.program.command
    kind = None if program is not None else spec.registry.agents.get(seat.agent)
    options = {name: value for name, value in told["options"].items() if program is None or name != "command"}
    return {
        "agent": seat.agent,
        "summary": "" if kind is None else summary(kind),
        "options": {name: json.dumps(value, ensure_ascii=False) for name, value in options.items()},
        "heuristic": told["heuristic"],
        "limits": {name: value for name, value in told["limits"].items() if value is not None},
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
    told = json.loads(seat.identity)
    options = _changed(kind, told["options"])
    named = told["heuristic"] if asks_estimates(kind) else None
    heuristic = named
    if heuristic is not None:
        values = _changed(registry.heuristic(board.name, heuristic["name"]), heuristic["parameters"])
        heuristic = None if values is None else {"name": heuristic["name"], "parameters": values}
    if options is None or (heuristic is None) != (named is None):
        return None
    return {"agent": seat.agent, "options": options, "heuristic": heuristic}


def _changed(constructor: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parameters that differ from their defaults; None where one of them has no field in a form."""
    fields = {field["name"] for field in form_fields(constructor)}
    defaults = {name: plain(parameter.default) for name, parameter in parameters_of(constructor).items()}
    changed = {name: plain(value) for name, value in values.items() if plain(value) != defaults.get(name)}
    return changed if set(changed) <= fields else None


def _limits(seat: Seat) -> dict[str, Any]:
    """The limits of a decision that the form of a page has."""
    seconds = None if seat.limits.seconds is None else min(seat.limits.seconds, LONGEST)
    return LimitsForm(nodes=seat.limits.nodes, seconds=seconds).keys()
