"""Ratings, intervals, p-values, tests and Swiss pairings as they were before numpy and scipy, to nine significant digits.

`golden.json` was written by the pure Python code that this package had before. `python -m tests.core.stats.test_golden` writes
it anew; do that only where a change of figures is wanted.
"""

import json
import random
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import combinations, permutations
from math import exp
from pathlib import Path
from typing import Any

import pytest

from arena.format import Field, Format, Outcomes, Pairing
from arena.results.pairs import PairedGames
from arena.results.rating import strengths
from arena.schedule.board_info import BoardInfo
from arena.stats.bootstrap import bootstrap
from arena.stats.bradley_terry import chances, fit
from arena.stats.calculator import EloEstimate
from arena.stats.cycles import beats, cycles
from arena.stats.intervals import rate
from arena.stats.likelihood import mean_interval, superiority
from arena.stats.observations import Pair, WinDrawLoss, ranking_of, table_of
from arena.stats.plackett_luce import fit_rankings, rate_rankings
from arena.stats.prior import Model
from arena.stats.solved_share import wilson
from arena_compare.paired import Solved, difference_interval, holm, mcnemar, paired_difference, paired_ratio
from arena_pairings.formats import Knockout, Swiss
from arena_pairings.sprt import Sprt, expected_pairs, log_likelihood_ratio
from arena_pairings.sprt_state import SprtState
from arena_pairings.swiss_pairing import Encounter, draw_lots, standings, swiss_round
from arena_records.budgets import optimality_gap, par2, share_at, solved_by_budget

GOLDEN = Path(__file__).with_name("golden.json")
RESULTS = (1, 0.5, 0)


def _worth(worth: Any) -> list[Any]:
    return [
        worth.games,
        worth.score,
        worth.score_low,
        worth.score_high,
        worth.elo,
        worth.elo_low,
        worth.elo_high,
        worth.superiority,
        worth.normalized_elo,
        worth.margin,
    ]


def _pairings(
    rng: random.Random, names: list[str], most: int, *, drawn: float = 0.0, spread: float = 0.8
) -> dict[Any, list[Pair]]:
    """Up to `most` pairs of every two, a few of which lack a game or have been repeated; some have not met."""
    strength = [rng.gauss(0, spread) for _ in names]
    found = {}
    for i, j in combinations(range(len(names)), 2):
        pairs = []
        for _ in range(rng.choice((0, most // 3, most, most))):
            tilt = rng.choice((0.7, -0.7))
            ahead, behind = (chances(lead + 0.2 + tilt, drawn) for lead in (strength[i] - strength[j], strength[j] - strength[i]))
            pair = Pair.of(rng.choices(RESULTS, ahead)[0], rng.choices(RESULTS, behind)[0])
            kind = rng.random()
            pairs.append(Pair(pair.forward, WinDrawLoss()) if kind < 0.03 else pair.plus(pair) if kind < 0.06 else pair)
        found[names[i], names[j]] = pairs
    return found


def _ratings(found: Any, agents: list[str]) -> list[Any]:
    rows = [[row.agent, row.elo, row.low, row.high] for row in found.rows]
    leads = [
        [(lead := found.difference(one, two)).elo, lead.low, lead.high, lead.superiority] for one, two in permutations(agents, 2)
    ]
    terms = [found.fit.first_mover, found.fit.log_draws, found.fit.log_likelihood]
    return [found.method, rows, leads, terms]


def rated_fields() -> Iterator[Any]:
    """Fields of two to seven agents by pairs, with few and with many, with an anchor, other models, and lopsided ones."""
    for seed in range(40):
        rng = random.Random(f"field {seed}")
        names = [f"agent {k}" for k in range(2 + seed % 6)]
        model = (Model(), Model(), Model(first_mover=False), Model(prior=0.3))[seed % 4]
        most = (3, 6, 12, 30, 60, 120)[seed // 2 % 6]
        pairings = _pairings(rng, names, most, drawn=rng.choice((-2.0, 0.0, 1.0)), spread=(0.8, 3.0)[seed % 5 == 0])
        if model.prior != 1:
            pairings = {seats: pairs or [Pair.of(1, 0), Pair.of(0, 1)] for seats, pairs in pairings.items()}
        anchor = names[-1] if seed % 3 == 0 else None
        yield _ratings(rate(pairings, names, rng=rng, model=model, anchor=anchor, samples=200, openings=False), names)


def bootstrapped_fields() -> Iterator[Any]:
    """Fields in which every two have met in forty pairs and more, so that intervals come from the bootstrap."""
    for seed in range(16):
        rng = random.Random(f"bootstrapped {seed}")
        names = [f"agent {k}" for k in range(2 + seed % 6)]
        model = (Model(), Model(first_mover=False), Model(), Model(prior=0.3))[seed % 4]
        found = _pairings(rng, names, (50, 80)[seed % 2], drawn=rng.choice((-1.0, 0.5)))
        pairings = {
            seats: pairs if len(pairs) > 45 else [Pair.of(*rng.choices(RESULTS, k=2)) for _ in range(44)]
            for seats, pairs in found.items()
        }
        anchor = names[0] if seed % 3 == 0 else None
        yield _ratings(rate(pairings, names, rng=rng, model=model, anchor=anchor, samples=300, openings=False), names)


def rated_extremes() -> Iterator[Any]:
    """Sweeps, fields that fall apart, all drawn, one pair, agents without games, more than a thousand pairs of a kind."""
    won, lost, drawn = Pair.of(1, 0), Pair.of(0, 1), Pair.of(0.5, 0.5)
    fields: list[tuple[list[str], dict[Any, list[Pair]]]] = [
        (["a", "b"], {("a", "b"): [won] * 6}),
        (["a", "b", "c"], {("a", "b"): [won] * 6, ("b", "c"): [won, lost, drawn, won], ("a", "c"): [won] * 3}),
        (["a", "b", "c"], {("a", "b"): [lost] * 60, ("b", "c"): [won, lost] * 30, ("a", "c"): [lost] * 50}),
        (["a", "b", "c", "d"], {("a", "b"): [won, won, lost], ("c", "d"): [won, drawn]}),
        (["a", "b"], {("a", "b"): [drawn] * 10}),
        (["a", "b"], {("a", "b"): [drawn] * 50}),
        (["a", "b"], {("a", "b"): [won, drawn, lost] * 500}),
        (["a", "b", "c"], {("a", "b"): [Pair(WinDrawLoss(wins=20), WinDrawLoss(losses=20))]}),
        (
            ["a", "b", "c"],
            {("a", "b"): [won] * 30 + [drawn] * 10 + [lost] * 10, ("b", "c"): [Pair(WinDrawLoss(1), WinDrawLoss())] * 45},
        ),
        (["a"], {}),
    ]
    for names, pairings in fields:
        yield _ratings(rate(pairings, names, rng=random.Random(1), samples=300, openings=False), names)


def bootstraps() -> Iterator[Any]:
    """Intervals and superiority of the bootstrap alone."""
    for seed in range(6):
        rng = random.Random(f"bootstrap {seed}")
        names = [f"agent {k}" for k in range(2 + seed)]
        pairings = {seats: pairs or [Pair.of(1, 0), Pair.of(0, 1)] for seats, pairs in _pairings(rng, names, 45).items()}
        fitted = fit(table_of(pairings), names)
        spread = bootstrap(fitted, pairings, random.Random(seed), samples=400)
        yield [[*spread.interval(k), spread.superiority(k, 0)] for k in range(1, len(names))]


def rankings() -> Iterator[Any]:
    """Games of three and four, ties among them, with intervals."""
    for seed in range(8):
        rng = random.Random(f"rankings {seed}")
        names = [f"agent {k}" for k in range(3 + seed % 4)]
        strength = {name: rng.gauss(0, 0.8) for name in names}
        groups: dict[Any, list[Any]] = {}
        for group in combinations(names, 3 + (seed % 2 and len(names) > 3)):
            clusters = []
            for _ in range(rng.choice((1, 4, 9))):
                games = []
                for _ in range(3):
                    raced = {name: -rng.expovariate(exp(strength[name])) for name in group}
                    games.append(ranking_of({name: round(value, rng.choice((0, 3))) for name, value in raced.items()}))
                clusters.append(games)
            groups[group] = clusters
        yield _ratings(rate_rankings(groups, names, anchor=names[0] if seed % 3 == 0 else None), names)
        fitted = fit_rankings(
            [game for clusters in groups.values() for cluster in clusters for game in cluster], names, prior=0.2
        )
        yield [list(fitted.ratings), fitted.log_likelihood]


def boards() -> Iterator[Any]:
    """Whole boards of eleven to thirteen entries, by number: ratings, who is level with whom, cycles, superiority."""
    for seed, (entries, seats, rounds) in enumerate([(12, 2, 6), (13, 2, 42), (11, 2, 3), (4, 3, 5), (2, 2, 30)]):
        rng = random.Random(f"board {seed}")
        games = PairedGames()
        for number in range(rounds):
            for group in combinations(range(entries), seats):
                for places in permutations(group):
                    share = 0.9 if (places[0] - places[1]) % 3 == 1 else 0.1 if (places[0] - places[1]) % 3 == 2 else 0.5
                    got = [1.0, -1.0] if rng.random() < share else rng.choice(([-1.0, 1.0], [0.0, 0.0]))
                    returns = got if seats == 2 else [rng.choice((1.0, 0.0, -1.0)) for _ in places]
                    games.add(number, places, returns, rng.randrange(5), rng.random() < 0.7)
        labels = tuple([f"entry {k}" for k in range(entries)])
        test = {"elo0": 0.0, "elo1": 20.0} if entries == 2 else None
        sheet = BoardInfo(
            f"board {seed}", {}, "versus", labels, 0, exact=True, anchor=labels[3] if seed == 2 else None, test=test
        )
        found = strengths(sheet, games.pairings(), games.rankings(), games.rounds())
        assert found is not None
        state = SprtState.of(sheet, games)
        yield [
            [[entry, *found.elo[entry]] for entry in range(entries)],
            [list(found.level[entry]) for entry in range(entries)],
            found.method,
            [list(cycle) for cycle in found.cycles],
            [list(row) for row in found.superiority],
            games.folded,
            [list(games.in_first_seat(entry)) for entry in range(entries)],
            None if state is None else [state.llr, state.verdict, list(state.counts), _worth(state.worth)],
        ]


COUNTS = [
    (0, 0, 0, 0, 0),
    (0, 0, 0, 0, 1),
    (0, 0, 0, 0, 38),
    (7, 0, 0, 0, 1),
    (0, 0, 40, 1, 0),
    (0, 1, 2, 0, 1),
    (3, 9, 20, 12, 6),
    (0, 0, 3, 0, 9),
    (0, 50, 0, 0, 0),
    (44, 681, 1426, 767, 70),
    (142, 3634, 7565, 3809, 180),
    (1, 0, 0, 0, 100_000),
]


def worths() -> Iterator[Any]:
    """Scores and Elo with intervals, of games and of pairs."""
    for games in (
        (120, 80, 200),
        (0, 0, 0),
        (1, 0, 0),
        (0, 30, 0),
        (5, 0, 0),
        (0, 0, 9),
        (3, 1, 0),
        (10_000, 3, 9_000),
        (2, 2, 2),
    ):
        yield _worth(EloEstimate.of_games(*games))
    for counts in COUNTS:
        yield _worth(EloEstimate.of_pairs(counts))
    for counts in COUNTS[2:-1]:
        yield [*(mean_interval(counts, (0, 0.3, 0.5, 0.9, 1)) or ()), superiority(counts, (0, 0.3, 0.5, 0.9, 1), 0.4)]


def sequential_tests() -> Iterator[Any]:
    """Log-likelihood ratios of both models, and expected numbers of pairs."""
    for model in ("normalized", "logistic"):
        for bounds in ((0.0, 20.0), (-10.0, 60.0), (0.5, 5.5), (-200.0, 200.0)):
            test = Sprt(*bounds, model=model)
            yield [log_likelihood_ratio(counts, test) for counts in COUNTS]
            yield [test.lower, test.upper, *[expected_pairs(test, elo) for elo in (-300, -5, 0, 2.5, 10, 20, 77)]]


def puzzles() -> Iterator[Any]:
    """McNemar, Tango, Wilson, paired bootstraps, Holm, budgets."""
    for one, other in ((0, 0), (0, 6), (6, 0), (1, 1), (5, 12), (40, 17), (300, 341), (3000, 3200), (0, 900)):
        yield mcnemar(one, other)
    for solved in (
        (50, 12, 2, 36),
        (3, 4, 1, 2),
        (0, 9, 0, 1),
        (10, 0, 0, 0),
        (5, 1, 1, 5),
        (0, 0, 0, 0),
        (0, 7, 0, 0),
        (900, 40, 77, 83),
    ):
        yield list(difference_interval(Solved(*solved)))
    for successes, trials in ((81, 263), (0, 20), (20, 20), (0, 0), (1, 29), (3, 7)):
        yield list(wilson(successes, trials))
    for seed in range(6):
        rng = random.Random(f"positions {seed}")
        pairs = [(rng.expovariate(0.01), rng.expovariate(0.02)) for _ in range((1, 2, 7, 40, 90, 300)[seed])]
        for found in (paired_difference(pairs, rng), paired_ratio(pairs, rng)):
            assert found is not None
            yield [found.value, found.low, found.high]
        spent = [None if one > 200 else round(one) for one, _ in pairs]
        steps = solved_by_budget(spent)
        yield [
            [list(step) for step in steps],
            share_at(steps, 50),
            par2(spent, 150),
            optimality_gap([(a + b, b) for a, b in pairs]),
        ]
    yield holm([0.01, 0.04, 0.03, 0.005, 0.5, 0.9])


def circles() -> Iterator[Any]:
    """Who beats whom, and in circles."""
    for seed in range(6):
        rng = random.Random(f"circles {seed}")
        names = [f"agent {k}" for k in range(4 + 2 * seed)]
        pairings = {}
        for (i, one), (j, two) in combinations(enumerate(names), 2):
            wins = rng.choice(((5, 7), (11, 12), (0, 1))[(i - j) % 3])
            pairings[one, two] = [Pair.of(1, 0)] * wins + [Pair.of(0, 1)] * (12 - wins)
        won = beats(pairings)
        yield [[name, sorted(won[name])] for name in names]
        yield [list(cycle) for cycle in cycles(won)]


def swiss_tournaments() -> Iterator[Any]:
    """Every pairing of tournaments of 2 to 60 agents, also past the rounds in which all have met."""
    for agents in (*range(2, 24), 31, 40, 60):
        for seed in range(4 if agents < 24 else 1):
            rng = random.Random(f"swiss {agents} {seed}")
            lots = draw_lots([f"a{k}" for k in range(agents)], rng)
            history: list[Encounter[str]] = []
            rounds = []
            for _ in range(min(agents + 2, 14)):
                paired = swiss_round(lots, history)
                rounds.append(" ".join([f"{one}-{two}" for one, two in paired]))
                history += [Encounter(one, two, rng.choice((0, 0.25, 0.5, 1)) if two else 1.0) for one, two in paired]
            table = [[row.agent, row.score, row.buchholz, row.sonneborn_berger] for row in standings(lots, history)]
            yield [agents, *(rounds if agents < 10 else [_digest(rounds)]), table if agents < 10 else _digest(table)]


def schedules() -> Iterator[Any]:
    """The matches of Swiss and knockout boards, entry by entry, as results come."""
    forms: list[type[Format]] = [Swiss, Knockout]
    for form in forms:
        for entries in (2, 3, 5, 8, 12, 13):
            rng = random.Random(f"{form.name} {entries}")
            rounds = 2 if form is Knockout else min(entries - 1, 5)
            keys = tuple([f"{rng.randrange(10**6):06d}" for _ in range(entries)])
            outcomes = Outcomes()
            played: list[list[int]] = []
            for pairing in form().schedule(Field(entries, 2, rounds, keys, seed=entries), outcomes):
                if isinstance(pairing, Pairing):
                    got = rng.choice((1.0, 0.0, -1.0))
                    outcomes.add(pairing, (got, -got) if rng.random() < 0.95 else None)
                    played.append([pairing.round, *pairing.seats])
            yield played


def _digest(value: Any) -> str:
    return blake2b(json.dumps(value).encode(), digest_size=16).hexdigest()


PARTS: list[Callable[[], Iterator[Any]]] = [
    rated_fields,
    bootstrapped_fields,
    rated_extremes,
    bootstraps,
    rankings,
    boards,
    worths,
    sequential_tests,
    puzzles,
    circles,
    swiss_tournaments,
    schedules,
]


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        yield path, len(value)
        for k, item in enumerate(value):
            yield from _flat(item, f"{path}[{k}]")
    else:
        yield path, value


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_figures_are_what_they_were(part: Callable[[], Iterator[Any]]) -> None:
    """Numbers to nine significant digits, or to 1e-9 next to nothing; names, orders and pairings to the letter."""
    expected = dict(_flat(json.loads(GOLDEN.read_text())[part.__name__]))
    found = dict(_flat(list(part())))
    assert found.keys() == expected.keys()
    wrong = [
        (path, value, expected[path])
        for path, value in found.items()
        if (
            value != expected[path]
            if not isinstance(value, float)
            else value != pytest.approx(expected[path], rel=1e-9, abs=1e-9)
        )
    ]
    assert wrong == []


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({part.__name__: list(part()) for part in PARTS}, separators=(",", ":")) + "\n")
