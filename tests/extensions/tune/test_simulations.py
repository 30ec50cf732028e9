"""`arena tune` runs on agents of known strength. The results of games are simulated, and the command's own code decides."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from arena import Field, Outcomes
from arena.stats import EloEstimate, binomial_cdf, bisect
from arena_pairings.sprt import Sprt, log_likelihood_ratio
from arena_pairings.sprt_state import SprtState
from arena_tune.formats import HeldOut, HeldOutGauntlet
from arena_tune.matches import PlayedTuning
from arena_tune.search import Search, size_generations
from arena_tune.shared_rivals import Lead, SharedRivals
from arena_tune.space import Dimension, Options, Space
from arena_tune.terms import Terms
from arena_tune.tune import Tuning

SPACE = Space((Dimension("a", -1, 1), Dimension("b", 0.1, 10, log=True)))
GAIN = 200.0
"""This is the Elo between the default and the optimum."""
DRAWS = 0.3
"""This is the share of draws between equals."""
MATCHES = 2000
Strength = Callable[[Options], float]


def place_of(options: Options) -> Any:
    return np.array([options["a"], np.log10(options["b"])])


@dataclass(slots=True)
class Drawn:
    """Simulated results of games between the default, with strength 0, and options of some strength."""

    strength: Strength
    rng: np.random.Generator
    positions: int = 128
    pair_matches: int = 2
    matches: int = 0
    known: dict[str, Any] = field(default_factory=dict)

    def draw(self, elo: float, pairs: int) -> Any:
        """Return the points of simulated pairs of games."""
        share = 1 / (1 + 10 ** (-elo / 400))
        drawn = DRAWS * 4 * share * (1 - share)
        games = self.rng.random((pairs, 2))
        self.matches += 2 * pairs
        return np.where(games < share - drawn / 2, 1.0, np.where(games < share + drawn / 2, 0.5, 0.0)).mean(axis=1)

    def searched(self) -> tuple[None, float]:
        return None, 0.0

    def note(self, words: str) -> None:
        pass

    def check_openings(self, first: int) -> None:
        """Accept any search, because every position is new."""

    def play_trials(self, trials: Sequence[Options], positions: int) -> list[Any]:
        for one in trials:
            before = self.known.get(repr(one), np.empty(0))
            more = self.draw(self.strength(one), positions - len(before))
            self.known[repr(one)] = np.concatenate([before, more])
        return [self.known[repr(one)] for one in trials]

    def confirm_pairs(self, best: Options, test: Sprt, pairs: int, first: int) -> SprtState:
        """Play the sequential test as its format schedules it."""
        keys: Any = {"elo0": test.elo0, "elo1": test.elo1}
        outcomes, counts, elo = Outcomes(), [0] * 5, self.strength(best)
        results: dict[float, list[tuple[float, float]]] = {
            0.0: [(0, 0)],
            0.25: [(0, 0.5)],
            0.5: [(0.5, 0.5), (0, 1)],
            0.75: [(0.5, 1)],
            1.0: [(1, 1)],
        }
        format_ = HeldOut(test=cast("Any", {"sprt": keys}), first=first)
        share = 0.5
        for pairing in format_.schedule(Field(2, 2, pairs), outcomes):
            if pairing is None:
                continue
            assert pairing.round >= first
            if pairing.seats == (0, 1):
                (share,) = self.draw(elo, 1)
                counts[EloEstimate.PAIR_SCORES.index(share)] += 1
            got = results[share][0][pairing.seats[0]]
            mine = (2 * got - 1, 1 - 2 * got)
            outcomes.add(pairing, mine if pairing.seats == (0, 1) else mine[::-1])
        llr = log_likelihood_ratio(counts, test)
        five = cast("tuple[int, int, int, int, int]", tuple(counts))
        verdict = test.verdict(llr)
        better = test.find_better(verdict, partial(log_likelihood_ratio, counts))
        return SprtState("best", "default", test, llr, verdict, five, EloEstimate.of_pairs(counts), None, better=better)


def tune(seed: int, drawn: Drawn, default: Options, matches: int = MATCHES, space: Space = SPACE) -> tuple[bool, Options, float]:
    """Return whether a better entry was found, the best options of the search, and their expected gain in Elo."""
    terms = Terms("planted", {"agent": "planted"}, (), {"seed": seed}, (), Path(), space, default, alone=False)
    found, result = Tuning(terms, cast("PlayedTuning", drawn), matches, None, Sprt(0, 20)).run()
    assert drawn.matches <= matches
    return result is not None and result.better, found.options, found.gain


def tune_planted(seed: int) -> float:
    """Return the share of the Elo between default and optimum that the confirmed options keep, or 0 without a better entry."""
    rng = np.random.default_rng(seed)
    best = rng.uniform(-0.8, 0.8, 2)
    start = rng.uniform(-1, 1, 2)
    while np.hypot(*(start - best)) < 0.4:
        start = rng.uniform(-1, 1, 2)
    bend = GAIN / ((start - best) ** 2).sum()

    def strength(options: Options) -> float:
        return GAIN - float(bend * ((place_of(options) - best) ** 2).sum())

    better, options, _ = tune(seed, Drawn(strength, rng), {"a": float(start[0]), "b": float(10 ** start[1])})
    return float(strength(options)) / GAIN if better else 0.0


def tune_flat(seed: int) -> bool:
    """Return whether a better entry is found if no option has an effect."""
    better, _, _ = tune(seed, Drawn(lambda _: 0.0, np.random.default_rng(seed)), {"a": 0.3, "b": 1.0})
    return better


def test_the_optimum_of_two_options_is_found() -> None:
    assert sum(tune_planted(seed) >= 0.9 for seed in range(1000, 1003)) >= 2


def test_no_better_options_are_found_without_an_effect() -> None:
    assert not any(tune_flat(seed) for seed in range(1000, 1002))


@pytest.mark.proof
def test_tuning_keeps_the_elo_of_a_known_optimum(record_property: Callable[[str, object], None]) -> None:
    """At least 80 of 100 simulations with 2,000 matches confirm options with 90 % of the 200 Elo."""
    kept = [tune_planted(seed) for seed in range(100)]
    good = sum(one >= 0.9 for one in kept)
    record_property("kept 90 % of the Elo", f"{good} of 100")
    assert good >= 80


@pytest.mark.proof
def test_tuning_rarely_finds_an_improvement_without_an_effect(record_property: Callable[[str, object], None]) -> None:
    """In 1,000 simulations without an effect, the one-sided 99 % limit of the rate of findings is at most 6.5 %."""
    simulations = 1000
    wrong = sum(tune_flat(seed) for seed in range(simulations))
    limit = bisect(lambda rate: 0.01 - binomial_cdf(wrong, simulations, rate), 0.0, 1.0)  # Clopper and Pearson
    record_property("found something without an effect", f"{wrong} of {simulations}, 99 % limit {limit:.1%}")
    assert limit <= 0.065


def test_the_best_of_a_few_options_is_found() -> None:
    """One option is a choice and one a whole number. The optimum is at an end of the range."""
    space = Space((Dimension("depth", 1, 6, whole=True), Dimension("order", choices=("game", "heuristic"))))

    def strength(options: Options) -> float:
        return 40.0 * (int(options["depth"]) - 2) + (60.0 if options["order"] == "heuristic" else 0.0)

    drawn = Drawn(strength, np.random.default_rng(0))
    better, options, _ = tune(0, drawn, {"depth": 2, "order": "game"}, 1200, space)
    assert better
    assert strength(options) >= 180


def test_equal_results_lead_to_the_same_trials() -> None:
    """A search repeats exactly the same trials, so after an interruption their results come from the store."""
    asked: list[list[tuple[str, int]]] = [[], []]
    for log in asked:
        drawn = Drawn(lambda options: 100.0 * options["a"], np.random.default_rng(5))

        def play(trials: Sequence[Options], positions: int, log: Any = log, drawn: Drawn = drawn) -> list[Any]:
            log += [(repr(one), positions) for one in trials]
            return drawn.play_trials(trials, positions)

        for _ in Search(SPACE, {"a": 0.0, "b": 1.0}, play, 200, 7).generations():
            pass
    assert asked[0] == asked[1]
    assert len(asked[0]) > 20


def decide_against_rivals(seed: int, mine: float, theirs: float, test: Sprt, most: int = 400) -> tuple[str | None, int]:
    """Simulate the test of two entries with these scores against two opponents. Return the verdict and the number
    of positions.
    """
    rng = np.random.default_rng(seed)
    outcomes, format_ = Outcomes(), HeldOutGauntlet(test=cast("Any", {"sprt": {"elo0": test.elo0, "elo1": test.elo1}}), first=5)
    for pairing in format_.schedule(Field(4, 2, most), outcomes):
        if pairing is None:
            continue
        entry = min(pairing.seats)
        won = 2.0 * (rng.random() < (mine, theirs)[entry]) - 1
        outcomes.add(pairing, (won, -won) if pairing.seats[0] == entry else (-won, won))
    return test.verdict(format_.scores.ratio(test)), len(format_.scores.scores)


def test_the_test_against_opponents_finds_only_real_differences() -> None:
    """The hypotheses concern the difference of two scores. A difference of one deviation is 250 normalised Elo."""
    test = Sprt(0, 250)
    equal = [decide_against_rivals(seed, 0.6, 0.6, test) for seed in range(20)]
    # Each score is the mean of 4 games. The variance of the difference is (0.1 + 0.25) / 4, and its root is the difference 0.3.
    apart = [decide_against_rivals(seed, 0.8, 0.5, test) for seed in range(20)]
    assert sum(verdict == "H1" for verdict, _ in equal) <= 4  # the 99 % quantile of 20 at 5 %
    assert sum(verdict == "H0" for verdict, _ in apart) <= 4
    assert all(verdict for verdict, _ in equal + apart)


def interval_of(lead: Lead) -> float:
    return (lead.high or 0) - (lead.low or 0)


def test_the_lead_over_the_default_has_the_elo_of_the_two_scores() -> None:
    """A score of 3/4 is 191 Elo (400 lg 3). The interval is small if the scores move together at each position."""
    scores = SharedRivals(2)
    scores.scores = [(0.75, 0.5)] * 20 + [(1.0, 0.75), (0.5, 0.25)] * 10
    lead = scores.lead()
    assert None not in lead
    assert lead.elo == pytest.approx(400 * np.log10(3))
    assert interval_of(lead) < 60
    scores.scores = [(0.75, 0.5)] * 20 + [(0.5, 0.75), (1.0, 0.25)] * 10
    other = scores.lead()
    assert None not in other
    assert interval_of(other) > 3 * interval_of(lead)


def test_weak_trials_play_fewer_matches() -> None:
    """Half of the trials of a generation continue with twice the positions, and half of these with four times as many."""
    drawn = Drawn(lambda options: 300.0 * options["a"], np.random.default_rng(5))
    search = Search(SPACE, {"a": 0.0, "b": 1.0}, drawn.play_trials, 700, 7)
    next(search.generations())
    first, second, third = size_generations(700)
    assert [len(one.scores) for one in search.trials].count(first) == 6
    assert [len(one.scores) for one in search.trials].count(second) == 3
    assert [len(one.scores) for one in search.trials].count(third) == 3
    assert sum(one.options["a"] for one in search.trials if len(one.scores) == third) > 0
