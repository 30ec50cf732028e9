"""Chooses the next pairs of a ladder: the most informative ones for the ratings, as a function of the results alone."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena import ArenaError
from arena.api.match import Stream
from arena.api.results import Row, Strengths, versus_row
from arena.stats import table_of
from arena_ladder.season import Season

if TYPE_CHECKING:  # numpy is loaded only to rate
    from arena.stats import Fit, Ratings

MAX_REPEATS = 5
"""Two agents may repeat this many rounds, plus as many as they played without a repeat. Then the pair counts as exhausted."""
PAIRS_AHEAD = 8
"""Minimum number of pairs in one plan. With many agents it is a quarter of their number."""


FLOOR_SHARE = 4
"""At most one in this many pairs of a plan may be of two agents with few games against each other."""


@dataclass(frozen=True, slots=True)
class BoardStandings:
    """The ratings on one board at one moment."""

    title: str
    rows: tuple[Row, ...]
    """Agents in play, the best first, with the keys of a versus row and `settled`: whether the interval is narrow enough."""
    wanted: tuple[int, ...]
    """Numbers of the agents in play whose intervals are still too wide."""
    fit: "Fit[int]"
    """Fit of all agents that have played or are in play."""
    anchor: int


def standings(season: Season, board: int, interval: float, anchor: str) -> BoardStandings:
    """Rate a board. Matches of all agents count, and agents in play are shown. `interval` is the largest settled half-width."""
    from arena.stats import fit, rate

    tally, labels, playing = season.tallies[board], season.labels(board), season.playing(board)
    zero = labels.index(anchor) if anchor in labels else 0
    pairings = tally.matches.pairings()
    found: Ratings[int] | None = None
    try:
        if pairings:
            rounds, openings = tally.matches.rounds(), tally.sheet.has_openings
            entries = range(len(labels))
            found = rate(pairings, entries, rng=Stream("ladder"), anchor=zero, rounds=rounds, openings=openings)
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
    """Return the number of pairs in one plan."""
    return max(PAIRS_AHEAD, len(playing) // 4)


def pairs_to_meet(
    season: Season,
    board: int,
    found: BoardStandings,
    barred: Sequence[tuple[int, int]] = (),
    gone: Collection[str] = (),
) -> list[tuple[int, str, str]]:
    """Return the pairs of the next plan of a board, by its number and labels; none if nothing is left to learn.

    The `barred` pairs of entries do not meet. Agents with a label in `gone` are not paired.
    """
    from arena_ladder.design import next_pairs, pairs_below_floor

    labels = season.labels(board)
    playing, wanted = ([entry for entry in one if labels[entry] not in gone] for one in (season.playing(board), found.wanted))
    exhausted = list(barred)
    pairings = season.tallies[board].matches.pairings()
    for entries, pairs in pairings.items():
        if sum(pair.games for pair in pairs) / 2 > 2 * len(pairs) + MAX_REPEATS:  # without randomness, most rounds repeat others
            exhausted.append(entries)
    size, met = plan_size(playing), {entries: len(pairs) for entries, pairs in pairings.items()}
    least = pairs_below_floor(found.fit, met, wanted, playing, size // FLOOR_SHARE, exhausted)
    chosen = next_pairs(found.fit, found.anchor, wanted, playing, size - len(least), exhausted) + least
    return [(board, labels[one], labels[other]) for one, other in chosen]
