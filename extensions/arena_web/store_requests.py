"""Answers requests about the store of a tournament: about its matches, its entries, and the panels of plugins."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from arena import Agent, Game, Limits, PluginError, Puzzle, Record, Registry, Spec, SpecError
from arena.api.match import Seat
from arena.api.results import BoardInfo
from arena.api.spec import Board, Parameters, PluginPlace, list_named_code, load_spec, reload_spec, source_line
from arena.api.store import ForeignCode, Run, Store
from arena_catalog.board_files import BoardModule, load_board_module
from arena_catalog.catalogue import summary
from arena_web.errors import BadRequest
from arena_web.form import LimitsForm
from arena_web.inventory import PEOPLE, asks_estimates, form_fields
from arena_web.panels import WantedPanels, collect_panels
from arena_web.views import text_view, view

Reply = dict[str, Any]
MAX_SECONDS = 60.0
"""The maximum number of seconds per decision that a page may set."""
BOARD_KEYS = ("game", "games", "limits", "isolation", "pondering")
"""The parts of a spec on which the games depend. The ids of matches depend on them, too."""


class StoreRequests:
    """Answers requests about a store with the plugins of one registry."""

    def __init__(self, registry: Registry, plugins: tuple[str, ...]) -> None:
        self._registry = registry
        self._plugins = plugins

    def view(self, asked: Mapping[str, Any]) -> Reply:
        """Return a match of a store as a view. The path of the store comes from the server and never from a page."""
        with Store.open(asked["store"]) as store:
            record, place = store.record(asked["id"])
            run = store.last()
        number = run.board_of(record.game, place)
        if number is None:
            raise BadRequest(f"the last run of this store does not play {record.game}")
        sheet = run.boards[number]
        try:
            spec = self._load(run, asked)
        except (ForeignCode, SpecError, PluginError) as error:
            game = sheet.make_game(self._registry, run.document.folder)
            missing = f"{record.game} is unknown, so its moves are shown as text; {error}"
            told = show_match(game, record) if game is not None else {"view": text_view(record, sheet.game, [missing]).as_dict()}
            return {**told, "play_on": None}
        board = spec.boards[number]
        told = show_match(board.game, record)
        if place is None or max(place.pairing.seats) >= len(sheet.settings):  # on a ladder, authors may have left
            return {**told, "play_on": None}
        known = seats_by_key(board)
        seats = [known.get(key_of(sheet, entry)) for entry in place.pairing.seats]
        if asked.get("spec") is None:  # a page can start an agent that waits for something outside only from a served spec
            seats = [None if seat is None or seat.waits else seat for seat in seats]
        return {**told, "play_on": play_on(spec, board, seats)}

    def entry(self, asked: Mapping[str, Any]) -> Reply:
        """Return the options, limits and source of an entry on each board of the last run of a store."""
        with Store.open(asked["store"]) as store:
            run = store.last()
        spec, label = self._load(run, asked), asked["label"]
        found = []
        for sheet, board in zip(run.boards, spec.boards, strict=True):
            for entry in [number for number, _ in enumerate(sheet.settings) if sheet.labels[number] == label]:
                seat = seats_by_key(board).get(key_of(sheet, entry))
                found.append(entry_facts(spec, board, seat) if seat is not None else stored_facts(sheet, entry))
        return {"entry": [{"board": number, **facts} for number, facts in enumerate(found)]}

    def panels(self, asked: Mapping[str, Any]) -> Reply:
        """Return the panels of plugins for a match, an entry or a board. The spec of the store is not loaded, because it may name
        any code. The store may have been `verified` by the server.
        """
        wanted = WantedPanels.model_validate(asked)
        with Store.open(asked["store"]) as store, store.snapshot(verified=asked.get("verified", False)):
            subject = wanted.find(store)
            return {"panels": collect_panels(self._registry, wanted.place, store, subject, public=asked.get("public", False))}

    def _load(self, run: Run, asked: Mapping[str, Any]) -> Spec:
        """Return the spec of a run. Entries are left out if only the store names their code, because a store may name any code.

        Leaving them out does not affect the other entries, because the ids of matches contain the keys of entries and not their
        numbers.
        """
        allowed = self._allowed_code(asked)
        try:
            return run.load(allowed)
        except ForeignCode as foreign:
            document = run.document
            kept = {key: value for key, value in document.values.items() if key in BOARD_KEYS}
            agents = [
                entry
                for entry in document.values["agents"]
                if list_named_code(replace(document, values={"agents": [entry]}), (), self._registry).keys() <= allowed.keys()
            ]
            agents += [{"agent": "random", "label": f"stand-in {number}"} for number in range(max(0, 2 - len(agents)))]
            try:
                return reload_spec(replace(document, values={**kept, "agents": agents}), self._plugins, 0)
            except SpecError:
                raise foreign from None

    def _allowed_code(self, asked: Mapping[str, Any]) -> dict[str, str | None]:
        """Return the places of the code that may be loaded: code given by `--plugin`, and code that is named in the spec that the
        server plays.
        """
        allowed: dict[str, str | None] = dict.fromkeys([PluginPlace(plugin).real for plugin in self._plugins])
        if asked.get("spec") is None:
            return allowed
        spec = load_spec(asked["spec"], plugins=self._plugins)
        return {**allowed, **list_named_code(spec.document, spec.plugins, spec.registry)}


def show_match(game: Game, record: Record) -> Reply:
    """Return a match as a view, with the board that draws it."""
    module = load_board_module(type(game))
    found = view(game, record, drawn=module.source is not None).as_dict()
    return {"view": {**found, "game": with_board(found["game"], module)}}


def with_board(told: Reply, module: BoardModule) -> Reply:
    """Return the description of a game with the source of its board module. The server replaces the source by an address."""
    return {**told, "board": module.source, "note": module.note or told.get("note")}


def key_of(sheet: BoardInfo, entry: int) -> str:
    """Return the key that stands for an entry in the ids of matches."""
    return str(sheet.settings[entry]["key"])


def seats_by_key(board: Board) -> dict[str, Seat]:
    """Return the seats of a board by the keys that ids use for them."""
    return {str(one["key"]): seat for one, seat in zip(BoardInfo.of(board).settings, board.seats, strict=True)}


def play_on(spec: Spec, board: Board, seats: Sequence[Seat | None]) -> dict[str, Any]:
    """Return the `game`, the `agents` and the `limits` for the page of games or puzzles, when it continues from a position of a
    match.

    A game or an agent is None if a form cannot express it, for example a program or an option that is a list. A seat is None if
    its entry is not known here.
    """
    kind: type[Game] = type(board.game)
    values = _changed_values(kind, board.parameters)
    limits = [Limits() if seat is None else seat.limits for seat in seats]
    return {
        "game": None if values is None else {"name": board.name, "parameters": values},
        "puzzle": isinstance(board.game, Puzzle),
        "agents": [None if seat is None else _agent_form(spec.registry, board, seat) for seat in seats],
        "limits": [
            LimitsForm(nodes=one.nodes, seconds=None if one.seconds is None else min(one.seconds, MAX_SECONDS)).keys()
            for one in limits
        ],
    }


def entry_facts(spec: Spec, board: Board, seat: Seat) -> dict[str, Any]:
    """Describe an entry of a board: its agent, options, heuristic, limits and source."""
    program = None if seat.program is None else seat.program.command
    kind = None if program is not None else spec.registry.agents.get(seat.agent)
    options = {name: value for name, value in seat.settings.options.items() if program is None or name != "command"}
    return {
        "title": board.title,
        "agent": seat.agent,
        "summary": "" if kind is None else summary(kind),
        "options": {name: json.dumps(value, ensure_ascii=False) for name, value in options.items()},
        "heuristic": seat.settings.heuristic,
        "limits": {name: value for name, value in json.loads(seat.identity)["limits"].items() if value is not None},
        "moves": seat.limits.moves,
        "isolation": seat.isolation,
        "source": " ".join(program) if program is not None else _source(spec.registry, seat.agent, kind),
    }


def stored_facts(sheet: BoardInfo, entry: int) -> dict[str, Any]:
    """Describe an entry without its code, from the store alone; unknown values are None."""
    settings = sheet.settings[entry]
    return {
        "title": sheet.title,
        "agent": settings["agent"],
        "summary": "",
        "options": {name: json.dumps(value, ensure_ascii=False) for name, value in settings["options"].items()},
        "heuristic": settings["heuristic"],
        "limits": sheet.limits_of(entry),
        "moves": None,
        "isolation": None,
        "source": "not loaded, because only the store names this code; use `arena serve --plugin FILE` to load it",
    }


def _source(registry: Registry, name: str, kind: type[Agent] | None) -> str:
    """Return the plugin of an agent, with its file and line. The path of an installed package is relative to the folder of the
    package.
    """
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
    changed = form_options(kind, settings.options)
    options = changed if _has_fields(kind, changed) else None
    named = settings.heuristic if asks_estimates(kind) else None
    heuristic = named
    if named is None and asks_estimates(kind) and board.game.default_heuristic is not None:
        return None  # the form cannot express an entry without a heuristic
    if heuristic is not None:
        values = _changed_values(registry.heuristic(board.name, heuristic["name"]), heuristic["parameters"])
        heuristic = None if values is None else {"name": heuristic["name"], "parameters": values}
    if options is None or (heuristic is None) != (named is None):
        return None
    return {"agent": seat.agent, "options": options, "heuristic": heuristic}


def form_options(kind: type[Agent], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a page sends to start an agent: only options that differ from their defaults.

    The files of an agent that waits for something outside are left out, because the served entry that it continues has them.
    """
    parameters = Parameters(kind)
    changed = parameters.drop_defaults(options)
    return {name: value for name, value in changed.items() if not (kind.waits and parameters.names_file(name, value))}


def _changed_values(constructor: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the parameters that differ from their defaults; None if a form has no field for one of them."""
    changed = Parameters(constructor).drop_defaults(values)
    return changed if _has_fields(constructor, changed) else None


def _has_fields(constructor: Callable[..., Any], values: Mapping[str, Any]) -> bool:
    return values.keys() <= {field["name"] for field in form_fields(constructor)}
