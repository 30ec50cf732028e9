"""What a leaderboard has to know of a board, without its game, its agents or any plugin."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from arena.format import Kind
from arena.formats import HeadToHead
from arena.limits import Limits
from arena.spec import Board


@dataclass(frozen=True, slots=True)
class BoardInfo:
    """A board on paper: what is played, by whom, and how many matches there are to be."""

    title: str
    game: dict[str, Any]
    """Its name and parameters."""
    kind: Kind
    labels: tuple[str, ...]
    """The entries in the order of the spec."""
    size: int
    """The number of matches of the schedule; where that depends on results, the most there can be."""
    exact: bool
    """Whether the number is certain before anything is played."""
    timed: tuple[str, ...] = ()
    """Entries whose decisions have a time limit, so that their matches need not come out the same again."""
    soft: tuple[str, ...] = ()
    """Those of them that nobody would stop, since they run in arena's own processes."""
    format: str = ""
    """The name of the format."""
    test: dict[str, Any] | None = None
    """The test of a head-to-head match."""
    anchor: str | None = None
    """The entry whose rating is 0; None where the field's mean is."""
    columns: tuple[str, ...] | None = None
    """The columns that the spec wants, by the keys of rows."""
    sort: str | None = None
    """The key by which the spec wants rows sorted; with `-` before it the largest comes first."""

    optimal: tuple[str, ...] = ()
    """Entries whose solutions are cheapest ones."""
    limits: dict[str, dict[str, float]] = field(default_factory=dict)
    """What a decision of each entry may use at the most, of `nodes` and of `seconds`, where that is limited."""

    def as_dict(self) -> dict[str, Any]:
        """The sheet as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """A sheet from its plain values."""
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return cls(**{**values, **lists})


def board_info(board: Board) -> BoardInfo:
    """The sheet of a board."""
    timed = [seat for seat in board.seats if seat.limits.seconds is not None]
    return BoardInfo(
        title=board.title,
        game={"name": board.name, **board.parameters},
        kind=board.format.kind,
        labels=tuple([seat.label for seat in board.seats]),
        size=board.size,
        exact=not board.format.follows_results,
        timed=tuple([seat.label for seat in timed]),
        soft=tuple([seat.label for seat in timed if seat.isolation == "none"]),
        format=board.format.name,
        test=asdict(board.format.sprt) if isinstance(board.format, HeadToHead) and board.format.sprt else None,
        anchor=board.view.anchor,
        columns=board.view.columns,
        sort=board.view.sort,
        optimal=tuple([seat.label for seat in board.seats if seat.optimal]),
        limits={seat.label: limits for seat in board.seats if (limits := _limits(seat.limits))},
    )


def _limits(limits: Limits) -> dict[str, float]:
    given = {"nodes": limits.nodes, "seconds": limits.seconds}
    return {name: limit for name, limit in given.items() if limit is not None}
