"""What comparisons and tests conclude: one score for a pairing, sentences that begin with what differs, tests in plain words."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.results.comparison import GamesComparison, compare_games
from arena.results.conclusions import advice, games_verdict, hypotheses, sprt_verdict
from arena.results.leaderboard import leaderboards
from arena.results.pairs import estimated
from arena.results.tables import render
from arena.stats.calculator import elo_of_pairs
from arena.stats.intervals import Difference
from arena.stats.observations import Pair
from arena.stats.sprt import Sprt, expected_pairs, forecast, log_likelihood_ratio


def called(*arguments: str) -> str:
    """What a command prints."""
    return CliRunner().invoke(cli, [*arguments], standalone_mode=False).output


WON, SPLIT, LOST = Pair.of(1, 0), Pair.of(1, 1), Pair.of(0, 1)


def repeated(pair: Pair, times: int) -> Pair:
    return Pair(pair.forward.times(times), pair.backward.times(times))


# One score


def test_compare_and_board_have_one_score(tmp_path: Path) -> None:
    """Two agents that draw nothing by lot, nine openings in 40 rounds: those met most often weigh most, on the board and here."""
    agents = [{"agent": "alpha-beta", "depth": 2, "label": "two"}, {"agent": "alpha-beta", "depth": 1, "label": "one"}]
    spec = {"game": {"name": "tic-tac-toe"}, "rounds": 40, "openings": {"plies": 1}, "agents": agents}
    results = arena.run(spec, store=tmp_path / "cup.db")
    points = sum((record.returns[record.labels.index("two")] + 1) / 2 for record in results.records)
    (board,) = leaderboards(results)
    assert board.rows[0]["score"] == max(points / 80, 1 - points / 80)
    (found,) = json.loads(called("compare", str(tmp_path / "cup.db"), "two", "one", "--format", "json"))[0]["pairs"]
    assert found["worth"]["score"] == points / 80
    assert found["worth"]["elo"] == pytest.approx(400 * np.log10(points / (80 - points)))
    assert found["worth"]["score_low"] < points / 80 < found["worth"]["score_high"]
    differ = sum(found["counts"])
    assert differ < 40
    alone = sum(count * score for count, score in zip(found["counts"], (0, 0.25, 0.5, 0.75, 1), strict=True)) / differ
    assert alone != pytest.approx(points / 80)  # by each opening once it would be another number
    text = called("compare", str(tmp_path / "cup.db"), "two", "one")
    assert f"two scores {100 * points / 80:.1f} % (" in text
    assert f"The score is that of all 80 games; the {differ} pairs that differ carry the interval." in text


def test_pairs_that_differ_carry_the_interval() -> None:
    """Ten pairs played five times each say as much as ten pairs; with unequal repeats as much as Kish's number of them."""
    ten = [WON] * 6 + [LOST] * 4
    assert estimated([repeated(pair, 5) for pair in ten]) == replace(elo_of_pairs((4, 0, 0, 0, 6)), games=100)
    found = estimated([repeated(WON, 3), repeated(WON, 1), repeated(LOST, 2)])
    kish = (3 + 1 + 2) ** 2 / (9 + 1 + 4)
    assert found.score == pytest.approx(4 / 6)
    expected = elo_of_pairs((kish * 2 / 6, 0, 0, 0, kish * 4 / 6))
    assert found.score_low == pytest.approx(expected.score_low)
    assert found.score_high == pytest.approx(expected.score_high)


def test_half_a_pair_is_part_of_the_score() -> None:
    """As on the board, while a run goes on: three points of five."""
    half = Pair(Pair.of(1, 0).forward, Pair.of(1, 0).backward.times(0))
    assert estimated([WON, LOST, half]).score == 3 / 5
    assert estimated([half]).score == 1


# Games


def compared(pairs: list[Pair], table: Difference | None = None) -> GamesComparison:
    return compare_games(("a", "b"), pairs, table, 2 * len(pairs))


def test_the_verdict_comes_first(tmp_path: Path) -> None:
    """Whoever is named first; and of two that are the same but for their names, that nothing is known."""
    spec = {"game": "tic-tac-toe", "rounds": 30, "agents": ["random", "greedy", {"agent": "random", "label": "dice"}]}
    arena.run(spec, store=tmp_path / "cup.db")
    for names in (("greedy", "random"), ("random", "greedy")):
        sentence = called("compare", str(tmp_path / "cup.db"), *names).splitlines()[2]
        assert re.fullmatch(r"greedy is better than random: \d\d\.\d % of the points, p = \de-\d+\.", sentence)
    sentence = called("compare", str(tmp_path / "cup.db"), "random", "dice").splitlines()[2]
    assert re.match(r"random and dice cannot be told apart: \d\d\.\d % of the points for \w+, p = 0\.\d+\.", sentence)
    assert games_verdict(compared([WON] * 9), 0.06, "p = 0.06").startswith("a and b cannot be told apart: 100.0 %")


AHEAD, BEHIND, LEVEL = Difference(90, 30, 150, 0.99), Difference(-90, -150, -30, 0.01), Difference(-5, -60, 50, 0.4)


@pytest.mark.parametrize(
    ("pairs", "table", "word"),
    [
        ([WON] * 20, AHEAD, None),
        ([WON] * 20, BEHIND, "The two point opposite ways: take a to meet b, and b to meet a field like this board's."),
        ([LOST] * 20, AHEAD, "The two point opposite ways: take b to meet a, and a to meet a field like this board's."),
        ([WON] * 20, LEVEL, "Only the games between them tell them apart: take a to meet b; by the board neither is better."),
        (
            [SPLIT] * 20,
            BEHIND,
            "Only the whole board tells them apart: take b to meet a field like it; between the two it is open.",
        ),
        ([SPLIT] * 20, LEVEL, None),
        (
            [SPLIT] * 20 + [WON],
            LEVEL,
            "The two point opposite ways, neither beyond noise: play more rounds before you act on either.",
        ),
        ([WON] * 20, None, None),
    ],
)
def test_which_answer_to_act_on(pairs: list[Pair], table: Difference | None, word: str | None) -> None:
    """Where the board and the games between two differ; nothing where they agree."""
    found = compared(pairs, table)
    assert advice(found, found.p_value) == word


# Puzzles


@pytest.fixture(scope="module")
def searches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two optimal searches, which solve all, and one that solves all by longer ways."""
    path = tmp_path_factory.mktemp("store") / "puzzle.db"
    agents = [
        {"agent": "a-star", "heuristic": "misplaced", "label": "misplaced"},
        {"agent": "a-star", "heuristic": "manhattan", "label": "manhattan"},
        {"agent": "best-first", "heuristic": "manhattan", "label": "greedily"},
    ]
    arena.run({"game": {"name": "sliding-tiles", "shuffle": 30}, "rounds": 40, "seed": 1, "agents": agents}, store=path)
    return path


def test_what_differs_comes_first(searches: Path) -> None:
    """Optimal searches differ in nodes alone: by the ratio of the table, with the better one first, whichever is named first."""
    for names in (("misplaced", "manhattan"), ("manhattan", "misplaced")):
        (found,) = json.loads(called("compare", str(searches), *names, "--format", "json"))[0]["pairs"]
        low, value, high = sorted(max(one, 1 / one) for one in map(found["nodes"]["estimate"].get, ("low", "value", "high")))
        assert low > 1
        sentence = called("compare", str(searches), *names).splitlines()[2]
        assert sentence.startswith(
            f"Where both solve, manhattan takes {value:.3g} times fewer nodes than misplaced ({low:.3g} to {high:.3g}, 95 %)"
        )
        assert "cannot be told apart by what they solve (-9 to 9 points, p = 1)" in sentence
        assert "solution length (equal everywhere)" in sentence
        assert " time" in sentence


def test_length_comes_before_nodes(searches: Path) -> None:
    """A search that takes fewer nodes for longer solutions: both are said, from the side of the shorter ones."""
    sentence = called("compare", str(searches), "greedily", "misplaced").splitlines()[2]
    assert re.match(
        r"Where both solve, misplaced finds solutions [\d.]+ moves shorter than greedily \([\d.]+ to [\d.]+, 95 %\)", sentence
    )
    assert re.search(r"takes [\d.]+ times as many nodes \([\d.]+ to [\d.]+\)", sentence)


# Tests


@pytest.mark.parametrize(
    ("test", "verdict", "words"),
    [
        (Sprt(0, 30), "H0", "d3 is not 30 Elo better than d2 (at most 5 % risk)"),
        (Sprt(0, 30, alpha=0.01), "H1", "d3 is better than d2 (at most 1 % risk)"),
        (Sprt(5, 30), "H1", "d3 is more than 5 Elo better than d2 (at most 5 % risk)"),
        (Sprt(-10, 0), "H1", "d3 is not 10 Elo worse than d2 (at most 5 % risk)"),
        (Sprt(-10, 0, beta=0.1), "H0", "d3 is not as good as d2 (at most 10 % risk)"),
        (Sprt(-30, -10), "H0", "d3 is more than 10 Elo worse than d2 (at most 5 % risk)"),
    ],
)
def test_a_test_says_what_is_false(test: Sprt, verdict: Any, words: str) -> None:
    """The hypothesis that was given up, with the error that it would be: alpha against H0, beta against H1."""
    assert sprt_verdict(test, verdict, "d3", "d2") == words


def test_hypotheses_have_their_unit() -> None:
    """The model is named."""
    assert hypotheses(Sprt(-5, 0)) == "H0: -5, H1: 0 normalised Elo"
    assert hypotheses(Sprt(0, 10, model="logistic")) == "H0: 0, H1: +10 Elo"


def test_a_board_tells_its_test(tmp_path: Path) -> None:
    """Decided: a sentence with both names; not decided while the run goes on: how many pairs it will take."""
    spec = {
        "game": "tic-tac-toe",
        "agents": ["greedy", "random"],
        "format": {"name": "head-to-head", "test": {"sprt": {"elo1": 60}}},
    }
    results = arena.run(spec)
    told = render(results, leaderboards(results))
    assert (
        "SPRT of greedy against random (H0: 0, H1: +60 normalised Elo): H1 accepted: greedy is better than random (at most 5 %"
        in told
    )
    (tmp_path / "cup.yaml").write_text(json.dumps(spec))
    half = str(tmp_path / "half.db")
    arena.run({**spec, "rounds": 4}, store=half)
    told = called("leaderboard", half)
    assert "not decided. LLR" in told  # all its rounds were played


@pytest.mark.parametrize("going", ["at_score", "under_h0", "under_h1"])
def test_the_forecast_is_the_mean_of_simulated_tests(going: str) -> None:
    """Gaussian walks of the ratio from where a test stands after 48 pairs: the mean number of steps to either bound."""
    test, counts = Sprt(0, 50), (2, 9, 20, 12, 5)
    llr = log_likelihood_ratio(counts, test)
    ahead = forecast(test, counts, llr)
    assert ahead is not None
    step = 50 * np.sqrt(2) / (800 / np.log(10))
    drift = {"at_score": llr / 48, "under_h0": -step * step / 2, "under_h1": step * step / 2}[going]
    walks = llr + np.cumsum(np.random.default_rng(7).normal(drift, step, (3000, 2500)), axis=1)
    steps = 48 + (1 + np.argmax((walks <= test.lower) | (walks >= test.upper), axis=1)).mean()
    assert getattr(ahead, going) == pytest.approx(steps, rel=0.12)  # the last step goes beyond the bound, on average


def test_nothing_is_foretold_of_a_decided_test() -> None:
    """And of one without pairs what Wald's formula says of a whole one."""
    test = Sprt(0, 50)
    assert forecast(test, (0, 0, 0, 0, 60), log_likelihood_ratio((0, 0, 0, 0, 60), test)) is None
    whole = forecast(test, (0, 0, 0, 0, 0), 0.0)
    assert whole is not None
    assert whole.at_score is None
    assert whole.under_h0 == pytest.approx(expected_pairs(test, 0))


def test_a_verdict_is_not_denied_by_its_interval() -> None:
    """Three pairs won and two level: whatever the p-value, an interval that holds the half tells no winner."""
    worth = elo_of_pairs((0, 0, 2, 0, 3))
    low, high = worth.score_low, worth.score_high
    assert low is not None
    assert high is not None
    assert low <= 0.5 <= high
    found = GamesComparison("a", "b", (0, 0, 2, 0, 3), worth, 0.04, None)
    assert games_verdict(found, 0.04, "p = 0.04") == "a and b cannot be told apart: 80.0 % of the points for a, p = 0.04."
    sure = replace(found, worth=elo_of_pairs((0, 0, 20, 0, 30)))
    assert games_verdict(sure, 0.04, "p = 0.04").startswith("a is better than b: 80.0 % of the points")
