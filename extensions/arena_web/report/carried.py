"""The matches that a report contains, each with all its positions. They are compressed, so that a page with thousands of matches
stays small.
"""

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
from arena.api.match import FAULTS
from arena.api.spec import list_named_code
from arena.api.store import Run, Store
from arena_catalog.board_files import BoardModule, load_board_module
from arena_web.panels import collect_panels
from arena_web.report.evidence import Evidence, Findings, MatchSummary
from arena_web.views import MatchView, text_view, view

MAX_PACK_MATCHES = 40
"""The maximum number of matches in a pack (matches that are compressed together). The page unpacks one pack at a time."""
FULL_PACK_CHARACTERS = 4_000_000
"""The number of characters at which a pack is closed, even with fewer than the maximum number of matches."""
MAX_POSITIONS = 200_000
"""The maximum number of positions in all contained matches; replaying so many takes some seconds."""
MAX_CHARACTERS = 12_000_000
"""The maximum size of all packs together."""
FRAME = ("number", "state", "rendered", "grid", "action", "seat", "nodes", "evaluations", "depth", "value", "exact", "seconds")
"""The values of a frame in a pack, which are stored as a list in this order. The label is left out, because the seat determines
it.
"""
_read_frame = attrgetter(*FRAME)


FAILED, DECISIVE, OTHER = range(3)
"""The ranks of matches: FAILED for matches that were lost by a fault, void or unsolved, DECISIVE for decisive or solved matches,
and OTHER for draws.
"""


class Chosen(NamedTuple):
    """A chosen match and its board."""

    board: int
    match: MatchSummary


class _Turn(NamedTuple):
    """The sort key of a match. Matches are sorted by rank; within a rank, all pairings of all boards take turns."""

    rank: int
    turn: int
    board: int
    place: int
    """The negative place of the match, so that the newest match comes first."""


def choose_matches(boards: Sequence[Evidence], most: int, positions: int) -> list[Chosen]:
    """Choose matches until the limits on the numbers of matches and positions are reached: failures first, then decisive matches,
    then draws. In each of these groups, all pairings take turns; for each pairing, the newest match comes first.

    At first, failures get only half of the room, so that a report with many failures also shows other matches. If the other
    matches do not fill their half, failures get the rest.
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
    """Choose matches in the given order, as long as there is room."""
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
    """Return FAILED, DECISIVE or OTHER."""
    if match.void or match.termination in FAULTS or match.solved is False:
        return FAILED
    return DECISIVE if match.solved or len(set(match.returns)) > 1 else OTHER


@dataclass(frozen=True, slots=True)
class Carried:
    """The data of matches that the list, the filters and the views of the page need."""

    listed: tuple[dict[str, Any], ...]
    packs: tuple[str, ...]
    """The packs. Each is a JSON list of matches, compressed by zlib and encoded in Base64. `pack` and `at` in `listed` give the
    place of a match.
    """
    of: int
    """The number of matches on all boards."""
    left_out: int
    """The number of matches that the key `report` of the spec leaves out."""
    trouble: str | None
    """The reason why matches are shown without boards; None if they have boards."""
    boards: Mapping[str, str]
    """The source of the module that draws each game, by the name of the game."""
    notes: tuple[str, ...]
    """Faults of board modules and grids that cannot be used."""
    panels: Mapping[str, str]
    """The scripts of the panels of matches, by the name of the panel."""


def carry_matches(store: Store, found: Findings, most: int, registry: Registry) -> Carried:
    """Pack at most `most` matches, and fewer if they would take too much room. The registry describes their games."""
    games = _games(found.run, registry)
    packs = _Packs()
    scripts: dict[str, str] = {}
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
                "seats": match.seats,  # the numbers of the entries
                "returns": match.returns,
                "solved": match.solved,
                "termination": match.termination,
                "seat": match.seat,
                "rank": rank_of(match),
                "moves": match.moves,
            }
            shown = _show(games, record, found.boards[one.board].sheet.game, one.board)
            panels = collect_panels(registry, "match", store, record.id, in_report=True)
            if panels:
                scripts |= {panel["name"]: panel["script"] for panel in panels if panel["script"] is not None}
                shown["panels"] = [panel if panel["script"] is None else {**panel, "script": panel["name"]} for panel in panels]
            packs.add(line, shown)
        if packs.size > MAX_CHARACTERS:
            break
    of = sum(len(evidence.matches) for evidence in found.boards)
    boards = {name: module.source for name, module in games.modules.items() if module.source is not None}
    left_out = sum(evidence.sheet.left_out for evidence in found.boards)
    return Carried(tuple(packs.listed), tuple(packs.finish()), of, left_out, games.trouble, boards, tuple(games.notes), scripts)


class _Packs:
    """The packs that are being filled."""

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
    """The games on the boards, by the numbers of the boards."""

    of: Mapping[int, Game] = field(default_factory=dict)
    modules: Mapping[str, BoardModule] = field(default_factory=dict)
    """The modules that draw the games, by the names of the games."""
    notes: dict[str, None] = field(default_factory=dict)
    """All faults, in the order in which they were found."""
    trouble: str | None = None
    """The reason why some games are missing."""

    def describe(self, game: dict[str, Any]) -> dict[str, Any]:
        """Return the description of a game for a view, with its board module. Faults of the module or the grid are noted."""
        name, note = game["name"], game["note"]
        if note is not None:
            self.notes[f"game {name}: {note}"] = None
        module = self.modules[name]
        return {**game, "board": name if module.source is not None else None, "note": module.note or note}


def _games(run: Run, registry: Registry) -> _Games:
    """Return the games that are known here. A plugin that only the store names is not loaded."""
    made = {number: sheet.make_game(registry, run.document.folder) for number, sheet in enumerate(run.boards)}
    games = {number: game for number, game in made.items() if game is not None}
    kinds = {game.name: type(game) for game in games.values()}
    modules = {name: load_board_module(kind) for name, kind in kinds.items()}
    notes = [f"game {name}: {module.note}" for name, module in modules.items() if module.note is not None]
    found = _Games(games, modules, dict.fromkeys(notes))
    unknown = dict.fromkeys([str(sheet.game["name"]) for number, sheet in enumerate(run.boards) if number not in games])
    if unknown:
        plugins = [plugin for plugin in list_named_code(run.document, run.plugins_asked, registry).values() if plugin is not None]
        option = shlex.join([word for plugin in plugins for word in ("--plugin", plugin)]) or "--plugin FILE"
        told = "unknown, so its matches are shown only as text"
        found.trouble = f"{', '.join(unknown)}: {told}; use {option} to draw them."
    return found


def _show(games: _Games, record: Record, described: Mapping[str, Any], board: int) -> dict[str, Any]:
    """Return a match in the form that the player on the page needs."""
    game = games.of.get(board)
    if game is None or game.name != record.game:
        return _compact(text_view(record, described))
    try:
        shown = view(game, record, drawn=games.modules[record.game].source is not None)
        return {**_compact(shown), "game": games.describe(shown.game)}
    except Exception as error:  # a fault of a plugin must not stop the other matches
        return _compact(text_view(record, described, [f"the match cannot be shown: {describe(error)}"]))


def _compact(shown: MatchView) -> dict[str, Any]:
    """Return a view whose frames are lists without keys. Times are rounded, because further digits do not compress."""
    frames = []
    for frame in shown.frames:
        *values, seconds = _read_frame(frame)
        frames.append([*values, None if seconds is None else float(f"{seconds:.3g}")])
    return {**{one.name: getattr(shown, one.name) for one in fields(shown)}, "frames": frames}  # asdict would make a deep copy
