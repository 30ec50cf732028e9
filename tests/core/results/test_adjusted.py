"""Returns corrected for luck: from the match to its record, the store and the board."""

import json
import sqlite3
from pathlib import Path

import pytest

import arena
from arena.errors import StoreDamaged
from arena.heuristic import bind
from arena.match.replay import adjusted_returns
from arena.results.leaderboard import leaderboards, stored
from arena.store import Store

SPEC = {"game": {"name": "pig", "target": 30}, "agents": ["random", {"agent": "hold-at", "at": 10}], "rounds": 25}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[arena.Results, Path]:
    store = tmp_path_factory.mktemp("store") / "pig.db"
    return arena.run(SPEC, store=store), store


def test_records_have_what_follows_from_their_actions(played: tuple[arena.Results, Path]) -> None:
    """The value of the module for luck, computed again from the record; the sum stays 0, as the game is zero-sum."""
    results, _ = played
    board = results.spec.boards[0]
    heuristic = results.spec.registry.heuristics["pig", str(board.game.default_heuristic)]
    for record in results.records[:10]:
        assert record.adjusted == pytest.approx(adjusted_returns(board.game, record, bind(heuristic, board.game)))
        assert record.adjusted is not None
        assert sum(record.adjusted) == pytest.approx(0, abs=1e-9)
        assert json.loads(json.dumps(record.as_dict()))["adjusted"] == list(record.adjusted)


def test_the_board_has_their_mean(played: tuple[arena.Results, Path]) -> None:
    """From the store as from memory, and it is near the mean return, since the correction has the mean 0."""
    results, store = played
    (board,) = stored(store)
    for row in board.rows:
        own = [record.adjusted[record.labels.index(row["agent"])] for record in results.records if record.adjusted is not None]
        assert len(own) == row["games"] == 50
        assert row["adjusted"] == pytest.approx(sum(own) / 50)
        assert row["adjusted_low"] < row["adjusted"] < row["adjusted_high"]
        assert row["adjusted_low"] - 0.1 < row["mean_return"] < row["adjusted_high"] + 0.1
    assert leaderboards(results)[0].rows == board.rows


def test_a_changed_correction_is_found(played: tuple[arena.Results, Path], tmp_path: Path) -> None:
    """Boards read it, so that it is part of the checksum of its row."""
    copy = tmp_path / "copy.db"
    copy.write_bytes(played[1].read_bytes())
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE record SET adjusted = '1.0,-1.0' WHERE number = 3")
    with Store.open(copy) as store, pytest.raises(StoreDamaged):
        store.verify()


def test_games_without_chance_have_none() -> None:
    """Nor has their record the key."""
    results = arena.run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 2})
    assert all(record.adjusted is None and "adjusted" not in record.as_dict() for record in results.records)
    assert leaderboards(results)[0].rows[0]["adjusted"] is None
