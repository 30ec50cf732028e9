"""The sequential test agrees with published figures and an independent optimiser, and keeps its error rates in simulations."""

import random
from collections.abc import Callable
from functools import partial
from math import isfinite, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq, minimize  # type: ignore[import-untyped]

from arena.errors import ArenaError
from arena.format import Field, Outcomes, Pairing
from arena.results.pairs import PairedGames
from arena.schedule.board_info import BoardInfo
from arena.stats.calculator import EloEstimate
from arena.stats.elo import expected_score
from arena_pairings.head_to_head import HeadToHead
from arena_pairings.sprt import Sprt, Verdict, effect_size, expected_pairs, log_likelihood_ratio
from arena_pairings.sprt_state import SprtState

SCORES = np.array([0, 0.25, 0.5, 0.75, 1])

PUBLISHED = [
    ((44, 681, 1426, 767, 70), (0, 5), 2.90, 8.02),
    ((10, 367, 857, 491, 8), (0.5, 5.5), 2.89, 12.03),
    ((142, 3634, 7565, 3809, 180), (0, 3), 2.92, 2.84),
    ((49, 989, 1891, 903, 31), (0, 3), -2.26, -5.49),
    ((24, 609, 1406, 767, 42), (0, 3), 2.91, 11.84),
]
"""Each item has pentanomial counts, bounds in normalised Elo, log-likelihood ratio and Elo, as published by users of a public
testing framework.
"""


@pytest.mark.parametrize(("counts", "bounds", "llr", "elo"), PUBLISHED)
def test_ratio_and_elo_agree_with_published_matches(
    counts: tuple[int, ...], bounds: tuple[float, float], llr: float, elo: float
) -> None:
    assert log_likelihood_ratio(counts, Sprt(*bounds)) == pytest.approx(llr, abs=0.01)
    assert EloEstimate.of_pairs(counts).elo == pytest.approx(elo, abs=0.01)


def test_the_margin_agrees_with_a_published_one() -> None:
    """The published interval is 11.84 plus or minus 4.83."""
    assert EloEstimate.of_pairs((24, 609, 1406, 767, 42)).margin == pytest.approx(4.83, abs=0.01)


@pytest.mark.parametrize("model", ["normalized", "logistic"])
@pytest.mark.parametrize(
    "counts",
    [(3, 9, 20, 12, 6), (0, 0, 40, 1, 0), (0, 1, 40, 0, 0), (0, 1, 2, 0, 1), (0, 0, 3, 0, 9), (7, 0, 0, 0, 1), (0, 0, 0, 0, 38)],
)
def test_the_ratio_agrees_with_a_numerical_optimiser(counts: tuple[int, ...], model: Any) -> None:
    """scipy's constrained optimiser finds the two largest likelihoods. Scores without a game are possible, too."""
    test = Sprt(-10, 60, model=model)
    found = [_largest(np.array(counts), test, elo) for elo in (test.elo0, test.elo1)]
    assert log_likelihood_ratio(counts, test) == pytest.approx(found[1] - found[0], abs=1e-4)


def _largest(counts: "np.ndarray[Any, Any]", test: Sprt, elo: float) -> float:
    def off(p: "np.ndarray[Any, Any]") -> float:
        mean = float(p @ SCORES)
        if test.model == "logistic":
            return mean - expected_score(elo)
        return mean - 0.5 - effect_size(elo) * sqrt(max(1e-15, float(p @ SCORES**2) - mean**2))

    rules = [{"type": "eq", "fun": off}, {"type": "eq", "fun": lambda p: p.sum() - 1}]
    rng = np.random.default_rng(1)
    best = -np.inf
    for _ in range(3):
        found = minimize(
            lambda p: -float(counts @ np.log(np.maximum(p, 1e-300))),
            rng.dirichlet(counts + 1.0),
            jac=lambda p: -counts / np.maximum(p, 1e-300),
            bounds=[(1e-12, 1)] * 5,
            constraints=rules,
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        if abs(off(found.x)) < 1e-8 and abs(found.x.sum() - 1) < 1e-8:
            best = max(best, -float(found.fun))
    return float(best)


def test_a_match_that_one_side_wins_throughout_is_decided() -> None:
    """For bounds of 0 and 20 Elo, 38 won pairs accept H1, and 38 lost pairs accept H0. A match without games has no verdict."""
    test = Sprt()
    assert test.verdict(log_likelihood_ratio((0, 0, 0, 0, 38), test)) == "H1"
    assert test.verdict(log_likelihood_ratio((38, 0, 0, 0, 0), test)) == "H0"
    assert test.verdict(log_likelihood_ratio((0, 0, 0, 0, 0), test)) is None


def test_a_match_ends_at_the_first_evaluation_that_decides_it() -> None:
    """The test is evaluated after every four pairs, as the manual says. scipy computes after how many pairs wins alone exceed
    the bound, between two evaluations.
    """
    won = [np.array([0, 0, 0, 0, pairs]) for pairs in range(1, 20)]
    ratios = [_largest(counts, Sprt(0, 100), 100) - _largest(counts, Sprt(0, 100), 0) for counts in won]
    passed = next(pairs for pairs, ratio in enumerate(ratios, 1) if ratio >= log(0.95 / 0.05))
    assert passed % 4 not in (0, 1)
    outcomes = Outcomes()
    for number in range(100):
        outcomes.add(Pairing(number, (0, 1)), (1.0, -1.0))
        outcomes.add(Pairing(number, (1, 0)), (-1.0, 1.0))
    format_ = HeadToHead(test={"sprt": {"elo0": 0.0, "elo1": 100.0}})  # type: ignore[arg-type]
    asked = list(format_.schedule(Field(entries=2, players=2, rounds=100, seed=1), outcomes))
    assert asked.count(None) * 4 == (len(asked) - asked.count(None)) / 2 == passed + -passed % 4


def test_the_bounds_agree_with_walds_formulas() -> None:
    """B = beta / (1 - alpha) and A = (1 - beta) / alpha (A. Wald, 1947). With 5 % and 5 %, they are -ln(19) and ln(19)."""
    for alpha, beta, lower, upper in [(0.05, 0.05, 1 / 19, 19), (0.01, 0.1, 10 / 99, 90), (0.1, 0.01, 1 / 90, 9.9)]:
        test = Sprt(alpha=alpha, beta=beta)
        assert (test.lower, test.upper) == pytest.approx((log(lower), log(upper)))


BASE = np.array([0.04, 0.2, 0.5, 0.21, 0.05])


def _tilted(effect: float) -> "np.ndarray[Any, Any]":
    """Return a distribution of pair scores with a mean `effect` deviations above one half."""

    def shares(tilt: float) -> "np.ndarray[Any, Any]":
        weights: np.ndarray[Any, Any] = BASE * np.exp(tilt * SCORES)
        shares: np.ndarray[Any, Any] = weights / weights.sum()
        return shares

    def off(tilt: float) -> float:
        p = shares(tilt)
        mean = float(p @ SCORES)
        return mean - 0.5 - effect * sqrt(float(p @ SCORES**2) - mean**2)

    return shares(brentq(off, -5, 5))


NEAR = 0.8
"""For speed, the exact ratio is computed only if the closed formula comes this near to a bound."""


def _decide(test: Sprt, shares: "np.ndarray[Any, Any]", matches: int) -> tuple[list[Verdict], list[int]]:
    """Return the verdicts and lengths of simulated matches."""
    rng = np.random.default_rng(5)
    drawn = rng.choice(5, size=(matches, 1400), p=shares).astype(np.int8)
    counts = np.stack([np.cumsum(drawn == kind, axis=1, dtype=np.int32) for kind in range(5)], axis=2)
    pairs = np.arange(1, drawn.shape[1] + 1)
    mean = counts @ SCORES / pairs
    deviation = np.sqrt(np.maximum(counts @ SCORES**2 / pairs - mean**2, 1e-4))
    low, high = effect_size(test.elo0), effect_size(test.elo1)
    effect = (mean - 0.5) / deviation
    closed = pairs / 2 * np.log((1 + (effect - low) ** 2) / (1 + (effect - high) ** 2))
    verdicts: list[Verdict] = []
    lengths: list[int] = []
    for match in range(matches):
        for pair in np.flatnonzero((np.abs(closed[match]) > test.upper - NEAR) & (pairs >= 5)):
            llr = log_likelihood_ratio(counts[match, pair].tolist(), test)
            if pair > 30:
                assert llr == pytest.approx(closed[match, pair], abs=NEAR)
            if verdict := test.verdict(llr):
                verdicts.append(verdict)
                lengths.append(int(pair) + 1)
                break
    return verdicts, lengths


@pytest.mark.parametrize("matches", [60, pytest.param(2000, marks=pytest.mark.proof)])
@pytest.mark.parametrize(("elo", "wrong"), [(0, "H1"), (50, "H0")])
def test_false_verdicts_are_as_rare_as_requested(
    elo: float, wrong: Verdict, matches: int, record_property: Callable[[str, object], None]
) -> None:
    """At both hypotheses, at most 5 % of the verdicts plus two sigma are wrong. Each match is decided, at about the expected
    length.
    """
    test = Sprt(0, 50)
    verdicts, lengths = _decide(test, _tilted(effect_size(elo)), matches)
    assert len(verdicts) == matches
    share, mean = verdicts.count(wrong) / matches, sum(lengths) / matches
    record_property("false verdicts", f"{share:.1%} of {matches:,}, after {mean:.0f} pairs")
    assert share <= 0.05 + 2 * sqrt(0.05 * 0.95 / matches)
    assert mean == pytest.approx(expected_pairs(test, elo), rel=0.15 if matches > 1000 else 0.4)


def test_wrong_claims_about_the_sign_of_a_lead_are_as_rare_as_requested() -> None:
    """The lead is 0, and the hypotheses are 50 below and above it, so both verdicts are equally frequent. In 100 matches, at
    most 5 % plus two sigma find a given side better.
    """
    test, rng = Sprt(-50, 50), np.random.default_rng(3)
    claims, verdicts = [], []
    for _ in range(100):
        counts, verdict = np.zeros(5, dtype=int), None
        while verdict is None:
            counts += rng.multinomial(4, _tilted(0))
            verdict = test.verdict(log_likelihood_ratio(counts.tolist(), test))
        verdicts.append(verdict)
        claims.append(test.find_better(verdict, partial(log_likelihood_ratio, counts.tolist())))
    assert 30 < verdicts.count("H1") < 70
    assert max(claims.count(1), claims.count(-1)) <= 5 + 2 * sqrt(100 * 0.05 * 0.95)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        (12, ("is better than", "is not as good as")),
        (8, ("is not 100 normalised Elo worse than", "is not 100 normalised Elo better than")),
    ],
)
def test_a_verdict_claims_only_the_lead_that_the_games_show(pairs: int, words: tuple[str, str]) -> None:
    """If all pairs are won, the log-likelihood ratio of a lead of 100 to a lead of 0 is 2.56 after 8 pairs and 3.84 after 12;
    the bound is ln 19. The other side gets the same verdict with H0 and H1 exchanged.
    """
    sheet = BoardInfo("half", {}, "versus", ("one", "other"), 1000, exact=False, test={"elo0": -100.0, "elo1": 100.0})
    for winner in (0, 1):
        games = PairedGames()
        for round_ in range(pairs):
            for seats in ((0, 1), (1, 0)):
                games.add(round_, seats, [1.0 if seat == winner else -1.0 for seat in seats], round_, used_rng=True)
        state = SprtState.of(sheet, games)
        assert state is not None
        assert state.verdict == ("H1", "H0")[winner]
        assert state.better == (0 if pairs == 8 else 1 - 2 * winner)
        assert state.conclude() == f"one {words[winner]} other (error probability at most 5 %)"


def test_most_pairs_are_expected_between_the_hypotheses() -> None:
    """At the middle, Wald's formula is ln(19)^2 over the squared step. The values at both hypotheses are equal, and far outside
    few pairs are expected.
    """
    test = Sprt(0, 20)
    assert expected_pairs(test, 10) == pytest.approx(log(19) ** 2 / effect_size(20) ** 2)
    assert expected_pairs(test, 10 + 1e-6) == pytest.approx(expected_pairs(test, 10), rel=1e-6)
    assert expected_pairs(test, 0) == pytest.approx(expected_pairs(test, 20))
    assert expected_pairs(test, 0) == pytest.approx(0.9 * log(19) / (effect_size(20) ** 2 / 2))
    assert 0 < expected_pairs(test, 100000) < expected_pairs(test, -50) < expected_pairs(test, 0)


@pytest.mark.parametrize("bad", [{"elo0": 5, "elo1": 5}, {"alpha": 0}, {"beta": 0.5}, {"elo1": 900}])
def test_invalid_parameters_of_a_test_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ArenaError, match="sprt: expected"):
        Sprt(**bad)  # type: ignore[arg-type]
    with pytest.raises(ArenaError, match="pentanomial: expected five"):
        log_likelihood_ratio((1, 2, 3), Sprt())


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from([0, 0, 1, 2, 40, 100_000]), min_size=5, max_size=5),
    st.floats(-250, 249),
    st.floats(0.5, 500),
    st.sampled_from(["normalized", "logistic"]),
)
def test_the_ratio_is_finite_for_all_counts(counts: list[int], elo0: float, width: float, model: Any) -> None:
    """The ratio changes its sign if the sides and the hypotheses are exchanged."""
    test = Sprt(elo0, min(250.0, elo0 + width), model=model)
    llr = log_likelihood_ratio(counts, test)
    assert isfinite(llr)
    mirrored = Sprt(-test.elo1, -test.elo0, model=model)
    assert log_likelihood_ratio(counts[::-1], mirrored) == pytest.approx(-llr, abs=1e-5 * (1 + abs(llr)))
    assert isfinite(expected_pairs(test, random.Random(1).uniform(-300, 300)))


def test_the_board_explains_that_the_elo_counts_repeated_games_and_the_test_does_not() -> None:
    """Only three of the ten pairs are distinct. Without repeats, there is no such sentence."""
    whole = EloEstimate.of_pairs((1, 0, 9, 0, 0))
    counted = [SprtState("a", "b", Sprt(0, 10), 0.0, None, counts, whole, None) for counts in ((1, 0, 2, 0, 0), (1, 0, 9, 0, 0))]
    sentence = "The Elo counts all 20 games; the test uses the 3 pairs that differ."
    assert [sentence in state.describe(finished=True) for state in counted] == [True, False]
    assert [state.repeats for state in counted] == [sentence, ""]
