"""A board as a store keeps it. It has all that a leaderboard needs, but not the game, the agents or any plugin."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from math import inf, isfinite
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict  # pydantic reads the one of the standard library from Python 3.12 on

from arena import configured
from arena.columns import ROW_KEYS, STYLES, Column
from arena.errors import call_foreign
from arena.format import Kind, RankedBy, concludes, own_columns, own_criteria, ranks
from arena.game import Game, Puzzle
from arena.identity import canonical, key
from arena.limits import describe_unlike_limits, list_limits
from arena.match.match import Seat
from arena.plugins.registry import Registry
from arena.returns import Returns
from arena.schedule.ranking import Ranking, find_format_class
from arena.spec import Board
from arena.spec.labels import MAX_LABEL_CHARACTERS
from arena.spec.parameters import Parameters, locate_options, read_json
from arena.stats.clustered import ClusteredMean

MAX_SIZE = 10**100
"""The largest number of matches in a schedule, which can still be written as a float."""


class HeuristicSettings(TypedDict):
    """The heuristic of an entry, with all its parameters."""

    name: str
    parameters: dict[str, Any]


class EntrySettings(TypedDict):
    """The settings of an entry, including defaults."""

    agent: str
    options: dict[str, Any]
    heuristic: HeuristicSettings | None
    key: str
    """A part of ids. It identifies the entry and the game, and default values do not affect it."""


@dataclass(frozen=True, slots=True)
class PluginColumn:
    """A column of a plugin on one board."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", allow_inf_nan=False)

    column: Column
    amount: str | None = None
    """The name of the amount from `Search.spend` that the column adds up; None if its cells are computed from the matches."""
    cells: tuple[ClusteredMean, ...] | None = None
    """The mean of each entry, by the index of the entry; None until the run has ended."""
    fault: str | None = None
    """Why the plugin could not compute the cells."""
    remarks: tuple[str, ...] = ()

    def row_values(self, entry: int, spent: Mapping[str, float]) -> dict[str, float | None]:
        """Return the values of an entry by the keys of the column."""
        key = self.column.key
        if self.amount is not None:
            return {key: spent.get(self.amount)}
        if self.cells is None:
            return {}
        mean, low, high = self.cells[entry]
        return {key: mean, f"{key}_low": low, f"{key}_high": high}


@dataclass(frozen=True, slots=True)
class BoardInfo:
    """A board without code: the game, the entries, the size of the schedule, and how it is shown."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", allow_inf_nan=False)

    title: str
    game: dict[str, Any]
    """The name and the parameters of the game."""
    kind: Kind
    labels: tuple[str, ...]
    """The labels of the entries in the order of the spec."""
    size: int
    """The number of matches in the schedule; if it depends on results, the largest possible number."""
    exact: bool
    """Whether `size` is exact before the first match."""
    timed: tuple[str, ...] = ()
    """Entries with a time limit for their decisions, so that a repeated match may have another result."""
    soft: tuple[str, ...] = ()
    """Entries in `timed` that are not stopped at the limit, because they run in arena's own processes."""
    format: str = ""
    """The name of the format."""
    test: dict[str, Any] | None = None
    """The sequential test of a board with two entries."""
    anchor: str | None = None
    """The entry whose rating is 0; None if the mean rating is 0."""
    columns: tuple[str, ...] | None = None
    """The columns that the spec chooses, by the keys of rows."""
    sort: str | None = None
    """The key of the values by which the spec sorts rows. With a leading `-`, the largest value comes first."""

    optimal: tuple[str, ...] = ()
    """Entries that claim that their solutions are optimal."""
    limits: dict[str, dict[str, float]] = field(default_factory=dict)
    """The limits of each entry for a decision, by their names in `Limits`. Entries without limits are missing."""
    ranked_by: RankedBy = "score"
    """How a versus board is ranked if its format has no ranking."""
    ranking: Ranking | None = None
    """The ranking that the format computes; it has no placings before the run has ended. None if the format has no ranking."""
    plugin_columns: tuple[PluginColumn, ...] = ()
    """The columns that plugins add."""
    returns: tuple[float, float | None] | None = None
    """The smallest and the largest return of the game; the largest is None if it has no bound. None if they are unknown."""
    has_chance: bool = False
    """Whether the game has chance moves, so that all matches of a round share dice and deals."""
    apart: tuple[str, ...] = ()
    """Entries that play outside arena's own processes, so that their time includes communication."""
    left: tuple[str, ...] | None = None
    """The entries of a ladder that are no longer played, which rank below all others; None if the board is not from a ladder."""
    has_openings: bool = False
    """Whether rounds start from different positions, because of openings or of positions in the spec."""
    settings: tuple[EntrySettings, ...] = ()
    """The settings of each entry."""
    path_matters: bool = True
    """Whether solutions are compared by their costs and moves; False for a puzzle in which only the final state counts."""
    options: dict[str, Any] | None = None
    """The options of the format if it has a conclusion of its own, such as a winner (see `Format.conclude`). None if it has none,
    and in older stores.
    """
    left_out: int = 0
    """The number of played matches that the key `report` of the spec leaves out. A store does not keep it, because it is counted
    whenever the board is shown."""

    @classmethod
    def of(cls, board: Board, registry: Registry | None = None) -> Self:
        """Return the BoardInfo of a board, with the columns of the plugins in a registry.

        >>> from arena.api.spec import load_spec
        >>> sheet = BoardInfo.of(load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"]}).boards[0])
        >>> sheet.title, sheet.labels, sheet.size
        ('tic-tac-toe', ('random', 'greedy'), 20)
        """
        format_ = board.format
        low, high = Returns(board.game).range
        timed = [seat for seat in board.seats if seat.limits.timed]
        limits: dict[str, dict[str, float]] = {}
        for seat in board.seats:
            if found := list_limits(seat.limits):
                limits[seat.label] = found
        settings = [{"key": entry_key(board, seat), "agent": seat.agent, **seat.settings._asdict()} for seat in board.seats]
        taken, agents = {column.key for column in own_columns(format_)}, {seat.agent for seat in board.seats}
        parts = () if registry is None else registry.parts["column"].values()
        columns = [part for part in parts if not part.agents or part.agents & agents]
        return cls(
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
            ranking=Ranking(own_columns(format_), criteria=own_criteria(format_)) if ranks(format_) else None,
            plugin_columns=tuple([PluginColumn(part.column, part.amount) for part in columns if part.column.key not in taken]),
            returns=(low, high if isfinite(high) else None),
            has_chance=board.has_chance,
            apart=tuple([seat.label for seat in board.seats if not seat.in_process]),
            has_openings=board.positions.plies > 0 or len(set(board.positions.texts or ())) > 1,
            path_matters=not isinstance(board.game, Puzzle) or board.game.path_matters,
            options=json.loads(canonical(configured.settings(format_))) if concludes(format_) else None,
            settings=tuple(json.loads(canonical(settings))),  # a value that JSON does not have becomes the name of its type
        )

    def make_game(self, registry: Registry, folder: Path) -> Game | None:
        """Return the game, with files from the `folder` of the spec; None if no game has this name and these parameters."""
        kind = registry.games.get(self.game["name"])
        values = None if kind is None else Parameters(kind).validate(self.parameters, (), lambda *_: None)
        if kind is None or values is None:
            return None
        located = locate_options(values, Parameters(kind).find_files(values, folder), Path.cwd())
        return call_foreign(lambda: kind(**located), lambda _: None)

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest return; infinite if they are unknown."""
        low, high = self.returns or (-inf, None)
        return low, inf if high is None else high

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the game."""
        return {name: value for name, value in self.game.items() if name != "name"}

    def limits_of(self, entry: int) -> dict[str, float]:
        """Return the limits for a decision by an entry; empty if there are none."""
        return self.limits.get(self.labels[entry], {})

    def describe_limits(self, names: Collection[str] | None = None) -> str | None:
        """Return a remark if the limits of entries differ; None if they do not. `names` are the labels of the entries (default:
        all).
        """
        return describe_unlike_limits(
            {label: self.limits.get(label, {}) for label in self.labels if names is None or label in names}
        )

    def was_stopped(self, entry: int, termination: str, decisions: int, nodes: int, seconds: float) -> bool:
        """Return whether a limit for a decision, or the memory limit, may have ended an attempt by an entry.

        A search that ends by itself at exactly its limit has the same record as one that the limit stopped: the last solution
        that it reported, or none. If an agent that chooses actions exceeds the budget of a decision, it still moves; only time
        and memory end its attempt.
        """
        limits = self.limits_of(entry)
        if termination in {"timeout", "memory"}:
            return True
        return decisions == 1 and (nodes >= limits.get("nodes", inf) or seconds >= limits.get("seconds", inf))

    def as_dict(self) -> dict[str, Any]:
        """Return all fields that a store keeps, as plain values. `path_matters` is left out if it is true, and `options` if it is
        None, as in older stores.
        """
        values = {
            name: value for name, value in asdict(self).items() if name != "left_out" and (name != "options" or value is not None)
        }
        if self.path_matters:
            del values["path_matters"]
        return values

    @staticmethod
    def from_json(text: str) -> "list[BoardInfo]":
        """Return the boards from a JSON text, as a store or a bundle keeps them. Either may come from a stranger.

        Raises ValueError with the place of the first value that no board can have.
        """
        boards = read_json(_adapter(), text)
        for number, board in enumerate(boards):
            if fault := board.find_fault():
                raise ValueError(f"{number}.{fault}")
        return boards

    def find_fault(self) -> str | None:
        """Return what is wrong with values that have the right types; None if nothing is."""
        ranking, entries = self.ranking, set(self.labels)
        named = [*self.timed, *self.soft, *self.optimal, *self.apart, *(self.left or ()), *self.limits]
        placings = [] if ranking is None or ranking.placings is None else ranking.placings
        columns = [*(() if ranking is None else ranking.columns), *[one.column for one in self.plugin_columns]]
        keys = {column.key for column in columns}
        if len(entries) < len(self.labels):
            return "labels: expected a different label for each entry"
        if unknown := [label for label in (*named, *filter(None, [self.anchor])) if label not in entries]:
            return f"labels: expected a label for each entry, but {unknown[0]!r:.100} is not among them"
        if not isinstance(self.game.get("name"), str):
            return "game.name: expected text"
        if fault := self._find_text_fault(columns):
            return fault
        if not 0 <= self.size <= MAX_SIZE:
            return f"size: expected a number of matches, got {self.size:.5g}"
        if any(one <= 0 for limits in self.limits.values() for one in limits.values()):
            return "limits: expected numbers above 0"
        if self.returns is not None and self.returns[0] > self.range[1]:
            return "returns: expected the smallest return before the largest"
        if keys & ROW_KEYS or len(keys) < len(columns) or any(column.style not in STYLES for column in columns):
            return "ranking.columns, plugin_columns: expected columns with unused keys and known styles"
        if ranking is not None and ranking.placings is not None and len(placings) != len(entries):
            return "ranking.placings: expected a placing for each entry"
        if any(len(placing.merit) != len(placings[0].merit) for placing in placings):
            return "ranking.placings: expected the same number of values for each entry"
        styles = {column.key: column.style for column in columns}
        for placing in placings:
            if any(styles.get(key) != "text" and isinstance(value, str) for key, value in placing.values.items()):
                return "ranking.placings: expected numbers in the columns for numbers"
        if any(one.cells is not None and len(one.cells) != len(entries) for one in self.plugin_columns):
            return "plugin_columns: expected a cell for each entry"
        faults: list[str] = []
        if self.options is not None and (kind := find_format_class(self.format)) is not None:
            Parameters(kind).validate(self.options, (), lambda path, message: faults.append(f"options.{path[0]}: {message}"))
        return faults[0] if faults else None

    def _find_text_fault(self, columns: Sequence[Column]) -> str | None:
        """Return what is wrong with a text that tables show; None if nothing is."""
        words = [self.title, self.game["name"], self.format, *self.labels]
        words += [text for column in columns for text in (column.key, column.heading)]
        if odd := [text for text in words if not text.isprintable()]:
            return f"title, game.name, format, labels, columns: expected printable text, got {odd[0]!r:.100}"
        if longest := [text for text in (self.title, *self.labels) if len(text) > MAX_LABEL_CHARACTERS]:
            return f"title, labels: expected at most {MAX_LABEL_CHARACTERS} characters, got {longest[0]!r:.100}"
        return None


@cache
def _adapter() -> TypeAdapter[list[BoardInfo]]:
    return TypeAdapter(list[BoardInfo])


def entry_key(board: Board, seat: Seat) -> str:
    """Return the key for an entry and its game, which is a part of ids. Options with their default values do not affect it."""
    return key(canonical([board.name, board.positions.changed, seat.identity]))
