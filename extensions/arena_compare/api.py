"""The interface through which other extensions add to comparisons."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.api.results import Comparison

if TYPE_CHECKING:
    from arena.api.store import Store
    from arena_compare.measures import MeanComparison


@dataclass(frozen=True)
class ExplainedComparison(Comparison):
    """A measure (see `arena compare --by`) that adds sentences to a comparison or withholds its verdict.

    `explain` is called with the open store, the number of the board and a comparison. It returns the comparison with added
    `remarks`. To withhold the verdict, it sets `withheld` to the reason.

    >>> ExplainedComparison("length", "The actions of a match.", read=lambda store: []).kind
    'comparison'
    """

    explain: "Callable[[Store, int, MeanComparison], MeanComparison]" = lambda _store, _board, found: found
