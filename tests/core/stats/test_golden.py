"""Scores, intervals, p-values, tests and Swiss pairings as they were before numpy and scipy, to nine significant digits.

`golden.json` was written by the pure Python code that this package had before. `python -m tests.core.stats.test_golden` writes
it anew; do that only where a change of figures is wanted.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import combinations
from math import log
from pathlib import Path
from typing import Any

import pytest

from arena.format import Field, Format, Outcomes, Pairing
from arena.stats.calculator import EloEstimate
from arena.stats.cycles import beats, cycles
from arena.stats.likelihood import mean_interval
from arena.stats.observations import Pair
from arena.stats.paired import flip_signs, holm, student_interval
from arena.stats.solved_share import wilson
from arena_compare.paired import Solved, difference_interval
from arena_pairings.formats import Knockout, Swiss
from arena_pairings.sprt import Sprt, expected_pairs, log_likelihood_ratio
from arena_pairings.swiss_pairing import Encounter, draw_lots, standings, swiss_round
from arena_records.budgets import optimality_gap, par2, share_at, solved_by_budget

GOLDEN = Path(__file__).with_name("golden.json")


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
        yield [
            *(mean_interval(counts, (0, 0.3, 0.5, 0.9, 1)) or ()),
            *(mean_interval(counts, (0, 0.3, 0.5, 0.9, 1), 0.001) or ()),
        ]


def sequential_tests() -> Iterator[Any]:
    """Log-likelihood ratios of both models, and expected numbers of pairs."""
    for model in ("normalized", "logistic"):
        for bounds in ((0.0, 20.0), (-10.0, 60.0), (0.5, 5.5), (-200.0, 200.0)):
            test = Sprt(*bounds, model=model)
            yield [log_likelihood_ratio(counts, test) for counts in COUNTS]
            yield [test.lower, test.upper, *[expected_pairs(test, elo) for elo in (-300, -5, 0, 2.5, 10, 20, 77)]]


def puzzles() -> Iterator[Any]:
    """McNemar, Tango, Wilson, sign flips, Student's intervals, Holm, budgets."""
    for one, other in ((0, 0), (0, 6), (6, 0), (1, 1), (5, 12), (40, 17), (300, 341), (3000, 3200), (0, 900)):
        yield flip_signs(Counter({1: one, -1: other}))
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
        for values in ([one - other for one, other in pairs], [log(max(one, 1)) - log(max(other, 1)) for one, other in pairs]):
            yield [flip_signs(values), *student_interval(values), *student_interval(values, 0.001)]
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
