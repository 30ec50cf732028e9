"""Answers of plugins to pages about a store: its matches as views, its entries. A store is data, and loads no plugin."""

from collections.abc import Collection, Mapping
from typing import Any

from arena.errors import PluginError, SpecError
from arena.game import Game
from arena.match.record import Record
from arena.plugins.registry import Registry
from arena.plugins.sources import real_place
from arena.schedule.board_info import known_game
from arena.spec import load_spec
from arena.spec.named_code import named_code
from arena.store import Store
from arena.store.run import ForeignCode
from arena.views import BoardModule, board_module, text_view, view
from arena.web.form import BadRequest
from arena.web.seat_forms import entry_facts, play_on

Reply = dict[str, Any]


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
            spec = run.load(self._allowed(asked))
        except (ForeignCode, SpecError, PluginError) as error:
            sheet = run.boards[number]
            game = known_game(sheet, self._registry)
            missing = f"{record.game} is not known here, so its moves are shown as text; {error}"
            told = shown(game, record) if game is not None else {"view": text_view(record, sheet.game, [missing]).as_dict()}
            return {**told, "play_on": None}
        board = spec.boards[number]
        told = shown(board.game, record)
        if place is None or max(place.pairing.seats) >= len(board.seats):  # of a ladder, who has left play
            return {**told, "play_on": None}
        return {**told, "play_on": play_on(spec, board, [board.seats[entry] for entry in place.pairing.seats])}

    def entry(self, asked: Mapping[str, Any]) -> Reply:
        """What an entry of the last run of a store is: its options, limits and source, board by board."""
        with Store.open(asked["store"]) as store:
            spec = store.last().load(self._allowed(asked))
        return {"entry": entry_facts(spec, asked["label"])}

    def _allowed(self, asked: Mapping[str, Any]) -> Collection[str]:
        """The places of code that whoever started the server has named: by `--plugin`, or in the spec that is played."""
        allowed = dict.fromkeys(map(real_place, self._plugins))
        if asked.get("spec") is None:
            return allowed
        spec = load_spec(asked["spec"], plugins=self._plugins)
        return {**allowed, **named_code(spec.document, spec.plugins)}


def shown(game: Game, record: Record) -> Reply:
    """Return a match as a view with the board that draws it."""
    module = board_module(type(game))
    found = view(game, record, drawn=module.source is not None).as_dict()
    return {"view": {**found, "game": with_board(found["game"], module)}}


def with_board(told: Reply, module: BoardModule) -> Reply:
    """Return what is told of a game, with the source of the module that draws it; the server gives that an address."""
    return {**told, "board": module.source, "note": module.note or told.get("note")}
