"""Chooses the next pairs of a ladder: the most informative pairs for the ratings. The choice depends only on the results."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from arena.api.results import Strengths, versus_row
from arena_ladder.season import Season

if TYPE_CHECKING:  # numpy is loaded only for rating
    from arena.stats import Ratings

MAX_REPEATS = 5
"""The games of two agents may repeat earlier games move by move. If the rounds that are such repeats outnumber the other rounds
of the two agents by more than this number, the pair counts as exhausted: more games would give no new information.
"""
PAIRS_AHEAD = 8
"""The minimum number of pairs in one plan. If there are many agents, a plan has a quarter of their number."""


FLOOR_SHARE = 4
"""At most a quarter of the pairs in a plan are between agents that are paired because they have met only rarely."""


@dataclass(frozen=True, slots=True)
class BoardStandings:
    """The ratings on one board at one point in time."""

    title: str
    rows: tuple[dict[str, Any], ...]
    """A row for each agent in play, the best first, with the keys of a leaderboard and `settled`, which is true if the
    interval is narrow enough or, for a puzzle, if the agent has attempted all positions.
    """
    wanted: tuple[int, ...] = ()
    """The numbers of the agents in play whose intervals are still too wide; for a puzzle, none."""
    ratings: "Ratings[int] | None" = None
    """The ratings of all agents that have played or are in play; None for a puzzle."""
    anchor: int = 0
    kind: Literal["versus", "puzzle"] = "versus"


class Measure(NamedTuple):
    """The value that ranks a row of the standings."""

    matches: int
    """The number of games or attempts."""
    value: float | None
    """The rating in Elo, or the solved share in percent. The next two fields are its interval."""
    low: float | None
    high: float | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Measure":
        """Return the measure of a row."""
        if "rating" in row:
            return cls(row["games"], row["rating"], row["rating_low"], row["rating_high"])
        shares = [None if row[key] is None else 100 * row[key] for key in ("solved", "solved_low", "solved_high")]
        return cls(row["attempts"], *shares)


def standings(season: Season, board: int, interval: float, anchor: str | None) -> BoardStandings:
    """Rate a board. The matches of all agents count, but only agents in play are shown. `interval` is the largest half-width that
    counts as settled.
    """
    from arena.stats import rate

    tally, labels, playing = season.tallies[board], season.labels(board), season.playing(board)
    zero = labels.index(anchor) if anchor in labels else 0
    ratings = rate(tally.matches.results(), range(len(labels)), anchor=zero)
    bounds = {row.agent: (row.elo, row.low, row.high) for row in ratings.rows}
    merits = {entry: found[0] or 0.0 for entry, found in bounds.items()}
    wanted = []
    for entry in playing:
        _, low, high = bounds[entry]
        if entry != zero and (low is None or high is None or (high - low) / 2 > interval):
            wanted.append(entry)
    rated = Strengths(bounds, ratings, (), tuple([(None,) * len(labels)] * len(labels)), zero)
    order = sorted(playing, key=lambda entry: (-merits[entry], entry))
    sorted_merits = [merits[entry] for entry in order]
    rows = [
        {**versus_row(sorted_merits.index(merits[entry]) + 1, entry, tally, rated, ()), "settled": entry not in wanted}
        for entry in order
    ]
    for row in rows:  # the standings of a ladder do not have these keys
        row.pop("superiority", None)
        row.pop("level_with", None)
    return BoardStandings(season.run.boards[board].title, tuple(rows), tuple(wanted), ratings, zero)


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
    """Return the pairs for the next plan of a board; empty if nothing is left to learn. Each pair is the number of the board and
    two labels.

    The `barred` pairs of entries do not meet. Agents with a label in `gone` are not paired.
    """
    from arena_ladder.design import next_pairs, pairs_below_floor

    assert found.ratings is not None
    labels = season.labels(board)
    playing, wanted = ([entry for entry in one if labels[entry] not in gone] for one in (season.playing(board), found.wanted))
    exhausted = list(barred)
    pairings = season.tallies[board].matches.pairings()
    for entries, pairs in pairings.items():
        if sum(pair.games for pair in pairs) / 2 > 2 * len(pairs) + MAX_REPEATS:  # deterministic agents mostly repeat rounds
            exhausted.append(entries)
    size, met = plan_size(playing), {entries: len(pairs) for entries, pairs in pairings.items()}
    least = pairs_below_floor(found.ratings, met, wanted, playing, size // FLOOR_SHARE, exhausted)
    chosen = next_pairs(found.ratings, found.anchor, wanted, playing, size - len(least), exhausted) + least
    return [(board, labels[one], labels[other]) for one, other in chosen]
