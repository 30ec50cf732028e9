"""Remarks and marks of boards: how much openings favour a seat, which order is not certain, which ratings are not shown."""

import arena
from arena.results.leaderboard import leaderboards

LOPSIDED = {
    "game": {"name": "connect-four", "columns": 5, "rows": 4},
    "openings": {"plies": 6},
    "rounds": 40,
    "agents": ["greedy", {"agent": "alpha-beta", "depth": 2}, {"agent": "alpha-beta", "depth": 4}],
}


def test_a_board_says_how_much_its_openings_favour_a_seat() -> None:
    """Random openings of six plies decide many games of connect four; without openings nothing is said."""
    [board] = leaderboards(arena.run(LOPSIDED))
    favour = board.as_dict()["openings_favour"]
    assert 200 < favour < 800
    said = f"Openings favour a seat by {favour:.0f} Elo (standard deviation); the ratings allow for it."
    assert said in board.remarks
    assert board.method == "sandwich"
    [plain] = leaderboards(arena.run({name: value for name, value in LOPSIDED.items() if name != "openings"}))
    assert "openings_favour" not in plain.as_dict()
    assert not any("favour a seat" in remark for remark in plain.remarks)


def test_a_solver_whose_interval_overlaps_is_marked() -> None:
    """Two solvers with the same results cannot be told apart; one that solves nothing can."""
    spec = {
        "game": {"name": "sliding-tiles", "shuffle": 12},
        "rounds": 20,
        "agents": ["a-star", "bfs", {"agent": "dfs", "limits": {"nodes": 1}}],
    }
    [board] = leaderboards(arena.run(spec))
    level = {row["agent"]: row["level_with"] for row in board.rows}
    assert level == {"a-star": ["bfs"], "bfs": ["a-star"], "dfs": []}
    assert "~ : the interval of the solved share overlaps with another's, so the order is not certain." in board.remarks


def test_hidden_ratings_are_named_in_json() -> None:
    """Two rounds tell nothing: the board shows `?`, and the keys with the numbers are flagged."""
    [board] = leaderboards(arena.run({"game": "connect-four", "agents": ["random", "greedy"], "rounds": 2}))
    assert board.as_dict()["unrated"] == ["random", "greedy"]


def test_openings_are_not_advised_if_there_are_some() -> None:
    """A single column has one opening, so agents that draw nothing repeat themselves in spite of it."""
    agents = [{"agent": "alpha-beta", "label": name} for name in ("one", "two")]
    small = {"game": {"name": "connect-four", "columns": 1, "rows": 3, "in_a_row": 3}, "agents": agents, "rounds": 3}
    [plain] = leaderboards(arena.run(small))
    assert any("try openings" in remark for remark in plain.remarks)
    [opened] = leaderboards(arena.run({**small, "openings": {"plies": 1}}))
    assert not any("try openings" in remark for remark in opened.remarks)
    assert any("more plies give more of them" in remark for remark in opened.remarks)


def test_times_that_have_the_way_to_another_process_are_named() -> None:
    """If some entries play apart and others do not; alike entries need no mark."""
    mixed = ["random", {"agent": "random", "label": "apart", "isolation": "process"}]
    said = "The time of apart has the way to another process and back in it."
    [board] = leaderboards(arena.run({"game": "tic-tac-toe", "agents": mixed, "rounds": 1}))
    assert said in board.remarks
    [alike] = leaderboards(arena.run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 1}))
    assert not any("The time of" in remark for remark in alike.remarks)
