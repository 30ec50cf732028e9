"""Test boards of many queens: the greedy start, and numpy's results against plain Python."""

import random
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.spec import load_spec
from arena.testing import check_game
from arena_agents.local_search import MinConflicts
from arena_games import n_queens
from arena_games.n_queens import NQueens


def count_crowded(rows: Any) -> int:
    """Return the number of queens that are not the first on one of their diagonals."""
    lines = (Counter(row + column for column, row in enumerate(rows)), Counter(row - column for column, row in enumerate(rows)))
    return sum(count - 1 for line in lines for count in line.values())


def test_a_greedy_start_is_a_permutation_with_few_conflicts() -> None:
    """In 3.08 n tries, all queens but a few dozen are placed without attacks, for any n (Sosic and Gu, 1994). In a random
    permutation, more than n / 2 queens share a diagonal with another one.
    """
    for n in (1_000, 4_000):
        game = NQueens(n=n, start="greedy")
        left = []
        for seed in range(8):
            rows = game.random_state(random.Random(seed))
            assert sorted(rows) == list(range(1, n + 1))
            left.append(count_crowded(rows))
        assert sum(left) / 8 < 60
        assert count_crowded(random.Random(1).sample(range(n), n)) > n / 2


def test_the_first_row_of_a_greedy_start_is_uniform() -> None:
    """The first queen is never attacked, so its row is uniform. Each count of 1,200 draws is within 4 standard errors."""
    game, rng = NQueens(n=6, start="greedy"), random.Random(5)
    counts = Counter(game.random_state(rng)[0] for _ in range(1_200))
    assert all(abs(counts[row] - 200) < 4 * (1_200 / 6 * 5 / 6) ** 0.5 for row in range(1, 7))


def test_an_unknown_start_is_refused(tmp_path: Path) -> None:
    """The error names the line and the expected values."""
    spec = tmp_path / "queens.yaml"
    spec.write_text("game: {name: n-queens, start: fast}\nagents: [min-conflicts]\n")
    with pytest.raises(arena.SpecError) as caught:
        load_spec(spec)
    [fault] = caught.value.faults
    assert (fault.line, fault.where) == (1, "game.start")
    assert "expected one of 'random' or 'greedy', got 'fast'" in fault.message
    with pytest.raises(ValueError, match="start: expected random or greedy, got fast"):
        NQueens(start="fast")  # type: ignore[arg-type]


def test_the_default_of_the_option_start_does_not_change_ids_and_positions() -> None:
    """Records from before the option `start` existed keep their ids and positions."""
    record = arena.play(NQueens(n=8, start="random"), MinConflicts(), seed=2)
    assert record.id == arena.play("n-queens", MinConflicts(), seed=2).id
    assert NQueens(n=8).random_state(random.Random(0)) == bytes(random.Random(0).choices(range(1, 9), k=8))


def test_placed_queens_do_not_attack_each_other_and_are_not_moved() -> None:
    """For three queens on 12 columns, at least half of the first rows differ. Each solution of depth-first search has the
    placed queens.
    """
    game, starts = NQueens(n=12, placed=3), set()
    for seed in range(40):
        start = game.initial(random.Random(seed))
        assert len(start) == 3
        pairs = [(start[i], start[j], j - i) for i in range(3) for j in range(i + 1, 3)]
        assert all(one != other and abs(one - other) != apart for one, other, apart in pairs)
        starts.add(start)
    assert len(starts) > 30
    spec = {"game": {"name": "n-queens", "n": 12, "placed": 3}, "agents": ["dfs"], "rounds": 8}
    for record in arena.run(spec).records:
        kept, rows = record.position.split(), [int(row) for row in record.actions]
        assert record.solved
        assert len(kept) + len(rows) == 12
        assert game.is_goal(bytes([*map(int, kept), *rows]))


@pytest.mark.parametrize(("n", "placed", "most"), [(8, 4, 3), (8, -1, 3), (9, 4, 3), (10, 5, 4), (256, 1, 0)])
def test_at_most_a_third_of_the_queens_is_placed(n: int, placed: int, most: int) -> None:
    """With a third placed, each next queen has a row: `k` queens attack at most `3 k` rows."""
    with pytest.raises(ValueError, match=f"placed: expected 0 to {most} for {n} columns, got {placed}"):
        NQueens(n=n, placed=placed)
    for seed in range(200 if most else 0):
        assert len(NQueens(n=n, placed=most).initial(random.Random(seed))) == most


def test_a_board_with_placed_queens_passes_the_conformance_checks() -> None:
    check_game(NQueens(n=6, placed=2), matches=20)


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use numpy for boards from 300 queens on, or skip the test if numpy is not installed."""
    if find_spec("numpy") is None:
        pytest.skip("there is no numpy")
    monkeypatch.setattr(n_queens, "NUMPY_QUEENS", 300)


def test_numpy_draws_the_same_rows_and_generator_state_as_plain_python(many: None) -> None:
    for n in (300, 311, 312, 313, 5_000):
        one, other = random.Random(n), random.Random(n)
        assert NQueens(n=n).random_state(one) == tuple(other.choices(range(1, n + 1), k=n))
        assert one.getstate() == other.getstate()


def make_solution(n: int) -> list[int]:
    """Return the solution of Pauls (1874) for an even n if n mod 6 is not 2."""
    return [*range(2, n + 1, 2), *range(1, n + 1, 2)]


@pytest.mark.parametrize("n", [300, 304])
def test_numpy_recognises_goals(many: None, n: int) -> None:
    game, good = NQueens(n=n), make_solution(n)
    assert n_queens.is_solution(good)
    assert game.is_goal(tuple(good))
    rng = random.Random(1)
    for _ in range(50):
        one, other = rng.sample(range(n), 2)
        bad = list(good)
        bad[one], bad[other] = bad[other], bad[one]
        assert game.is_goal(tuple(bad)) == (count_crowded(bad) == 0)
    for wrong in (0, n + 1, -5, 1 << 70, True, 1.0):
        assert not game.is_goal((wrong, *good[1:]))  # type: ignore[arg-type]
    assert not game.is_goal(tuple(good[:-1]))
