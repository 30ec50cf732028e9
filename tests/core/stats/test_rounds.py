"""Ratings of games that share dice: rounds are the clusters, whoever plays in them."""

import random
from statistics import stdev

import pytest

from arena.stats.bradley_terry import fit
from arena.stats.intervals import rate
from arena.stats.observations import Pair, table_of

Rounds = list[dict[tuple[int, int], Pair]]


def played(rounds: int, *, shared: bool, rng: random.Random) -> Rounds:
    """Rounds of three equals in which luck decides every game; shared luck decides all games of a round alike."""
    found: Rounds = []
    for _ in range(rounds):
        luck = rng.random()
        met = {}
        for one, two in ((0, 1), (0, 2), (1, 2)):
            forward = float((luck if shared else rng.random()) < 0.5)
            backward = float((luck if shared else rng.random()) < 0.5)
            met[one, two] = Pair.of(forward, backward)
        found.append(met)
    return found


def widths(rounds: Rounds, *, clustered: bool) -> list[float]:
    """The widths of the three intervals."""
    pairings = {seats: [met[seats] for met in rounds] for seats in rounds[0]}
    rated = rate(pairings, range(3), rng=random.Random(1), rounds=rounds if clustered else None, openings=False)
    return [row.high - row.low for row in rated.rows if row.high is not None and row.low is not None]


def test_luck_that_everybody_shares_says_nothing_of_anybody() -> None:
    """The seat that wins every game of a round wins for both sides of a pair: nobody is better, and that is nearly certain."""
    shared, apart = (played(60, shared=alike, rng=random.Random(2)) for alike in (True, False))
    assert 0 < max(widths(shared, clustered=True)) < 0.3 * min(widths(apart, clustered=True))


def test_independent_games_have_the_intervals_of_pairs() -> None:
    """Where rounds share nothing, clusters of rounds come to the bootstrap of pairs."""
    rounds = played(400, shared=False, rng=random.Random(3))
    for by_round, by_pair in zip(widths(rounds, clustered=True), widths(rounds, clustered=False), strict=True):
        assert by_round == pytest.approx(by_pair, rel=0.15)


def test_intervals_are_those_of_a_bootstrap_of_whole_rounds() -> None:
    """An agent whose luck of a round holds against both others has the interval that drawing rounds anew gives, not pairs."""
    rng = random.Random(5)
    rounds: Rounds = []
    for _ in range(200):
        won = rng.random() < 0.5
        mine = Pair.of(float(won), float(not won))  # in either seat
        rounds.append({(0, 1): mine, (0, 2): mine, (1, 2): Pair.of(float(rng.random() < 0.5), float(rng.random() < 0.5))})

    def pairings(of: Rounds) -> dict[tuple[int, int], list[Pair]]:
        return {seats: [met[seats] for met in of] for seats in of[0]}

    again = [fit(table_of(pairings(rng.choices(rounds, k=200)))).elo(None)[0] for _ in range(150)]
    clustered = rate(pairings(rounds), range(3), rng=random.Random(1), rounds=rounds)
    (width,) = [row.high - row.low for row in clustered.rows if row.agent == 0 and row.high is not None and row.low is not None]
    assert width == pytest.approx(2 * 1.96 * stdev(again), rel=0.12)
    plain = rate(pairings(rounds), range(3), rng=random.Random(1), openings=False)
    (narrow,) = [row.high - row.low for row in plain.rows if row.agent == 0 and row.high is not None and row.low is not None]
    assert narrow < 0.85 * width
