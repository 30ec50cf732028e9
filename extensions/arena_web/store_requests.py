"""Answers about the store of a tournament: its matches as views, what its entries are, and the panels of plugins."""

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import PurePath
from typing import Any

from arena import Agent, Game, PluginError, Puzzle, SpecError
from arena.api.match import Record, Seat
from arena.api.spec import Board, BoardModule, Registry, Spec, load_board_module, load_spec, resolve_place, source_line
from arena.api.store import Store
from arena.schedule.board_info import make_known_game
from arena.spec.named_code import list_named_code
from arena.spec.parameters import drop_defaults
from arena.store.run import ForeignCode
from arena_web.errors import BadRequest
from arena_web.form import LimitsForm
from arena_web.inventory import PEOPLE, asks_estimates, form_fields, summary
from arena_web.panels import WantedPanels, collect_panels
from arena_web.views import text_view, view

Reply = dict[str, Any]
MAX_SECONDS = 60.0
"""Seconds a decision that a page may set at the most."""


class StoreRequests:
    """Does what requests about a store ask for, with the plugins of one registry."""

    def __init__(self, registry: Registry, plugins: tuple[str, ...]) -> None:
        self._registry = registry
        self._plugins = plugins

    def view(self, asked: Mapping[str, Any]) -> Reply:
        """A match of a store as a view. The store is named by the server, never by a page."""
        with Store.open(asked["store"]) as store:
            record, place = store.record(asked["id"])
            run = store.last()
        number = run.board_of(record.game, place)
        if number is None:
            raise BadRequest(f"the last run of this store does not play {record.game}")
        try:
            spec = run.load(self._allowed_code(asked))
        except (ForeignCode, SpecError, PluginError) as error:
            sheet = run.boards[number]
            game = make_known_game(sheet, self._registry)
            missing = f"{record.game} is not known here, so its moves are shown as text; {error}"
            told = show_match(game, record) if game is not None else {"view": text_view(record, sheet.game, [missing]).as_dict()}
            return {**told, "play_on": None}
        board = spec.boards[number]
        told = show_match(board.game, record)
        if place is None or max(place.pairing.seats) >= len(board.seats):  # of a ladder, who has left play
            return {**told, "play_on": None}
        return {**told, "play_on": play_on(spec, board, [board.seats[entry] for entry in place.pairing.seats])}

    def entry(self, asked: Mapping[str, Any]) -> Reply:
        """What an entry of the last run of a store is: its options, limits and source, board by board."""
        with Store.open(asked["store"]) as store:
            spec = store.last().load(self._allowed_code(asked))
        return {"entry": entry_facts(spec, asked["label"])}

    def panels(self, asked: Mapping[str, Any]) -> Reply:
        """The panels of plugins for a match, an entry or a board. The spec of the store is not loaded: it may name any code."""
        wanted = WantedPanels.model_validate(asked)
        with Store.open(asked["store"]) as store, store.snapshot():
            subject = wanted.find(store)
            return {"panels": collect_panels(self._registry, wanted.place, store, subject, public=asked.get("public", False))}

    def _allowed_code(self, asked: Mapping[str, Any]) -> Collection[str]:
        """The places of code that whoever started the server has named: by `--plugin`, or in the spec that is played."""
        allowed = dict.fromkeys(map(resolve_place, self._plugins))
        if asked.get("spec") is None:
            return allowed
        spec = load_spec(asked["spec"], plugins=self._plugins)
        return {**allowed, **list_named_code(spec.document, spec.plugins, spec.registry)}


def show_match(game: Game, record: Record) -> Reply:
    """Return a match as a view with the board that draws it."""
    module = load_board_module(type(game))
    found = view(game, record, drawn=module.source is not None).as_dict()
    return {"view": {**found, "game": with_board(found["game"], module)}}


def with_board(told: Reply, module: BoardModule) -> Reply:
    """Return what is told of a game, with the source of the module that draws it; the server gives that an address."""
    return {**told, "board": module.source, "note": module.note or told.get("note")}


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
