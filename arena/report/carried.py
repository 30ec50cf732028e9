"""The matches that a report carries with all their positions, packed so that a page of thousands stays small."""

import base64
import json
import shlex
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

from arena.errors import describe
from arena.game import Game
from arena.match.record import Record
from arena.plugins.members import ignored
from arena.plugins.registry import Registry
from arena.report.evidence import Findings
from arena.report.selection import Chosen, chosen, rank_of
from arena.schedule.board_info import known_game
from arena.spec.named_code import named_code
from arena.store import Store
from arena.store.run import Run
from arena.views import BoardModule, Frame, MatchView, board_module, text_view, view

TOGETHER = 40
"""Matches in one pack at the most: the page unpacks one of them at a time."""
LARGE = 4_000_000
"""Characters at which a pack is closed although it has fewer."""
MOST_POSITIONS = 200_000
"""Of all matches that are carried: as many as take seconds to be played through again."""
MOST_CHARACTERS = 12_000_000
"""Of all packs."""
FRAME = ("number", "state", "rendered", "grid", "action", "seat", "nodes", "evaluations", "depth", "value", "seconds")
"""The values of a frame that are kept, as a list in this order; the label follows from the seat."""
_FRAME = attrgetter(*FRAME)


@dataclass(frozen=True, slots=True)
class Carried:
    """Matches as the page lists, filters and shows them."""

    listed: tuple[dict[str, Any], ...]
    packs: tuple[str, ...]
    """Base64 of the zlib stream of a JSON list of matches; `pack` and `at` in `listed` say where each is."""
    of: int
    """The number of matches on the boards."""
    trouble: str | None
    """The reason why matches are not shown on boards; None if they are."""
    boards: Mapping[str, str]
    """The sources of the modules that draw games, by the names of the games."""
    notes: tuple[str, ...]
    """Boards and grids that cannot be used."""


def carried(store: Store, found: Findings, most: int, registry: Registry) -> Carried:
    """As many of the matches as were asked for and have room, packed; their games are those of a registry."""
    games = _games(found.run, registry)
    packs = _Packs()
    wanted = chosen(found.boards, most, MOST_POSITIONS)
    for start in range(0, len(wanted), TOGETHER):
        part = wanted[start : start + TOGETHER]
        records = _records(store, [one.match.place for one in part])
        for one in part:
            record = records[one.match.place]
            packs.add(_line(record, one), _shown(games, record, found.boards[one.board].sheet.game, one.board))
        if packs.size > MOST_CHARACTERS:
            break
    of = sum(len(evidence.matches) for evidence in found.boards)
    boards = {name: module.source for name, module in games.modules.items() if module.source is not None}
    return Carried(tuple(packs.listed), tuple(packs.done()), of, games.trouble, boards, tuple(games.notes))


class _Packs:
    """Packs as they fill."""

    def __init__(self) -> None:
        self.listed: list[dict[str, Any]] = []
        self.size = 0
        self._closed: list[str] = []
        self._open: list[str] = []

    def add(self, line: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
        self.listed.append({**line, "pack": len(self._closed), "at": len(self._open)})
        self._open.append(json.dumps(shown, separators=(",", ":"), allow_nan=False))
        if len(self._open) == TOGETHER or sum(map(len, self._open)) > LARGE:
            self._close()

    def done(self) -> list[str]:
        if self._open:
            self._close()
        return self._closed

    def _close(self) -> None:
        text = f"[{','.join(self._open)}]"
        self._closed.append(base64.b64encode(zlib.compress(text.encode(), 9)).decode())
        self.size += len(self._closed[-1])
        self._open = []


@dataclass(slots=True)
class _Games:
    """The games of the boards, by their numbers."""

    of: Mapping[int, Game] = field(default_factory=dict)
    modules: Mapping[str, BoardModule] = field(default_factory=dict)
    """The modules that draw the games, by their names."""
    notes: dict[str, None] = field(default_factory=dict)
    """All that cannot be used, in the order in which it was met."""
    trouble: str | None = None
    """The reason why some are missing."""

    def told(self, game: dict[str, Any]) -> dict[str, Any]:
        """What a view tells of a game, with the board that draws it, and what is wrong with that or with its grid."""
        name, note = game["name"], game["note"]
        if note is not None:
            self.notes[f"game {name}: {note}"] = None
        module = self.modules[name]
        return {**game, "board": name if module.source is not None else None, "note": module.note or note}


def _games(run: Run, registry: Registry) -> _Games:
    """The games that are known here: a store names plugins, and is no reason to load one."""
    games = {number: game for number, sheet in enumerate(run.boards) if (game := known_game(sheet, registry)) is not None}
    kinds = {game.name: type(game) for game in games.values()}
    modules = {name: board_module(kind) for name, kind in kinds.items()}
    notes = [
        f"game {name}: {note}"
        for name, kind in kinds.items()
        for note in (*ignored(kind), modules[name].note)
        if note is not None
    ]
    unknown = dict.fromkeys([str(sheet.game["name"]) for number, sheet in enumerate(run.boards) if number not in games])
    return _Games(games, modules, dict.fromkeys(notes), _trouble(run, list(unknown)) if unknown else None)


def _trouble(run: Run, unknown: Sequence[str]) -> str:
    plugins = [plugin for plugin in named_code(run.document, run.plugins_asked).values() if plugin is not None]
    option = shlex.join([word for plugin in plugins for word in ("--plugin", plugin)]) or "--plugin FILE"
    return f"{', '.join(unknown)}: not known here, so its matches are shown as text alone; with {option} they are drawn."


def _records(store: Store, places: Sequence[int]) -> dict[int, Record]:
    keys = {
        place: key.hex()
        for place, key in store.query(
            f"SELECT p.number, r.id FROM place p JOIN record r ON r.number = p.record WHERE p.number IN ({_marks(places)})",  # noqa: S608 - question marks
            places,
        )
    }
    records = store.found(sorted(set(keys.values())))
    return {place: records[key][0] for place, key in keys.items()}


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))


def _shown(games: _Games, record: Record, described: Mapping[str, Any], board: int) -> dict[str, Any]:
    """A match for the player of the views."""
    game = games.of.get(board)
    if game is None or game.name != record.game:
        return _compact(text_view(record, described))
    try:
        shown = view(game, record, drawn=games.modules[record.game].source is not None)
        return {**_compact(shown), "game": games.told(shown.game)}
    except Exception as error:  # a plugin's own fault: the other matches go on
        return _compact(text_view(record, described, [f"the match cannot be shown: {describe(error)}"]))


def _compact(shown: MatchView) -> dict[str, Any]:
    plain = {one.name: getattr(shown, one.name) for one in fields(shown)}  # asdict would copy everything deeply
    plain["frames"] = [_values(frame) for frame in shown.frames]
    return plain


def _values(frame: Frame) -> list[Any]:
    """The values that FRAME names. Times are rounded: their further digits are noise, which does not compress."""
    *values, seconds = _FRAME(frame)
    return [*values, None if seconds is None else float(f"{seconds:.3g}")]


def _line(record: Record, one: Chosen) -> dict[str, Any]:
    """A match in the list: `seats` are the numbers of its entries on the board."""
    match = one.match
    return {
        "id": record.id,
        "board": one.board,
        "seats": match.seats,
        "returns": match.returns,
        "solved": match.solved,
        "termination": match.termination,
        "rank": rank_of(match),
        "moves": match.moves,
    }
