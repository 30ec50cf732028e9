"""A board as a store keeps it: all that a leaderboard needs of it, without its game, its agents or any plugin."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from arena.errors import call_foreign
from arena.format import Kind, RankedBy, own_columns, ranks
from arena.game import Game
from arena.identity import canonical, key
from arena.match.match import IN_PROCESS, Seat
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
    """The number of matches of the schedule; if that depends on results, the most there can be."""
    exact: bool
    """True if the number is certain before anything is played."""
    timed: tuple[str, ...] = ()
    """Entries whose decisions have a time limit, so that their matches need not come out the same again."""
    soft: tuple[str, ...] = ()
    """Those of them that are not stopped at the limit, since they run in arena's own processes."""
    format: str = ""
    """The name of the format."""
    test: dict[str, Any] | None = None
    """The test of a head-to-head match."""
    anchor: str | None = None
    """The entry whose rating is 0; None if the field's mean is."""
    columns: tuple[str, ...] | None = None
    """The columns that the spec wants, by the keys of rows."""
    sort: str | None = None
    """The key by which the spec wants rows sorted; with `-` before it the largest comes first."""

    optimal: tuple[str, ...] = ()
    """Entries whose solutions are cheapest ones."""
    limits: dict[str, dict[str, float]] = field(default_factory=dict)
    """The limits of a decision of each entry, of `nodes` and of `seconds`; entries without limits are missing."""
    ranked_by: RankedBy = "score"
    """The order of a versus board without a ranking of its format's own."""
    ranking: Ranking | None = None
    """The ranking by the format, without placings until a run has come to its end; None if the format has none of its own."""
    plugin_columns: tuple[PluginColumn, ...] = ()
    """The columns that plugins bring."""
    has_chance: bool = False
    """True if chance moves in the game, so that all matches of a round share dice and deals."""
    settings: tuple[dict[str, Any], ...] = ()
    """What each entry plays with, all defaults filled in: `agent`, `options`, `heuristic`, and the `key` of what ids have of
    it and of the game, which has no defaults."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the game."""
        return {name: value for name, value in self.game.items() if name != "name"}

    def limits_of(self, entry: int) -> dict[str, float]:
        """The limits of a decision of an entry; empty if there are none."""
        return self.limits.get(self.labels[entry], {})

    def as_dict(self) -> dict[str, Any]:
        """The sheet as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """A sheet from its plain values."""
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        ranking = values.get("ranking")
        columns = tuple([PluginColumn.from_dict(column) for column in values.get("plugin_columns", ())])
        known = None if ranking is None else Ranking.from_dict(ranking)
        return cls(**{**values, **lists, "ranking": known, "plugin_columns": columns})


def make_known_game(sheet: BoardInfo, registry: Registry) -> Game | None:
    """Return the game of a board, made from a registry; None if that has none of its name that takes its parameters."""
    kind = registry.games.get(sheet.game["name"])
    faults: list[str] = []
    values = None if kind is None else validate_parameters(kind, sheet.parameters, (), lambda _, message: faults.append(message))
    return None if kind is None or values is None else call_foreign(lambda: kind(**values), lambda _: None)


def describe_board(board: Board, registry: Registry | None = None) -> BoardInfo:
    """The sheet of a board, with the columns of the plugins of a registry."""
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
        soft=tuple([seat.label for seat in timed if seat.isolation == IN_PROCESS]),
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
        settings=tuple(json.loads(canonical(settings))),  # a value that JSON lacks becomes the name of its type
    )


def entry_key(board: Board, seat: Seat) -> str:
    """Return the key of what ids have of a game and of an entry: neither has options at their defaults."""
    return key(canonical([board.name, board.positions.changed, seat.identity]))
