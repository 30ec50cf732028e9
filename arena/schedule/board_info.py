"""A board as a store keeps it: enough for a leaderboard, without its game, its agents or any plugin."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from arena.errors import call_foreign
from arena.format import Kind, RankedBy, own_columns, ranks
from arena.game import Game
from arena.identity import canonical, key
from arena.match.match import Seat
from arena.plugins.registry import Registry
from arena.schedule.plugin_columns import PluginColumn, declare_columns
from arena.schedule.ranking import Ranking
from arena.spec import Board
from arena.spec.parameters import validate_parameters


@dataclass(frozen=True, slots=True)
class BoardInfo:
    """A board without its code: the game, the entries, the size of the schedule, and how it is shown."""

    title: str
    game: dict[str, Any]
    """Its name and parameters."""
    kind: Kind
    labels: tuple[str, ...]
    """The entries in the order of the spec."""
    size: int
    """The number of matches of the schedule; if it depends on results, the largest possible number."""
    exact: bool
    """True if the number is certain before anything is played."""
    timed: tuple[str, ...] = ()
    """Entries with a time limit for their decisions, so that a repeated match may end differently."""
    soft: tuple[str, ...] = ()
    """Those that are not stopped at the limit, because they run in arena's own processes."""
    format: str = ""
    """The name of the format."""
    test: dict[str, Any] | None = None
    """The test of a head-to-head match."""
    anchor: str | None = None
    """The entry with the rating 0; None if the field's mean is."""
    columns: tuple[str, ...] | None = None
    """The columns that the spec asks for, by the keys of rows."""
    sort: str | None = None
    """The row key by which the spec sorts rows; with `-` before it the largest comes first."""

    optimal: tuple[str, ...] = ()
    """Entries that claim optimal solutions."""
    limits: dict[str, dict[str, float]] = field(default_factory=dict)
    """The limits of a decision of each entry, of `nodes` and of `seconds`; entries without limits are missing."""
    ranked_by: RankedBy = "score"
    """The order of a versus board when its format has no ranking."""
    ranking: Ranking | None = None
    """The ranking by the format, without placings until a run has ended; None if the format has none of its own."""
    plugin_columns: tuple[PluginColumn, ...] = ()
    """The columns that plugins bring."""
    has_chance: bool = False
    """True if chance moves in the game, so that all matches of a round share dice and deals."""
    apart: tuple[str, ...] = ()
    """Entries that play outside of arena's own processes, so that their time includes the communication."""
    has_openings: bool = False
    """True if rounds begin from different positions, by openings or by positions of the spec."""
    settings: tuple[dict[str, Any], ...] = ()
    """The settings of each entry, with all defaults filled in: `agent`, `options`, `heuristic`, and the `key` of its part in ids,
    and of the game, without defaults."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the game."""
        return {name: value for name, value in self.game.items() if name != "name"}

    def limits_of(self, entry: int) -> dict[str, float]:
        """The limits of a decision of an entry; empty if there are none."""
        return self.limits.get(self.labels[entry], {})

    def as_dict(self) -> dict[str, Any]:
        """Return the sheet as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return a sheet from its plain values."""
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        ranking = values.get("ranking")
        columns = tuple([PluginColumn.from_dict(column) for column in values.get("plugin_columns", ())])
        known = None if ranking is None else Ranking.from_dict(ranking)
        return cls(**{**values, **lists, "ranking": known, "plugin_columns": columns})


def make_known_game(sheet: BoardInfo, registry: Registry) -> Game | None:
    """Return the game of a board, made from a registry; None if the registry has no such game with its parameters."""
    kind = registry.games.get(sheet.game["name"])
    faults: list[str] = []
    values = None if kind is None else validate_parameters(kind, sheet.parameters, (), lambda _, message: faults.append(message))
    return None if kind is None or values is None else call_foreign(lambda: kind(**values), lambda _: None)


def describe_board(board: Board, registry: Registry | None = None) -> BoardInfo:
    """Return the sheet of a board, with the columns of the plugins of a registry."""
    format_ = board.format
    timed = [seat for seat in board.seats if seat.limits.timed]
    limits: dict[str, dict[str, float]] = {}
    for seat in board.seats:
        given = {"nodes": seat.limits.nodes, "seconds": seat.limits.seconds}
        if found := {name: limit for name, limit in given.items() if limit is not None}:
            limits[seat.label] = found
    settings = [{"key": entry_key(board, seat), "agent": seat.agent, **seat.settings._asdict()} for seat in board.seats]
    return BoardInfo(
        title=board.title,
        game={"name": board.name, **board.parameters},
        kind=board.kind,
        labels=tuple([seat.label for seat in board.seats]),
        size=board.size,
        exact=not format_.follows_results,
        timed=tuple([seat.label for seat in timed]),
        soft=tuple([seat.label for seat in timed if seat.in_process]),
        format=format_.name,
        test=dict(format_.sequential_test) if isinstance(format_.sequential_test, Mapping) else None,
        anchor=board.view.anchor,
        columns=board.view.columns,
        sort=board.view.sort,
        optimal=tuple([seat.label for seat in board.seats if seat.optimal]),
        limits=limits,
        ranked_by=board.ranked_by,
        ranking=Ranking(own_columns(format_)) if ranks(format_) else None,
        plugin_columns=() if registry is None else declare_columns(registry, [column.key for column in own_columns(format_)]),
        has_chance=board.has_chance,
        apart=tuple([seat.label for seat in board.seats if not seat.in_process]),
        has_openings=board.positions.plies > 0 or len(set(board.positions.texts or ())) > 1,
        settings=tuple(json.loads(canonical(settings))),  # a value that JSON lacks becomes the name of its type
    )


def entry_key(board: Board, seat: Seat) -> str:
    """Return the key of the part of a game and of an entry in ids: neither contains options at their defaults."""
    return key(canonical([board.name, board.positions.changed, seat.identity]))
