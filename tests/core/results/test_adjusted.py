"""Returns corrected for luck: in the match, the record, the store and the board."""

import json
import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import arena
from arena.errors import StoreDamaged
from arena.heuristics import bind
from arena.results.leaderboard import Leaderboard, _describe_order
from arena.results.tally import MeanReturns
from arena.store import Store
from arena_solution.luck import adjusted_returns

SPEC = {"game": {"name": "pig", "target": 30}, "agents": ["random", {"agent": "hold-at", "at": 10}], "rounds": 25}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[arena.Results, Path]:
    store = tmp_path_factory.mktemp("store") / "pig.db"
    return arena.run(SPEC, store=store), store


def test_adjusted_returns_are_computed_from_the_actions(played: tuple[arena.Results, Path]) -> None:
    results, _ = played
    board = results.spec.boards[0]
    heuristic = results.spec.registry.heuristics["pig", str(board.game.default_heuristic)]
    for record in results.records[:10]:
        assert record.adjusted == pytest.approx(adjusted_returns(board.game, record, bind(heuristic, board.game)))
        assert record.adjusted is not None
        assert sum(record.adjusted) == pytest.approx(0, abs=1e-9)
        assert json.loads(json.dumps(record.as_dict()))["adjusted"] == list(record.adjusted)


@pytest.mark.parametrize("lead", [0.2, -0.2])
def test_a_board_mentions_if_adjusted_returns_give_another_order(played: tuple[arena.Results, Path], lead: float) -> None:
    """The returns of the entry with fewer points are changed so that it is behind or ahead of the other one."""
    results, _ = played
    (board,) = Leaderboard.of_results(results)
    first, last = board.rows
    assert first["score"] > last["score"]
    rows = [{**first, "adjusted": lead}, {**last, "adjusted": 0.0}]
    remark = "Ranking by adjusted return, from which luck is subtracted, would give a different order."
    assert (remark in list(_describe_order(rows, "Elo"))) is (lead < 0)
    unknown = [{**row, "adjusted": None} for row in rows]
    assert remark not in list(_describe_order(unknown, "score"))


def test_a_board_removes_luck_by_cross_fitted_regression(played: tuple[arena.Results, Path]) -> None:
    """numpy computes the expected values from the records."""
    results, store = played
    (board,) = Leaderboard.load(store)
    for row in board.rows:
        own = [record.adjusted[record.labels.index(row["agent"])] for record in results.records if record.adjusted is not None]
        assert len(own) == row["games"] == 50
        gained = np.array([record.returns[record.labels.index(row["agent"])] for record in results.records])
        by_round = np.array([gained, gained - own]).reshape(2, 25, 2).sum(axis=2)  # the returns and the luck of each round
        corrected = by_round[0].copy()
        for fold in range(5):
            returns, luck = np.delete(by_round, np.s_[fold::5], axis=1)
            corrected[fold::5] -= (returns - returns.mean()) @ luck / (luck @ luck) * by_round[1, fold::5]
        lowers = corrected.var() < by_round[0].var()
        assert row["adjusted"] == pytest.approx((corrected if lowers else by_round[0]).sum() / 50)
        assert row["adjusted_low"] < row["adjusted"] < row["adjusted_high"]
        assert row["adjusted_low"] - 0.1 < row["mean_return"] < row["adjusted_high"] + 0.1
    assert Leaderboard.of_results(results)[0].rows == board.rows


def test_a_changed_adjusted_return_is_reported_as_damage(played: tuple[arena.Results, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(played[1].read_bytes())
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE record SET adjusted = '1.0,-1.0' WHERE number = 3")
    with Store.open(copy) as store, pytest.raises(StoreDamaged):
        store.verify()


def test_games_without_chance_have_no_adjusted_returns() -> None:
    results = arena.run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 2})
    assert all(record.adjusted is None and "adjusted" not in record.as_dict() for record in results.records)
    assert Leaderboard.of_results(results)[0].rows[0]["adjusted"] is None


def test_a_correction_for_luck_never_increases_the_error_much() -> None:
    """An agent that holds at 3 nearly always loses at Pig, so luck explains little."""
    uneven = {"game": "pig", "agents": [{"agent": "hold-at", "at": 3}, {"agent": "hold-at", "at": 20}], "rounds": 60}
    even = {"game": "pig", "agents": [{"agent": "hold-at", "at": 25}, {"agent": "hold-at", "at": 20}], "rounds": 60}

    def widths(spec: dict[str, object]) -> tuple[float, float]:
        row = Leaderboard.of_results(arena.run(spec))[0].rows[0]
        return row["adjusted_high"] - row["adjusted_low"], row["return_high"] - row["return_low"]

    corrected, plain = widths(uneven)
    assert 0 < corrected < 1.3 * plain
    corrected, plain = widths(even)
    assert corrected < 0.6 * plain


def test_intervals_of_luck_corrected_means_have_the_nominal_coverage() -> None:
    """They cover the mean in 92 to 98 % of 400 simulated tournaments with few rounds. The slope of returns on luck is not 1."""
    rng = random.Random(3)
    held = 0
    for _ in range(400):
        means = MeanReturns(2)
        for round_ in range(12):
            for seats in ((0, 1), (1, 0)):
                luck = rng.gauss(0, 1)
                got = 0.1 * (1 if seats[0] == 0 else -1) + 0.4 * luck + rng.gauss(0, 0.3)
                means.add(round_, seats, (got, -got), (got - luck, luck - got))
        mean, low, high = means.adjusted(0)
        assert mean is not None
        assert low is not None
        assert high is not None
        held += low <= 0.1 <= high
    assert 0.92 * 400 <= held <= 0.98 * 400


def test_returns_are_not_corrected_if_the_evaluation_ignores_dice() -> None:
    results = arena.run({"game": "backgammon", "agents": ["random", {"agent": "random", "label": "other"}], "rounds": 1})
    assert all(record.adjusted == record.returns for record in results.records)
    assert Leaderboard.of_results(results)[0].rows[0]["adjusted"] is None


def test_results_of_few_rounds_are_not_corrected() -> None:
    results = arena.run({**SPEC, "rounds": 9})
    assert Leaderboard.of_results(results)[0].rows[0]["adjusted"] is None


def test_pairings_without_chance_are_not_corrected() -> None:
    """Entry 0 gets 0.4 from entry 1 without chance, and 0.2 plus its luck from entry 2."""
    found = MeanReturns(3, (-1.0, 1.0))
    for round_ in range(20):
        luck = 0.5 if round_ % 2 else -0.5
        found.add(round_, (0, 1), (0.4, -0.4), (0.4, -0.4))
        found.add(round_, (0, 2), (0.2 + luck, -0.2 - luck), (0.2, -0.2))
    assert [found.adjusted(entry).mean for entry in range(3)] == pytest.approx([0.3, -0.4, -0.2])


def test_a_board_has_no_adjusted_returns_if_no_match_had_any_luck() -> None:
    found = MeanReturns(2, (-1.0, 1.0))
    for round_ in range(20):
        found.add(round_, (0, 1), (0.4, -0.4), (0.4, -0.4))
    assert found.adjusted(0).mean is None
