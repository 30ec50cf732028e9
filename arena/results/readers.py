"""The parts by which plugins read a store: formats for exports, and quantities for comparisons."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from arena.hookspecs import Part
from arena.schedule.board_columns import Measured

if TYPE_CHECKING:
    from arena.store.store import Store


@dataclass(frozen=True)
class Export(Part):
    """A format for `arena export`, or for a page that `arena compare` writes.

    `write` yields the lines of the text, without line ends. It gets the open store if `of` is "store", and the game and one of
    its states if `of` is "game". If `of` is "comparison", it gets the path of the page, the open store and three mappings whose
    keys are indices of boards: the `names` that are compared, a `legend`, and `pairs` with the findings of `arena compare`. It
    then writes the page and returns the number of bytes.

    >>> Export("efg", "game", ".efg", write=lambda game, state: iter(["EFG 2 R"])).suffix
    '.efg'
    """

    kind: ClassVar[str] = "export"
    of: Literal["store", "game", "comparison"]
    suffix: str
    write: Callable[..., Any]
    needs: Callable[..., object] = lambda *_: None
    """A function that raises ArenaError if, say, a library is missing. It is called before `write`; for a page, with the path."""


@dataclass(frozen=True)
class Comparison(Part):
    """A quantity by which `arena compare --by NAME` can compare entries.

    `read` gets the open store and yields a `Measured` for each entry of each match that it can measure. Two entries are compared
    on the rounds that both have played. The result is the mean difference of their mean values, with a 95 % interval.

    >>> def read_lengths(store):
    ...     for record, place in store.records(boards=True):
    ...         for entry in place.pairing.seats:
    ...             yield Measured(place.board, place.pairing.round, entry, len(record.actions), place.pairing.seats)
    >>> Comparison("length", "The actions of a match.", read_lengths).name
    'length'
    """

    kind: ClassVar[str] = "comparison"
    description: str
    read: "Callable[[Store], Iterable[Measured]]"
    lower_is_better: bool = field(default=False, kw_only=True)
    """Whether the entry with the lower mean ranks first in `arena compare --across --by NAME`."""
