"""Boards of scores, boards ranked by mean returns, and rotations of seats."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.stats.paired import holm
from tests.conftest import Arena

GAMES = """
from arena import Agent, Game, hookimpl

class Slot(Game):
    '''One seat pulls three times; what it gets is drawn with the position.'''
    name, players, zero_sum = "slot", 1, False
    def initial(self, rng):
        return (0, tuple(rng.random() for _ in range(3)))
    def to_move(self, state):
        return 0
    def actions(self, state):
        return ("low", "high") if state[0] < 3 else ()
    def result(self, state, action):
        pulls, prizes = state
        return (pulls + 1, tuple(p + (action == "high") * (n == pulls) for n, p in enumerate(prizes)))
    def returns(self, state):
        return (sum(state[1]) / 6,)

class Share(Game):
    '''Each of its seats says in turn what it wants, which all lose that are too greedy together.'''
    name, zero_sum = "share", False
    def __init__(self, *, seats: int = 2) -> None:
        self.players = seats
    def initial(self, rng):
        return ()
    def to_move(self, state):
        return len(state)
    def actions(self, state):
        return (1, 2, 3) if len(state) < self.players else ()
    def result(self, state, action):
        return (*state, action)
    def returns(self, state):
        return tuple(one / 4 if sum(state) <= 2 * self.players else -0.5 for one in state)

class Wants(Agent):
    name = "wants"
    def __init__(self, *, much: int = 1) -> None:
        self.much = much
    def choose(self, game, state, search):
        return self.much

class High(Agent):
    name = "high"
    def choose(self, game, state, search):
        return "high"

@hookimpl
def arena_games():
    return [Slot, Share]

@hookimpl
def arena_agents():
    return [Wants, High]
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("plugin") / "games.py"
    file.write_text(GAMES)
    return str(file)


def wants(*amounts: int) -> list[Any]:
    return [{"agent": "wants", "much": much} for much in amounts]


def test_a_game_of_one_seat_is_a_board_of_scores(plugin: str, tmp_path: Path) -> None:
    spec = {"game": "slot", "agents": ["random", "high"], "rounds": 12, "plugins": [plugin]}
    results = arena.run(spec, store=tmp_path / "s.db")
    (board,) = Leaderboard.load(tmp_path / "s.db")
    assert (board.kind, board.cross) == ("score", None)
    first, second = board.rows
    assert list(first)[:7] == ["rank", "agent", "attempts", "mean_return", "return_low", "return_high", "best"]
    scores = [record.returns[0] for record in results.records if record.labels == ("high",)]
    assert (first["agent"], first["attempts"], first["best"], first["moves"]) == ("high", 12, max(scores), 3)
    low, high = stats.t.interval(0.95, 11, loc=sum(scores) / 12, scale=stats.sem(scores))
    assert (first["mean_return"], first["return_low"], first["return_high"]) == pytest.approx((sum(scores) / 12, low, high))
    assert second["mean_return"] < first["mean_return"]
    text = render(results, [board])
    assert "Mean return" in text
    assert "Elo" not in text
    assert Leaderboard.of_results(results)[0].rows == board.rows


def test_scores_are_compared_by_round(plugin: str, tmp_path: Path, invoke: Arena) -> None:
    """scipy enumerates all 2^12 combinations of signs."""
    results = arena.run(
        {"game": "slot", "agents": ["random", "high"], "rounds": 12, "plugins": [plugin]}, store=tmp_path / "s.db"
    )
    scores = {name: [r.returns[0] for r in results.records if r.labels == (name,)] for name in ("random", "high")}
    (document,) = json.loads(invoke("compare", "s.db", "high", "random", "--format", "json").stdout)
    (pair,) = document["pairs"]
    assert pair["difference"] == pytest.approx(sum(scores["high"]) / 12 - sum(scores["random"]) / 12)
    leads = [high - low for high, low in zip(scores["high"], scores["random"], strict=True)]
    flipped = stats.permutation_test((leads,), sum, permutation_type="samples", vectorized=False, n_resamples=2**12)
    assert (pair["p_value"], pair["test"]) == (pytest.approx(flipped.pvalue), "sign flips")


def test_games_that_are_not_zero_sum_are_ranked_by_returns(plugin: str) -> None:
    """The agent that demands 1 never wins, but has the highest return."""
    spec = {"game": "share", "agents": wants(1, 2, 3), "rounds": 1, "plugins": [plugin]}
    by_returns = Leaderboard.of_results(arena.run(spec))[0]
    found = [(row["agent"], row["mean_return"]) for row in by_returns.rows]
    assert found == [("wants(much=1)", 0.25), ("wants(much=3)", (0.75 - 0.5) / 2), ("wants(much=2)", (0.5 - 0.5) / 2)]
    assert any("Ranked by mean return" in remark for remark in by_returns.remarks)
    by_wins = Leaderboard.of_results(arena.run({**spec, "rank": "wins"}))[0]
    assert [(row["agent"], row["score"]) for row in by_wins.rows][-1] == ("wants(much=1)", 0)
    assert not any("Ranked by mean return" in remark for remark in by_wins.remarks)


def test_rotations_give_each_agent_each_seat_once(plugin: str) -> None:
    """Three seats and four agents make 4 groups with 3 orders each, instead of 6."""
    spec = {"game": {"name": "share", "seats": 3}, "agents": [*wants(1, 2, 3), "random"], "rounds": 2, "plugins": [plugin]}
    assert len(arena.run(spec).records) == 4 * 6 * 2
    records = arena.run({**spec, "orders": "rotations"}).records
    assert len(records) == 4 * 3 * 2
    seated = Counter((label, seat) for record in records for seat, label in enumerate(record.labels))
    assert set(seated.values()) == {3 * 2}
    assert len({frozenset(record.labels) for record in records}) == 4


def test_a_board_by_wins_mentions_another_order_by_returns(plugin: str) -> None:
    agents = [{"agent": "wants", "much": much, "label": f"wants {much}"} for much in (1, 2, 3)]
    spec = {"game": "share", "plugins": [plugin], "rounds": 1, "agents": agents}
    remark = "Ranking by mean return would give a different order"
    results = arena.run({**spec, "rank": "wins"})
    board = Leaderboard.of_results(results)[0]
    found = {row["agent"]: (row["rank"], row["mean_return"]) for row in board.rows}
    assert found == {"wants 1": (3, 1 / 4), "wants 2": (1, 0), "wants 3": (1, 1 / 8)}
    assert remark in render(results, [board], "text")
    by_returns = arena.run(spec)
    assert remark not in render(by_returns, Leaderboard.of_results(by_returns), "text")


def test_marks_of_a_board_by_returns_compare_returns(plugin: str) -> None:
    """The expected result is scipy's paired test of the same rounds."""
    agents = ["random", {"agent": "random", "label": "twin"}, {"agent": "wants", "much": 1}]
    results = arena.run({"game": "share", "plugins": [plugin], "rounds": 500, "seed": 1, "agents": agents})
    rows = {row["agent"]: row for row in Leaderboard.of_results(results)[0].rows}
    sums = {name: np.zeros(500) for name in rows}
    for _, _, pairing, record in results.played:
        for label, got in zip(record.labels, record.returns, strict=True):
            sums[label][pairing.round] += got
    pairs = list(combinations(rows, 2))
    found = [stats.ttest_rel(sums[one], sums[two]).pvalue for one, two in pairs]
    for (one, two), corrected in zip(pairs, holm(found), strict=True):
        assert (two in rows[one]["level_with"]) == (one in rows[two]["level_with"]) == (corrected > 0.05)
    assert rows["random"]["level_with"] == ["twin"]


def test_rounds_are_the_sample_in_games_with_chance() -> None:
    results = arena.run({"game": {"name": "pig", "target": 10}, "rounds": 3, "agents": ["random", "hold-at"]})
    text = render(results, [board.explained() for board in Leaderboard.of_results(results)], "text")
    assert "\n6 games.\n" in text
    assert "95 % intervals are computed from rounds:" in text
    twice = arena.run({"game": {"name": "pig", "target": 10}, "rounds": 2, "agents": ["random", "hold-at"]})
    text = render(twice, Leaderboard.of_results(twice), "text")
    assert "No intervals: they need three rounds" in text
    assert "openings" not in text


def test_a_board_with_a_sequential_test_is_ranked_by_score(plugin: str) -> None:
    """The spec can request a ranking by returns instead."""
    wants = [{"agent": "wants", "much": much, "label": f"wants {much}"} for much in (1, 3)]
    spec = {"game": "share", "plugins": [plugin], "agents": wants, "rounds": 8}
    contest = {**spec, "format": {"name": "head-to-head", "test": {"sprt": {"elo1": 60}}}}
    ranked = {}
    for name, given in {"plain": spec, "test": contest, "asked": {**contest, "rank": "returns"}}.items():
        ranked[name] = Leaderboard.of_results(arena.run(given))[0].ranked_by
    assert ranked == {"plain": "mean_return", "test": "score", "asked": "mean_return"}
