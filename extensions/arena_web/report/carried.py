"""The matches that a report contains with all their positions, compressed so that a page with thousands stays small."""

import base64
import json
import shlex
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, NamedTuple

from arena import Game, Record, Registry
from arena.api.errors import describe
from arena.api.games import list_ignored
from arena.api.match import FAULTS
from arena.api.results import make_known_game
from arena.api.spec import list_named_code
from arena.api.store import Run, Store
from arena_catalog.board_files import BoardModule, load_board_module
from arena_web.report.evidence import Evidence, Findings, MatchSummary
from arena_web.views import MatchView, text_view, view

MAX_PACK_MATCHES = 40
"""The maximum number of matches in a pack; the page unpacks one pack at a time."""
FULL_PACK_CHARACTERS = 4_000_000
"""The number of characters that closes a pack before it has the maximum number of matches."""
MAX_POSITIONS = 200_000
"""The maximum number of positions of all contained matches; replaying that many takes seconds."""
MAX_CHARACTERS = 12_000_000
"""The maximum size of all packs."""
FRAME = ("number", "state", "rendered", "grid", "action", "seat", "nodes", "evaluations", "depth", "value", "seconds")
"""The values of a frame in a pack, as a list in this order; the label follows from the seat."""
_read_frame = attrgetter(*FRAME)


FAILED, DECISIVE, OTHER = range(3)
"""The ranks of matches: lost by a fault, void or unsolved; decisive or solved; draws."""


class Chosen(NamedTuple):
    """A match of a board."""

    board: int
    match: MatchSummary


class _Turn(NamedTuple):
    """The sort key of a match: by rank, and within a rank all pairings of all boards in turn."""

    rank: int
    turn: int
    board: int
    place: int
    """Negative, so that the newest come first."""


def choose_matches(boards: Sequence[Evidence], most: int, positions: int) -> list[Chosen]:
    """Choose matches within limits on their number and positions: failures first, then decisive ones, the newest of each first.

    Failures get half of the room and the unused part of the other half, so that other matches are always shown too.
    """
    seen: Counter[tuple[int, int, tuple[int, ...]]] = Counter()
    turns: list[tuple[_Turn, MatchSummary]] = []
    for evidence in boards:
        for match in sorted(evidence.matches, key=lambda match: -match.place):
            rank = rank_of(match)
            group = (evidence.number, rank, match.seats)
            turns.append((_Turn(rank, seen[group], evidence.number, -match.place), match))
            seen[group] += 1
    turns.sort(key=lambda item: item[0])
    failed = [Chosen(turn.board, match) for turn, match in turns if turn.rank == FAILED]
    others = [Chosen(turn.board, match) for turn, match in turns[len(failed) :]]
    first = _within(failed, most // 2, positions // 2)
    places, room = most - len(first), positions - _positions(first)
    second = _within(others, places, room)
    more = _within(failed[len(first) :], places - len(second), room - _positions(second))
    return [*first, *more, *second]


def _within(wanted: Sequence[Chosen], most: int, positions: int) -> list[Chosen]:
    """Choose the first ones that have room."""
    kept: list[Chosen] = []
    for one in wanted[: max(0, most)]:
        positions -= _positions([one])
        if positions < 0:
            break
        kept.append(one)
    return kept


def _positions(matches: Sequence[Chosen]) -> int:
    return sum(one.match.positions for one in matches)


def rank_of(match: MatchSummary) -> int:
    """FAILED, DECISIVE or OTHER."""
    if match.void or match.termination in FAULTS or match.solved is False:
        return FAILED
    return DECISIVE if match.solved or len(set(match.returns)) > 1 else OTHER


@dataclass(frozen=True, slots=True)
class Carried:
    """The data of matches for the list, the filters and the views of the page."""

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


def carry_matches(store: Store, found: Findings, most: int, registry: Registry) -> Carried:
    """Pack up to the requested number of matches, as far as there is room, with the games of a registry."""
    games = _games(found.run, registry)
    packs = _Packs()
    wanted = choose_matches(found.boards, most, MAX_POSITIONS)
    for start in range(0, len(wanted), MAX_PACK_MATCHES):
        part = wanted[start : start + MAX_PACK_MATCHES]
        places = [one.match.place for one in part]
        marks = ",".join("?" * len(places))
        query = f"SELECT p.number, r.id FROM place p JOIN record r ON r.number = p.record WHERE p.number IN ({marks})"  # noqa: S608
        keys = {place: key.hex() for place, key in store.query(query, places)}
        records = store.found(sorted(set(keys.values())))
        for one in part:
            match, (record, *_) = one.match, records[keys[one.match.place]]
            line = {
                "id": record.id,
                "board": one.board,
                "seats": match.seats,  # the numbers of its entries
                "returns": match.returns,
                "solved": match.solved,
                "termination": match.termination,
                "rank": rank_of(match),
                "moves": match.moves,
            }
            packs.add(line, _show(games, record, found.boards[one.board].sheet.game, one.board))
        if packs.size > MAX_CHARACTERS:
            break
    of = sum(len(evidence.matches) for evidence in found.boards)
    boards = {name: module.source for name, module in games.modules.items() if module.source is not None}
    return Carried(tuple(packs.listed), tuple(packs.finish()), of, games.trouble, boards, tuple(games.notes))


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
        if len(self._open) == MAX_PACK_MATCHES or sum(map(len, self._open)) > FULL_PACK_CHARACTERS:
            self._close()

    def finish(self) -> list[str]:
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
    """All faults, in the order of discovery."""
    trouble: str | None = None
    """The reason why some are missing."""

    def describe(self, game: dict[str, Any]) -> dict[str, Any]:
        """Return the description of a game for a view, with its board module, and note faults of the module or the grid."""
        name, note = game["name"], game["note"]
        if note is not None:
            self.notes[f"game {name}: {note}"] = None
        module = self.modules[name]
        return {**game, "board": name if module.source is not None else None, "note": module.note or note}


def _games(run: Run, registry: Registry) -> _Games:
    """Return the games known here. Plugins that are only named by a store are not loaded."""
    games = {number: game for number, sheet in enumerate(run.boards) if (game := make_known_game(sheet, registry)) is not None}
    kinds = {game.name: type(game) for game in games.values()}
    modules = {name: load_board_module(kind) for name, kind in kinds.items()}
    notes = [
        f"game {name}: {note}"
        for name, kind in kinds.items()
        for note in (*list_ignored(kind), modules[name].note)
        if note is not None
    ]
    found = _Games(games, modules, dict.fromkeys(notes))
    unknown = dict.fromkeys([str(sheet.game["name"]) for number, sheet in enumerate(run.boards) if number not in games])
    if unknown:
        plugins = [plugin for plugin in list_named_code(run.document, run.plugins_asked, registry).values() if plugin is not None]
        option = shlex.join([word for plugin in plugins for word in ("--plugin", plugin)]) or "--plugin FILE"
        told = "not known here, so its matches are shown as text alone"
        found.trouble = f"{', '.join(unknown)}: {told}; with {option} they are drawn."
    return found


def _show(games: _Games, record: Record, described: Mapping[str, Any], board: int) -> dict[str, Any]:
    """A match for the player of the views."""
    game = games.of.get(board)
    if game is None or game.name != record.game:
        return _compact(text_view(record, described))
    try:
        shown = view(game, record, drawn=games.modules[record.game].source is not None)
        return {**_compact(shown), "game": games.describe(shown.game)}
    except Exception as error:  # a plugin's own fault: the other matches go on
        return _compact(text_view(record, described, [f"the match cannot be shown: {describe(error)}"]))


def _compact(shown: MatchView) -> dict[str, Any]:
    """A view without the keys of its frames. Times are rounded, because further digits do not compress."""
    frames = []
    for frame in shown.frames:
        *values, seconds = _read_frame(frame)
        frames.append([*values, None if seconds is None else float(f"{seconds:.3g}")])
    return {**{one.name: getattr(shown, one.name) for one in fields(shown)}, "frames": frames}  # asdict would copy deeply
