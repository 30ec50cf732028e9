"""The matches that a report carries with all their positions, packed so that a page of thousands stays small."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from arena.errors import ArenaError, Interrupted, describe
from arena.game import Game
from arena.match.record import Record
from arena.report.evidence import Findings
from arena.report.selection import Chosen, chosen, rank_of
from arena.store import Store
from arena.store.run import Run
from arena.views import Frame, View, board_modules, view

TOGETHER = 40
"""Matches in one pack at the most: the page unpacks one of them at a time."""
LARGE = 4_000_000
"""Characters at which a pack is closed although it has fewer."""
MOST_POSITIONS = 200_000
"""Of all matches that are carried: as many as take seconds to be played through again."""
MOST_CHARACTERS = 12_000_000
"""Of all packs."""
FRAME = ("number", "state", "rendered", "action", "seat", "nodes", "evaluations", "depth", "value", "seconds")
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


def carried(store: Store, found: Findings, most: int) -> Carried:
    """As many of the matches as were asked for and have room, packed."""
    games = _games(found.run)
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
    return Carried(tuple(packs.listed), tuple(packs.done()), of, games.trouble)


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


@dataclass(frozen=True, slots=True)
class _Games:
    """The games of the boards, by their numbers."""

    of: Mapping[int, Game]
    drawn: frozenset[str]
    """Those that are drawn on a board, by their names."""
    trouble: str | None
    """The reason why they could not be loaded again."""


def _games(run: Run) -> _Games:
    try:
        spec = run.load()
    except ArenaError as error:
        return _Games({}, frozenset(), f"The spec cannot be loaded here, so matches are shown as text alone: {error}")
    games = {number: board.game for number, board in enumerate(spec.boards)}
    return _Games(games, frozenset(board_modules(spec.registry)), None)


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
        return _unplayed(record, described, [])
    try:
        return _compact(view(game, record, drawn=record.game in games.drawn))
    except Interrupted:
        raise
    except Exception as error:  # a plugin's own fault: the other matches go on
        return _unplayed(record, described, [f"the match cannot be shown: {describe(error)}"])


def _compact(shown: View) -> dict[str, Any]:
    plain = {field.name: getattr(shown, field.name) for field in fields(shown)}  # asdict would copy everything deeply
    plain["frames"] = [_values(frame) for frame in shown.frames]
    return plain


def _values(frame: Frame) -> list[Any]:
    """The values that FRAME names. Times are rounded: their further digits are noise, which does not compress."""
    *values, seconds = _FRAME(frame)
    return [*values, None if seconds is None else float(f"{seconds:.3g}")]


def _unplayed(record: Record, game: Mapping[str, Any], differences: Sequence[str]) -> dict[str, Any]:
    """A match of which only the start can be shown, as text, with its actions below."""
    text = "\n\n".join([record.position, " ".join(record.actions), *([record.answer] if record.answer else [])])
    return {
        "id": record.id,
        "game": {"name": f"{game['name']} as text", "parameters": {}},
        "labels": record.labels,
        "frames": [[0, record.position, text, None, None, None, None, None, None, None]],
        "left_out": 0,
        "returns": record.returns,
        "solved": record.solved,
        "termination": record.termination,
        "seat": record.seat,
        "message": record.message,
        "moves": record.moves,
        "cost": record.cost,
        "fallbacks": record.fallbacks,
        "totals": [],
        "differences": list(differences),
    }


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
