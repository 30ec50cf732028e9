"""What comparisons and tests conclude: one score for a pairing, sentences that begin with what differs, tests in plain words."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.results.leaderboard import Leaderboard
from arena.results.pairs import estimate_score
from arena.results.tables import render
from arena.stats.calculator import EloEstimate
from arena.stats.observations import Pair, WinDrawLoss
from arena_pairings.sprt import Sprt, expected_pairs, forecast, log_likelihood_ratio


def called(*arguments: str) -> str:
    """What a command prints."""
    return CliRunner().invoke(cli, [*arguments], standalone_mode=False).output


WON, SPLIT, LOST = Pair.of(1, 0), Pair.of(1, 1), Pair.of(0, 1)


def repeated(pair: Pair, times: int) -> Pair:
    return Pair(*[WinDrawLoss(*[count * times for count in order]) for order in pair])


# One score


def test_the_interval_uses_distinct_pairs() -> None:
    """Ten pairs played five times each count as ten pairs. With unequal repeats, Kish's effective number counts."""
    ten = [WON] * 6 + [LOST] * 4
    assert estimate_score([repeated(pair, 5) for pair in ten]) == replace(EloEstimate.of_pairs((4, 0, 0, 0, 6)), games=100)
    found = estimate_score([repeated(WON, 3), repeated(WON, 1), repeated(LOST, 2)])
    kish = (3 + 1 + 2) ** 2 / (9 + 1 + 4)
    assert found.score == pytest.approx(4 / 6)
    expected = EloEstimate.of_pairs((kish * 2 / 6, 0, 0, 0, kish * 4 / 6))
    assert found.score_low == pytest.approx(expected.score_low)
    assert found.score_high == pytest.approx(expected.score_high)


def test_a_game_without_its_partner_is_part_of_the_score() -> None:
    """On the board of an unfinished run, the score is three points of five."""
    half = Pair(Pair.of(1, 0).forward, WinDrawLoss())
    assert estimate_score([WON, LOST, half]).score == 3 / 5
    assert estimate_score([half]).score == 1


# Tests


@pytest.mark.parametrize(
    ("test", "verdict", "words"),
    [
        (Sprt(0, 30), "H0", "d3 is not 30 normalised Elo better than d2 (error probability at most 5 %)"),
        (Sprt(0, 30, alpha=0.01), "H1", "d3 is better than d2 (error probability at most 1 %)"),
        (Sprt(5, 30), "H1", "d3 is more than 5 normalised Elo better than d2 (error probability at most 5 %)"),
        (Sprt(-10, 0), "H1", "d3 is not 10 normalised Elo worse than d2 (error probability at most 5 %)"),
        (Sprt(-10, 0, beta=0.1), "H0", "d3 is not as good as d2 (error probability at most 10 %)"),
        (Sprt(-30, -10), "H0", "d3 is more than 10 normalised Elo worse than d2 (error probability at most 5 %)"),
    ],
)
def test_a_decided_test_names_the_rejected_hypothesis(test: Sprt, verdict: Any, words: str) -> None:
    """The text gives the probability of this error: alpha if H0 is rejected, beta if H1 is rejected."""
    assert test.explain(verdict, "d3", "d2") == words


def test_hypotheses_are_shown_with_their_unit() -> None:
    """The text also names the model."""
    assert Sprt(-5, 0).describe() == "H0: -5, H1: 0 normalised Elo"
    assert Sprt(0, 10, model="logistic").describe() == "H0: 0, H1: +10 Elo"


def test_a_board_describes_its_test(tmp_path: Path) -> None:
    """If the test is decided, a sentence names both entries. Otherwise, the board shows the log-likelihood ratio."""
    spec = {
        "game": "tic-tac-toe",
        "agents": ["greedy", "random"],
        "format": {"name": "head-to-head", "test": {"sprt": {"elo1": 60}}},
    }
    results = arena.run(spec)
    told = render(results, Leaderboard.of_results(results))
    assert "Sequential test of greedy against random (H0: 0, H1: +60 normalised Elo): greedy is better than random" in told
    (tmp_path / "cup.yaml").write_text(json.dumps(spec))
    half = str(tmp_path / "half.db")
    arena.run({**spec, "rounds": 4}, store=half)
    told = called("leaderboard", half)
    assert "not decided. The log-likelihood ratio" in told  # all its rounds were played


@pytest.mark.parametrize("going", ["at_score", "under_h0", "under_h1"])
def test_the_forecast_is_the_mean_of_simulated_tests(going: str) -> None:
    """The simulation uses Gaussian random walks of the ratio after 48 pairs, and averages the number of steps to either bound."""
    test, counts = Sprt(0, 50), (2, 9, 20, 12, 5)
    llr = log_likelihood_ratio(counts, test)
    ahead = forecast(test, counts, llr)
    assert ahead is not None
    step = 50 * np.sqrt(2) / (800 / np.log(10))
    drift = {"at_score": llr / 48, "under_h0": -step * step / 2, "under_h1": step * step / 2}[going]
    walks = llr + np.cumsum(np.random.default_rng(7).normal(drift, step, (3000, 2500)), axis=1)
    steps = 48 + (1 + np.argmax((walks <= test.lower) | (walks >= test.upper), axis=1)).mean()
    assert getattr(ahead, going) == pytest.approx(steps, rel=0.12)  # the last step goes beyond the bound, on average


def test_a_decided_test_has_no_forecast() -> None:
    """Without pairs, the forecast follows from Wald's formula for the whole test."""
    test = Sprt(0, 50)
    assert forecast(test, (0, 0, 0, 0, 60), log_likelihood_ratio((0, 0, 0, 0, 60), test)) is None
    whole = forecast(test, (0, 0, 0, 0, 0), 0.0)
    assert whole is not None
    assert whole.at_score is None
    assert whole.under_h0 == pytest.approx(expected_pairs(test, 0))
