"""Remarks and marks of boards: how much openings favour a seat, which order is not certain, which ratings are not shown."""

import random
from itertools import combinations

import pytest

import arena
from arena.results.cells import board_table
from arena.results.leaderboard import Leaderboard, _describe_ratings
from arena.results.pairs import PairedGames
from arena.results.rating import strengths
from arena.schedule.board_info import BoardInfo

LOPSIDED = {
    "game": {"name": "connect-four", "columns": 5, "rows": 4},
    "openings": {"plies": 6},
    "rounds": 30,
    "agents": ["greedy", {"agent": "alpha-beta", "depth": 1}, {"agent": "alpha-beta", "depth": 3}],
}


def test_a_board_says_how_much_its_openings_favour_a_seat() -> None:
    """Random openings of six plies decide many games of connect four; without openings nothing is said."""
    [board] = Leaderboard.of_results(arena.run(LOPSIDED))
    favour = board.as_dict()["openings_favour"]
    assert 200 < favour < 800
    said = f"Random openings give one of the seats an advantage, by {favour:.0f} Elo (standard deviation)."
    assert any(line.startswith(said) for line in board.explanations)
    assert board.method == "sandwich"
    few = {name: value for name, value in LOPSIDED.items() if name != "openings"} | {"rounds": 4}
    [plain] = Leaderboard.of_results(arena.run(few))
    assert "openings_favour" not in plain.as_dict()
    assert not any("advantage" in remark for remark in plain.explanations)


def test_a_solver_whose_interval_overlaps_is_marked() -> None:
    """Two solvers with the same results cannot be told apart; one that solves nothing can."""
    spec = {
        "game": {"name": "sliding-tiles", "shuffle": 12},
        "rounds": 20,
        "agents": ["a-star", "bfs", {"agent": "dfs", "limits": {"nodes": 1}}],
    }
    [board] = Leaderboard.of_results(arena.run(spec))
    level = {row["agent"]: row["level_with"] for row in board.rows}
    assert level == {"a-star": ["bfs"], "bfs": ["a-star"], "dfs": []}
    assert "~ : the interval of the solved share overlaps with another agent's, so their order may be chance." in board.remarks


def test_hidden_ratings_are_named_in_json() -> None:
    """Two rounds tell nothing: the board shows `?`, and the keys with the numbers are flagged."""
    [board] = Leaderboard.of_results(arena.run({"game": "connect-four", "agents": ["random", "greedy"], "rounds": 2}))
    assert board.as_dict()["unrated"] == ["random", "greedy"]


def test_openings_are_not_advised_if_there_are_some() -> None:
    """A single column has one opening, so agents that draw nothing repeat themselves in spite of it."""
    agents = [{"agent": "alpha-beta", "label": name} for name in ("one", "two")]
    small = {"game": {"name": "connect-four", "columns": 1, "rows": 3, "in_a_row": 3}, "agents": agents, "rounds": 3}
    [plain] = Leaderboard.of_results(arena.run(small))
    assert any("try openings" in remark for remark in plain.remarks)
    [opened] = Leaderboard.of_results(arena.run({**small, "openings": {"plies": 1}}))
    assert not any("try openings" in remark for remark in opened.remarks)
    assert any("more plies give more openings" in remark for remark in opened.remarks)


@pytest.mark.process
def test_times_that_have_the_way_to_another_process_are_marked() -> None:
    """If some entries play apart and others do not; alike entries need no mark."""
    mixed = ["random", {"agent": "random", "label": "apart", "isolation": "process"}]
    said = "* : the times of this agent include the messages to and from another process."
    [board] = Leaderboard.of_results(arena.run({"game": "tic-tac-toe", "agents": mixed, "rounds": 1}))
    assert said in board.remarks
    shown = board_table(board)
    marks = {cells[1]: cells[shown.headings.index("ms/move")].partition(" ")[2] for cells in shown.cells}
    assert marks == {"random": "", "apart": "*"}
    [alike] = Leaderboard.of_results(arena.run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 1}))
    assert said not in alike.remarks
    assert "*" not in str(board_table(alike).cells)


def test_a_board_names_the_agent_whose_pairings_differ() -> None:
    """Twelve equals, of which one wins 90 % of its games with a half of the others and 10 % with the rest."""
    rng, games = random.Random(1), PairedGames()
    for number in range(20):
        for one, two in combinations(range(12), 2):
            for places in ((one, two), (two, one)):
                share = 0.5 if one else 0.9 if (two % 2) == (places[0] == one) else 0.1
                won = 1.0 if rng.random() < share else -1.0
                games.add(number, places, (won, -won), rng.randrange(10**9), True)
    labels = ("odd", *[f"agent {number}" for number in range(1, 12)])
    sheet = BoardInfo("equals", {}, "versus", labels, 0, exact=True)
    rated = strengths(sheet, games.pairings())
    assert rated is not None
    facts, _, explained = _describe_ratings(sheet, rated, None, by_returns=False)
    assert "pairing_spread" not in facts
    spread = facts["pairing_spread_of"]["odd"]
    assert 250 < spread < 550  # odds of 9 are 382 Elo
    words = f"than their ratings predict: by {spread:.0f} Elo in games of odd (standard deviation), more than chance explains."
    assert words in explained[-1]
