"""Ratings that are too uncertain are not shown."""

import json
import math
import re
from statistics import NormalDist
from typing import Any

import arena
from arena.results.cells import board_table
from arena.results.leaderboard import Leaderboard
from arena.results.pairs import PairedGames
from arena.results.rating import MIN_DECISIVE_PAIRS, UnknownRatings, strengths, unknown_ratings
from arena.results.tables import render
from arena.results.tally import Facts, Tally
from arena.schedule.board_info import BoardInfo
from tests.players import PLAYERS

QUICK = {"game": "tic-tac-toe", "rounds": 3, "seed": 2026, "agents": ["random", "greedy", "lookahead", "type-a-plus"]}
SURE: dict[str, Any] = {
    "game": "tic-tac-toe",
    "rounds": 30,
    "seed": 3,
    "agents": ["random", "greedy", {"agent": "random", "label": "lot"}],
}


def shown(board: Leaderboard) -> dict[str, tuple[str, str]]:
    """The texts of rating and interval by agent."""
    table = board_table(board)
    columns = [table.headings.index(heading) for heading in ("Agent", "Elo", "95 % interval")]
    return {row[columns[0]]: (row[columns[1]], row[columns[2]]) for row in table.cells}


def wide(row: dict[str, Any]) -> bool:
    """Return whether an interval extends more than 300 to either side, or has no bound."""
    low, high = row["rating_low"], row["rating_high"]
    return low is None or high is None or high - low > 600


def test_a_rating_with_a_wide_interval_is_shown_as_a_question_mark() -> None:
    """The JSON output has the number."""
    results = arena.run(QUICK)
    (board,) = Leaderboard.of_results(results)
    assert {wide(row) for row in board.rows} == {True, False}
    texts = shown(board)
    assert {agent for agent, (rating, _) in texts.items() if rating == "?"} == {row["agent"] for row in board.rows if wide(row)}
    lost = next(row for row in board.rows if row["agent"] == "random")
    assert (lost["wins"], lost["draws"]) == (0, 0)
    assert texts["random"] == ("?", f"below {round(lost['rating_high'])}")
    told = json.loads(render(results, [board], "json"))["boards"][0]["rows"]
    assert all(isinstance(row["rating"], float) for row in told)
    text = render(results, [board])
    assert "a lead of 400 means 91 % of the points" in text
    assert "Ranked by score." in text
    assert "? for random: all games between stronger and weaker agents went one way" in text


def test_a_rating_with_a_narrow_interval_is_a_number() -> None:
    results = arena.run(SURE)
    (board,) = Leaderboard.of_results(results)
    assert [wide(row) for row in board.rows] == [False] * 3
    for row in board.rows:
        assert shown(board)[row["agent"]] == (
            f"{row['rating']:+.0f}", f"{row['rating_low']:+.0f} to {row['rating_high']:+.0f}"
        )  # fmt: skip
    assert not board.unrated
    assert "in which one side scores more" not in render(results, [board])


def test_the_forecast_of_missing_pairs_assumes_intervals_shrink_with_the_square_root() -> None:
    spec = {**SURE, "rounds": 3, "seed": 6}
    (few,) = Leaderboard.of_results(arena.run(spec))
    assert few.unrated
    [told] = re.findall(r"about (\d+) decided pairs of games.*; so far there are (\d+)", render(arena.run(spec), [few]))
    needed, decisive = map(int, told)
    widest = max(row["rating_high"] - row["rating_low"] for row in few.rows) / 600
    assert needed == max(9, math.ceil(decisive * widest**2))
    rounds = math.ceil(2 * needed / decisive * 1.5)
    (more,) = Leaderboard.of_results(arena.run({**spec, "rounds": rounds}))
    assert not more.unrated


def test_equal_agents_need_six_decisive_pairs_for_a_rating() -> None:
    """The winner of a decisive pair of equal agents is a fair coin with the variance 1/4. So n pairs determine the logarithm
    of the odds to 2 / sqrt(n), and one unit of it is 400 / ln 10 Elo.
    """
    half = NormalDist().inv_cdf(0.975) * 2 * 400 / math.log(10)
    assert half / math.sqrt(MIN_DECISIVE_PAIRS) <= 300 < half / math.sqrt(MIN_DECISIVE_PAIRS - 1)


def test_a_gauntlet_is_ranked_by_ratings_if_all_are_known() -> None:
    field = ["greedy", "random", {"agent": "random", "label": "lot"}]
    for rounds, by in ((2, "score"), (40, "rating")):
        results = arena.run({**SURE, "agents": field, "format": "gauntlet", "rounds": rounds})
        (board,) = Leaderboard.of_results(results)
        assert any(map(wide, board.rows)) == (by == "score")
        merits = [row[by] for row in board.rows]
        assert merits == sorted(merits, reverse=True)
        assert [row["rank"] for row in board.rows] == [1 + sum(other > mine for other in merits) for mine in merits]
        assert ("Ranked by Elo." in render(results, [board])) == (by == "rating")


def test_the_anchor_always_has_a_rating() -> None:
    (board,) = Leaderboard.of_results(arena.run({**SURE, "anchor": "lot"}))
    assert shown(board)["lot"] == ("+0", "-")
    assert "lot" not in board.unrated


def test_sorting_by_rating_puts_unknown_ratings_last() -> None:
    for sort in ("rating", "-rating"):
        spec = {**SURE, "agents": [*SURE["agents"], "raiser"], "plugins": [str(PLAYERS)], "anchor": "lot", "sort": sort}
        (board,) = Leaderboard.of_results(arena.run(spec))
        assert board.unrated == {"raiser"}
        rows = board_table(board).rows
        assert rows[3]["agent"] == "raiser"
        ratings = [row["rating"] for row in rows[:3]]
        assert ratings == sorted(ratings, reverse=sort == "-rating")


def test_an_agent_without_node_counts_does_not_have_the_fewest_nodes() -> None:
    labels = ("idle", "slow", "quick", "half")
    tally = Tally(BoardInfo("path", {"name": "path"}, "puzzle", labels, 24, exact=True))
    for round_ in range(6):
        for entry, nodes in enumerate((0, 90, 30, 10)):
            solved = entry < 3 or round_ % 2 == 0
            moves, seconds = 3 if solved else 0, 0.001
            tally.count(Facts((entry,), (1.0,), "normal", None, solved, moves=moves, moves_of=int(solved)))
            tally.add_effort(entry, 1, nodes, seconds)
            tally.attempts[entry].add(round_, solved=solved, moves=3.0, cost=3.0, nodes=nodes, seconds=seconds)
    board = Leaderboard.of(tally, finished=True)
    assert [(row["agent"], row["rank"], row["nodes_per_attempt"]) for row in board.rows] == [
        ("quick", 1, 30),
        ("slow", 2, 90),
        ("idle", 3, None),
        ("half", 4, 10),
    ]
    shown = {
        row["agent"]: dict(zip(board.table().headings, cells, strict=True))
        for row, cells in zip(board.rows, board.table().cells, strict=True)
    }
    assert [shown[label]["Generated"] for label in labels] == ["-", "90", "30", "10"]
    assert {row["agent"]: row["level_with"] for row in board.rows}["idle"] == ["slow", "quick", "half"]


def test_no_number_of_pairs_is_suggested_that_is_below_the_present_number() -> None:
    (few,) = UnknownRatings(frozenset({0}), (), decisive=22, needed=18).describe(["one"])
    assert few == "? : no rating yet, because the 95 % interval is missing or wider than ±300 Elo."


def test_only_pairs_of_two_games_are_counted_as_decisive() -> None:
    games = PairedGames()
    pairs = [(0, (0, 1), 1.0), (0, (1, 0), 0.0), (1, (0, 1), 1.0), (1, (1, 0), 1.0)]
    lone = [(2, (0, 1), 1.0), (3, (1, 0), 1.0), (4, (0, 1), -1.0)]
    for play, (round_, seats, got) in enumerate([*pairs, *lone]):
        games.add(round_, seats, (got, -got), play, used_rng=True)
    board = BoardInfo("game", {"name": "game"}, "versus", ("one", "two"), 10, exact=True, has_chance=True, returns=(-1.0, 1.0))
    rated = strengths(board, games)
    assert rated is not None
    assert unknown_ratings(rated, games, [0, 1]).decisive == 1


def test_the_number_of_missing_pairs_is_not_forecast_without_an_interval() -> None:
    for rounds, forecast in ((2, False), (3, True)):
        results = arena.run({**SURE, "rounds": rounds, "seed": 6})
        text = render(results, Leaderboard.of_results(results))
        assert "no rating yet" in text
        assert ("decided pairs of games" in text) == forecast
