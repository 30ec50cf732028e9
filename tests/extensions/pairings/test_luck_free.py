"""Sequential tests on luck-corrected pairs keep their error rates in simulations, and boards and comparisons show the same
state.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import brentq  # type: ignore[import-untyped]
from scipy.special import ndtr  # type: ignore[import-untyped]
from scipy.stats import beta, binomtest, t, ttest_1samp  # type: ignore[import-untyped]

import arena
from arena import Outcomes, Pairing
from arena.api.run import PlayedMatch
from arena.cli import cli
from arena.format import Field
from arena.results.leaderboard import Leaderboard
from arena_pairings.head_to_head import HeadToHead
from arena_pairings.sprt import LuckFreePairs, Sprt, effect_size

WEIGHT = 1.5
"""The weight of a game's luck, in standard deviations of its unmeasured part."""
LUCK: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda rng: rng.gauss(0, 1),
    "skewed": lambda rng: rng.expovariate(1) - 1,
    "coin": lambda rng: rng.choice((-1.0, 1.0)),
}
"""Each kind of luck has mean 0 and variance 1."""


def decide(rng: random.Random, test: Sprt, lead: float, luck: str, *, measured: bool) -> tuple[str | None, int]:
    """Play one match by the real schedule with simulated results and luck. Return the verdict and the number of pairs."""
    keys = {"sprt": {"elo0": test.elo0, "elo1": test.elo1}}
    format_, outcomes = HeadToHead(test=keys), Outcomes()  # type: ignore[arg-type]
    taken: list[Pairing] = []
    for pairing in format_.schedule(Field(2, 2, 2000), outcomes):
        if pairing is not None:
            taken.append(pairing)
            continue
        for one in taken:
            lucky = LUCK[luck](rng)
            got = 1.0 if lead + WEIGHT * lucky + rng.gauss(0, 1) > 0 else -1.0
            sign = 1.0 if one.seats[0] == 0 else -1.0
            adjusted = (sign * (got - 3 * lucky), sign * (3 * lucky - got)) if measured else None
            outcomes.add(one, (sign * got, -sign * got), None, adjusted)
        taken.clear()
    pairs, llr = format_._state(test, outcomes)
    return test.verdict(llr), sum(pairs.counts)


def lead_of(elo: float, luck: str) -> float:
    """Return the lead at which a game has this normalised Elo. The chance of a win is the mean of the normal distribution over
    luck.
    """
    rng = random.Random(luck)
    drawn = np.array([-1.0, 1.0] if luck == "coin" else [LUCK[luck](rng) for _ in range(100_000)])

    def off(lead: float) -> float:
        share = float(ndtr(lead + WEIGHT * drawn).mean())
        return share - 0.5 - effect_size(elo) * sqrt(share * (1 - share) / 2)

    return float(brentq(off, -3, 3))


ERRORS = [(0.0, "H1"), (100.0, "H0")]
"""Each item is the true lead in normalised Elo and the wrong verdict."""


@pytest.mark.parametrize(("elo", "wrong"), ERRORS)
def test_wrong_verdicts_of_luck_corrected_tests_are_rare(elo: float, wrong: str) -> None:
    """At most 9 of 60 matches are wrong. An error rate of 5 % exceeds this once in a thousand times."""
    test, rng, lead = Sprt(0.0, 100.0), random.Random(elo), lead_of(elo, "normal")
    found = [decide(rng, test, lead, "normal", measured=True) for _ in range(60)]
    assert len([verdict for verdict, _ in found if verdict == wrong]) <= 9


@pytest.mark.proof
@pytest.mark.parametrize("luck", list(LUCK))
@pytest.mark.parametrize(("elo", "wrong"), ERRORS)
def test_luck_corrected_tests_have_the_requested_error_rate(
    elo: float, wrong: str, luck: str, record_property: Callable[[str, object], None]
) -> None:
    """The one-sided 99 % limit of the error rate is below 6.5 % if 5 % is requested. If luck is normally distributed, the
    correction saves pairs.
    """
    test, rng, lead, matches = Sprt(0.0, 100.0), random.Random(f"{elo} {luck}"), lead_of(elo, luck), 600
    found = [decide(rng, test, lead, luck, measured=True) for _ in range(matches)]
    errors = len([verdict for verdict, _ in found if verdict == wrong])
    limit = float(beta.ppf(0.99, errors + 1, matches - errors))
    record_property("wrong verdicts, for 5 % requested", f"{errors / matches:.1%}, 99 % limit {limit:.1%}")
    assert limit < 0.065
    raw = [decide(rng, test, lead, luck, measured=False) for _ in range(200)]
    saved = 1 - fmean([pairs for _, pairs in found]) / fmean([pairs for _, pairs in raw])
    record_property("pairs saved", f"{saved:.0%}")
    assert luck != "normal" or saved > 0.07


def test_the_coefficient_of_a_pair_depends_only_on_earlier_pairs() -> None:
    """This is why a test may stop after any pair. numpy computes the same ratio from likelihoods of normal values."""
    rng = np.random.default_rng(4)
    luck = rng.normal(size=60)
    scores = np.clip(np.round(2 * (0.5 + 0.3 * luck + rng.normal(size=60) / 4)) / 2, 0, 1)
    free, left = LuckFreePairs(), []
    for k, (score, lucky) in enumerate(zip(scores, luck, strict=True)):
        free.add(score, lucky)
        before = scores[:k], luck[:k]
        slope = (before[0] - before[0].mean()) @ before[1] / (before[1] @ before[1]) if k >= 10 else 0.0
        left.append(score - slope * lucky)
    prior = 2 * 0.125  # two pairs of independent games
    deviation = sqrt((scores.var() * 60 + prior) / 62)
    means = [0.5 + effect_size(elo) * deviation for elo in (0, 50)]
    squares = [((np.array(left) - mean) ** 2).sum() + prior for mean in means]
    assert free.ratio(Sprt(0, 50)) == pytest.approx(30 * np.log(squares[0] / squares[1]))
    assert free.saving > 1.5
    found, mean = free.estimate(), np.mean(left)
    assert found is not None
    low, high = t.interval(0.95, 59, mean, np.std(left, ddof=1) / sqrt(60))
    elos = [400 * np.log10(share / (1 - share)) for share in (mean, low, high)]
    assert [found.elo, found.elo_low, found.elo_high] == pytest.approx(elos)
    assert found.superiority == pytest.approx(1 - ttest_1samp(left, 0.5).pvalue / 2 if mean > 0.5 else 0)


@pytest.mark.parametrize(("score", "superiority"), [(1.0, 1.0), (0.5, 0.5), (0.0, 0.0)])
def test_equal_scores_have_a_certain_superiority(score: float, superiority: float) -> None:
    """Without any spread of the scores, the t statistic is infinite, or undefined if all pairs are level."""
    free = LuckFreePairs()
    for luck in (1.0, -1.0, 2.0, -0.5, 0.5):  # too few pairs for a regression on luck
        free.add(score, luck)
    found = free.estimate()
    assert found is not None
    assert found.superiority == superiority


def test_the_board_and_the_comparison_show_the_decision_of_the_test(tmp_path: Path) -> None:
    """Eight of ten decided pairs are won, so p = 0.11 without the correction for luck. With the correction, the test decides."""
    agents = [{"agent": "hold-at", "at": at, "label": f"h{at}"} for at in (20, 12)]
    spec = {
        "game": {"name": "pig", "target": 50},
        "agents": agents,
        "format": "head-to-head",
        "test": {"sprt": {"elo0": 0, "elo1": 60}},
        "seed": 1,
    }
    store = tmp_path / "pig.db"
    arena.run(spec, store=store)
    (board,) = Leaderboard.load(store)
    assert board.test is not None
    lost, won = sum(board.test.counts[:2]), sum(board.test.counts[3:])
    assert binomtest(won, lost + won).pvalue > 0.05
    assert board.test.verdict == "H1"
    assert [row["level_with"] for row in board.rows] == [[], []]
    adjusted = f"Elo {board.test.adjusted.elo:+.1f}"
    assert f"{adjusted} (95 % interval +" in board.test.describe(finished=True)
    text = CliRunner().invoke(cli, ["compare", str(store)], standalone_mode=False).output
    assert "By the sequential test, h20 is better than h12 (error probability at most 5 %).\n" in text
    assert f"The test corrects the scores for luck: {adjusted} (95 % interval +" in text
    assert "cannot be told apart" not in text
    undecided = replace(board.test, verdict=None, better=0)
    assert (undecided.better, undecided.conclude()) == (0, "nothing is decided")


@pytest.mark.parametrize(
    ("elo0", "elo1", "verdict", "better"),
    [(0, 20, "H1", 1), (0, 20, "H0", 0), (-20, 0, "H1", 0), (-20, 0, "H0", -1), (-10, 10, "H1", 0), (5, 9, None, 0)],
)
def test_only_a_verdict_on_the_sign_names_the_better_agent(elo0: int, elo1: int, verdict: Any, better: int) -> None:
    """H1 rejects a lead of `elo0` or less, and H0 rejects a lead of `elo1` or more."""
    assert Sprt(elo0, elo1).find_better(verdict, lambda _: 0.0) == better


SPEC = {
    "game": {"name": "pig", "target": 40},
    "agents": [{"agent": "hold-at", "at": 12}, {"agent": "hold-at", "at": 4}],
    "format": "head-to-head",
    "test": {"sprt": {"elo0": 0, "elo1": 80}},
}


def test_the_board_shows_the_ratio_that_ended_the_match(tmp_path: Path) -> None:
    """The match is played at once, and in parts from a store. Agents of pig use no random numbers, but no pair counts as a
    repeat.
    """
    whole = arena.run(SPEC)
    (board,) = Leaderboard.of_results(whole)
    state = board.test
    assert state is not None
    assert state.verdict == "H1"
    assert state.saving > 1.2
    assert sum(state.counts) == len(whole.records) // 2
    assert "corrected for luck; without this, the test would need" in state.describe(finished=True)
    assert "corrected for luck." in replace(state, saving=1.01).describe(finished=True)
    free = LuckFreePairs()
    for one, two in zip(whole.records[::2], whole.records[1::2], strict=True):
        assert one.adjusted is not None
        assert two.adjusted is not None
        luck = (one.returns[0] - one.adjusted[0] + two.returns[1] - two.adjusted[1]) / 2
        free.add((2 + one.returns[0] + two.returns[1]) / 4, luck)
    assert state.llr == pytest.approx(free.ratio(state.test))
    for most in (10, len(whole.records) - 4):  # without the correction, the test would end a match from which so few games lack
        store, played = tmp_path / f"{most}.db", 0

        def stop(_: PlayedMatch, most: int = most) -> None:
            nonlocal played
            played += 1
            if played == most:
                raise KeyError("enough")

        with pytest.raises(KeyError):
            arena.run(SPEC, store=store, observe=stop)
        assert len(arena.run(SPEC, store=store).records) == len(whole.records)
        assert Leaderboard.load(store)[0].test == state
