"""Which agents meet next on a ladder: those from whose games the ratings learn most, as a function of the results alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena import ArenaError
from arena.api.match import Stream
from arena.api.results import Row
from arena.results.board_rows import versus_row
from arena.results.rating import Strengths
from arena.stats.observations import table_of
from arena_ladder.season import Season

if TYPE_CHECKING:  # numpy and scipy are loaded where something is rated
    from arena.stats.bradley_terry import Fit
    from arena.stats.intervals import Ratings

MAX_REPEATS = 5
"""Rounds that two agents may repeat, beside as many as they have not, before they are taken to have no others."""
PAIRS_AHEAD = 8
"""Pairs of one plan, at the least; among many agents a quarter as many as there are agents."""


@dataclass(frozen=True, slots=True)
class BoardStandings:
    """The ratings on one board at one moment."""

    title: str
    rows: tuple[Row, ...]
    """Those in play, the best first, with the keys of a versus row, and `settled`: whether the interval is narrow enough."""
    wanted: tuple[int, ...]
    """The numbers of those in play whose intervals are too wide still."""
    fit: "Fit[int]"
    """Of everyone who has played or is in play."""
    anchor: int


def standings(season: Season, board: int, interval: float, anchor: str) -> BoardStandings:
    """Rate a board: everyone's matches count, those in play are shown. `interval` is the half-width that is narrow enough."""
    from arena.stats.bradley_terry import fit
    from arena.stats.intervals import rate

    tally, labels, playing = season.tallies[board], season.labels(board), season.playing(board)
    zero = labels.index(anchor) if anchor in labels else 0
    pairings = tally.matches.pairings()
    found: Ratings[int] | None = None
    try:
        if pairings:
            found = rate(pairings, range(len(labels)), rng=Stream("ladder"), anchor=zero, rounds=tally.matches.rounds())
    except ArenaError:
        found = None
    bounds: dict[int, tuple[float, float | None, float | None]] = dict.fromkeys(range(len(labels)), (0.0, None, None))
    if found is not None:
        bounds |= {row.agent: (row.elo, row.low, row.high) for row in found.rows}
    wanted = []
    for entry in playing:
        _, low, high = bounds[entry]
        if entry != zero and (low is None or high is None or (high - low) / 2 > interval):
            wanted.append(entry)
    fitted = fit(table_of({}), range(len(labels))) if found is None else found.fit
    unknown = tuple([(None,) * len(labels)] * len(labels))
    rated = Strengths(bounds, {}, "" if found is None else found.method, (), unknown, zero)
    order = sorted(playing, key=lambda entry: (-bounds[entry][0], entry))
    merits = [bounds[entry][0] for entry in order]
    rows = [
        {**versus_row(merits.index(bounds[entry][0]) + 1, entry, tally, rated, ()), "settled": entry not in wanted}
        for entry in order
    ]
    for row in rows:  # a ladder does not compute these
        row.pop("superiority", None)
        row.pop("level_with", None)
    return BoardStandings(season.run.boards[board].title, tuple(rows), tuple(wanted), fitted, zero)


def plan_size(playing: Sequence[int]) -> int:
    """How many pairs one plan has."""
    return max(PAIRS_AHEAD, len(playing) // 4)


def pairs_to_meet(
    season: Season, board: int, found: BoardStandings, barred: Sequence[tuple[int, int]] = ()
) -> list[tuple[int, str, str]]:
    """Return the pairs of the next plan of a board, by its number and labels; none where nothing is left to learn.

    The `barred` pairs of entries do not meet.
    """
    from arena_ladder.design import next_pairs

    labels, playing = season.labels(board), season.playing(board)
    exhausted = list(barred)
    for entries, pairs in season.tallies[board].matches.pairings().items():
        if sum(pair.games for pair in pairs) / 2 > 2 * len(pairs) + MAX_REPEATS:  # without lots, most rounds repeat others
            exhausted.append(entries)
    chosen = next_pairs(found.fit, found.anchor, found.wanted, playing, plan_size(playing), exhausted)
    return [(board, labels[one], labels[other]) for one, other in chosen]
