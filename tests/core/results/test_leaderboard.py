"""Leaderboards: every figure is computed again from the records."""

import csv
import io
import json
from itertools import product
from typing import Any

import pytest
from tabulate import tabulate_formats

from arena import play, run
from arena.format import Pairing, share_points
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.results.tally import Facts, ResultCount, Tally
from arena.schedule.board_info import BoardInfo
from arena.tournament.results import Results
from tests.core.results.one_by_one import count_one_by_one

VERSUS_KEYS = ["rank", "agent", "rating", "rating_low", "rating_high", "level_with", "games", "wins", "draws", "losses", "score",
               "score_first", "score_second", "failures", "failures_by_kind", "fallback_share", "nodes_per_move", "ms_per_move",
               "mean_return", "return_low", "return_high", "adjusted", "adjusted_low", "adjusted_high", "superiority",
               ]  # fmt: skip
PUZZLE_KEYS = ["rank", "agent", "attempts", "solved", "solved_low", "solved_high", "mean_moves", "mean_moves_failed", "mean_cost",
               "nodes_per_attempt", "seconds_per_attempt", "failures", "failures_by_kind", "fallback_share",
               "level_with"]  # fmt: skip

BAD = """
from arena import Agent, hookimpl

class Bad(Agent):
    name = "bad"
    def choose(self, game, state, search):
        return None if game.to_move(state) == 0 else 1 / 0

@hookimpl
def arena_agents():
    return [Bad]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    plugin = tmp_path_factory.mktemp("plugin") / "bad.py"
    plugin.write_text(BAD)
    return run(
        {
            "name": "Both kinds",
            "games": ["tic-tac-toe", {"name": "sliding-tiles", "shuffle": 12}],
            "rounds": 6,
            "seed": 3,
            "limits": {"moves": 30},
            "agents": ["random", "greedy", "lookahead", "alpha-beta", "bad"],
            "plugins": [str(plugin)],
        }
    )


def points(value: float) -> float:
    return {1: 1.0, 0: 0.5, -1: 0.0}[(value > 0) - (value < 0)]


def test_a_versus_row_agrees_with_the_records(results: Results) -> None:
    board = Leaderboard.of_results(results)[0]
    for row in board.rows:
        assert list(row) == VERSUS_KEYS
        mine = [(record, seat) for record in results.records for seat in range(2)
                if record.game == "tic-tac-toe" and record.labels[seat] == row["agent"]]  # fmt: skip
        got = [points(record.returns[seat]) for record, seat in mine]
        assert (row["games"], row["wins"], row["draws"], row["losses"]) == (len(mine), got.count(1), got.count(0.5), got.count(0))
        assert row["score"] == pytest.approx(sum(got) / len(got))
        for seat, key in enumerate(("score_first", "score_second")):
            there = [points(record.returns[seat]) for record, found in mine if found == seat]
            assert row[key] == pytest.approx(sum(there) / len(there))
        assert row["mean_return"] == pytest.approx(sum(record.returns[seat] for record, seat in mine) / len(mine))
        used = [decision for record, seat in mine for decision in record.decisions if decision.seat == seat]
        assert row["nodes_per_move"] == pytest.approx(sum(d.nodes for d in used) / len(used))
        assert row["ms_per_move"] == pytest.approx(1000 * sum(d.seconds for d in used) / len(used))
        faults = [record.termination for record, seat in mine if record.seat == seat]
        assert row["failures"] == len(faults)
        assert row["failures_by_kind"] == {kind: faults.count(kind) for kind in set(faults)}
    bad = next(row for row in board.rows if row["agent"] == "bad")
    assert bad["failures_by_kind"] == {"exception": 24, "illegal-action": 24}


def test_the_cross_table_agrees_with_the_records(results: Results) -> None:
    board = Leaderboard.of_results(results)[0]
    labels = [row["agent"] for row in board.rows]
    assert board.cross is not None
    for i, one in enumerate(labels):
        assert board.cross[i][i] is None
        for j, other in enumerate(labels):
            got = [
                points(r.returns[r.labels.index(one)])
                for r in results.records
                if r.game == "tic-tac-toe" and set(r.labels) == {one, other}
            ]
            if i != j:
                assert board.cross[i][j] == pytest.approx(sum(got) / len(got))
                assert (board.cross[i][j] or 0) + (board.cross[j][i] or 0) == pytest.approx(1)


def test_a_puzzle_row_agrees_with_the_records(results: Results) -> None:
    board = Leaderboard.of_results(results)[1]
    assert board.cross is None
    for row in board.rows:
        assert list(row) == PUZZLE_KEYS
        mine = [record for record in results.records if record.game == "sliding-tiles" and record.labels == (row["agent"],)]
        solved = [record for record in mine if record.solved]
        failed = [record for record in mine if not record.solved]
        assert (row["attempts"], row["solved"]) == (6, len(solved) / 6)
        assert row["solved_low"] <= row["solved"] <= row["solved_high"]
        assert row["mean_moves"] == (pytest.approx(sum(r.moves or 0 for r in solved) / len(solved)) if solved else None)
        assert row["mean_moves_failed"] == (pytest.approx(sum(r.moves or 0 for r in failed) / len(failed)) if failed else None)
        assert row["mean_cost"] == row["mean_moves"]
        assert (row["nodes_per_attempt"] or 0) == pytest.approx(sum(d.nodes for r in mine for d in r.decisions) / 6)
        assert row["failures"] == sum(record.termination in ("exception", "illegal-action") for record in mine)
    assert {row["agent"] for row in board.rows} == {"random", "greedy", "lookahead", "bad"}


def test_the_overall_board_has_the_result_of_each_agent_on_each_board(results: Results) -> None:
    boards = Leaderboard.of_results(results)
    text = render(results, boards)
    labels = {label for board in boards for label in board.sheet.labels}
    lines = text[text.index("Both kinds: overall") :].splitlines()
    rows = {(cells := line.replace(" %", "").split())[0]: cells[1:] for line in lines[4 : 4 + len(labels)]}
    assert set(rows) == labels
    for place, (game, kind) in enumerate((("tic-tac-toe", "versus"), ("sliding-tiles", "puzzle"))):
        for agent, cells in rows.items():
            mine = [record for record in results.records if record.game == game and agent in record.labels]
            if kind == "versus":
                values = [points(record.returns[seat]) for record in mine for seat in range(2) if record.labels[seat] == agent]
            else:
                values = [float(record.solved or 0) for record in mine]
            assert cells[place] == (f"{100 * sum(values) / len(values):.1f}" if values else "-")
    assert "Each cell shows the figure that ranks its board: score (tic-tac-toe), solved share (sliding-tiles); with" in text
    assert "`arena compare STORE --across`" in text


def test_json_has_the_figures_of_the_overall_table(results: Results) -> None:
    """The figures are those of the boards, whose rows have them with more digits. An agent has no figure if it does not play."""
    document = json.loads(render(results, Leaderboard.of_results(results), "json"))
    rows = {(board["domain"], row["agent"]): row for board in document["boards"] for row in board["rows"]}
    found = {(one["domain"], agent["agent"]): one for agent in document["overall"] for one in agent["domains"]}
    assert found.keys() == rows.keys()
    assert len(found) < 2 * len(document["overall"]), "one agent plays only one of the games"
    for place, one in found.items():
        expected = [rows[place][key] for key in (one["by"], f"{one['by']}_low", f"{one['by']}_high") if key in rows[place]]
        assert [one["value"], one["low"], one["high"]][: len(expected)] == expected
    sweep = {"game": {"name": "tic-tac-toe", "columns": {"sweep": [3, 4]}}, "agents": ["random", "greedy"], "rounds": 1}
    swept = run(sweep)
    document = json.loads(render(swept, Leaderboard.of_results(swept), "json"))
    domains = [board["domain"] for board in document["boards"]]
    assert domains == ["tic-tac-toe (columns=3)", "tic-tac-toe (columns=4)"]
    assert [[one["domain"] for one in agent["domains"]] for agent in document["overall"]] == [domains] * 2
    alone = run({**sweep, "game": "tic-tac-toe"})
    assert "overall" not in json.loads(render(alone, Leaderboard.of_results(alone), "json"))


@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ({"rank": "returns"}, "mean_return", "mean return"),
        ({"format": "swiss"}, "rank", "place by the rules of the format"),
        ({}, "score", "score"),
    ],
)
def test_the_overall_table_shows_the_measure_that_ranks_each_board(keys: dict[str, Any], key: str, words: str) -> None:
    games = ["pig", "tic-tac-toe"]
    agents = ["random", "greedy", "lookahead", {"agent": "lookahead", "depth": 1, "label": "short"}]
    boards = Leaderboard.of_results(run({"name": "two", "games": games, "agents": agents, "rounds": 3, **keys}))
    table = Leaderboard.overall(boards)
    assert table is not None
    assert f"the figure that ranks its board: {words};" in table.note
    for place, board in enumerate(boards, 1):
        assert board.ranked_by == key
        worth = {row[0]: float(row[place].split()[0]) for row in table.rows}
        ordered = [worth[row["agent"]] for row in board.rows]
        assert ordered == sorted(ordered, reverse=key != "rank")


def test_ratings_have_the_order_of_scores(results: Results) -> None:
    """This holds in a full round-robin. The mean rating is 0, and the superiorities of two agents add up to one."""
    board = Leaderboard.of_results(results)[0]
    ratings = {row["agent"]: row["rating"] for row in board.rows}
    assert sum(ratings[agent] for agent in board.facts.get("zero", ratings)) == pytest.approx(0, abs=1e-6)
    assert list(ratings.values()) == sorted(ratings.values(), reverse=True)
    for row in board.rows:
        assert row["rating_low"] is None or row["rating_low"] < row["rating"]
        assert row["rating_high"] is None or row["rating"] < row["rating_high"]
        for other in board.rows:
            likelihood = row["superiority"].get(other["agent"])
            assert likelihood is None or other["superiority"][row["agent"]] == pytest.approx(1 - likelihood)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_the_winners_of_a_match_share_a_point(seats: int) -> None:
    """The points of each match add up to 1. Each of two winners gets half a point, and each of four that draw gets a quarter."""
    for returns in product((-1.0, 0.0, 1.0), repeat=seats):
        counts = [ResultCount() for _ in returns]
        for seat, count in enumerate(counts):
            count.add(returns[seat], returns[:seat] + returns[seat + 1 :])
        assert sum(count.score or 0 for count in counts) == pytest.approx(1)
        assert [count.score for count in counts] == share_points(returns)
    team = ResultCount()
    team.add(1.0, (1.0, -1.0, -1.0))
    team.add(0.0, (0.0, 0.0, 0.0))
    assert (team.wins, team.draws, team.losses, team.score) == (0, 2, 0, (1 / 2 + 1 / 4) / 2)


def test_an_anchor_has_the_rating_zero() -> None:
    spec = {"game": "tic-tac-toe", "rounds": 6, "agents": ["random", "greedy", "type-a-plus"], "anchor": "random"}
    rows = {row["agent"]: row for row in Leaderboard.of_results(run(spec))[0].rows}
    plain = {row["agent"]: row for row in Leaderboard.of_results(run({**spec, "anchor": None}))[0].rows}
    assert (rows["random"]["rating"], rows["random"]["rating_low"]) == (0, None)
    assert rows["greedy"]["rating"] == pytest.approx(plain["greedy"]["rating"] - plain["random"]["rating"])


def test_agents_without_games_come_last_and_have_no_rank() -> None:
    tally = Tally(BoardInfo("half", {}, "versus", ("idle", "loser", "winner"), 6, exact=True))
    for number, seats in enumerate([(1, 2), (2, 1)]):
        returns = (-1.0, 1.0) if seats == (1, 2) else (1.0, -1.0)
        tally.count(Facts(seats, returns, "normal", None, None))
        tally.add_game(0, seats, returns, number, True, None)
    (board,) = Leaderboard.of_tallies([tally], finished=False)
    assert [(row["agent"], row["rank"], row["rating"] is None) for row in board.rows] == [
        ("winner", 1, False),
        ("loser", 2, False),
        ("idle", None, True),
    ]
    assert [cells[0].split()[0] for cells in board.table().cells] == ["1", "2", "-"]


def test_unknown_ratings_share_the_last_rank() -> None:
    """Two groups never met. The smaller group has scores but no Elo."""
    labels = ("one", "two", "three", "four", "five")
    sheet = BoardInfo("half", {}, "versus", labels, 1000, exact=True, ranked_by="rating", left=())
    tally = Tally(sheet)
    for round_ in range(20):
        for (first, second), wins in (((0, 1), 8), ((1, 2), 8), ((3, 4), 5)):
            for seats in ((first, second), (second, first)):
                got = 1.0 if (round_ % 10 < wins) == (seats[0] == first) else -1.0
                tally.count(Facts(seats, (got, -got), "normal", None, None))
                tally.add_game(round_, seats, (got, -got), round_, True, None)
    (board,) = Leaderboard.of_tallies([tally], finished=False)
    assert [(row["agent"], row["rank"], row["rating"] is None) for row in board.rows] == [
        ("one", 1, False),
        ("two", 2, False),
        ("three", 3, False),
        ("four", 4, True),
        ("five", 4, True),
    ]


def test_a_single_game_of_three_agents_gives_no_ratings() -> None:
    tally = Tally(BoardInfo("hearts", {}, "versus", ("last", "second", "first"), 1, exact=True, has_chance=True))
    tally.count(Facts((0, 1, 2), (-3.0, 0.0, 3.0), "normal", None, None))
    tally.add_game(0, (0, 1, 2), (-3.0, 0.0, 3.0), 1, True, None)
    (board,) = Leaderboard.of_tallies([tally], finished=True)
    assert (board.rows[0]["agent"], board.ranked_by) == ("first", "score")
    assert [row["rating"] for row in board.rows] == [None] * 3


def test_results_with_one_distinct_pair_have_no_interval() -> None:
    """Two deterministic agents play twenty rounds. With random openings, there are several distinct pairs."""
    spec = {"game": "tic-tac-toe", "rounds": 20, "agents": ["alpha-beta", "type-a-plus"]}
    board = Leaderboard.of_results(results := run(spec))[0]
    assert {(row["rating_low"], row["rating_high"]) for row in board.rows} == {(None, None)}
    assert (board.games, board.distinct_games) == (40, 2)
    assert "40 games, 2 different" in render(results, [board])
    assert "openings: {plies: 4}" in render(results, [board])
    opened = Leaderboard.of_results(run({**spec, "openings": {"plies": 3}}))[0]
    assert any(row["rating_low"] is not None for row in opened.rows)


def test_columns_and_the_sort_order_of_a_board_can_be_chosen() -> None:
    spec = {"game": "tic-tac-toe", "rounds": 2, "agents": ["random", "greedy", "type-a-plus"]}
    results = run({**spec, "columns": ["agent", "rank", "nodes_per_move"], "sort": "-nodes_per_move"})
    lines = render(results, Leaderboard.of_results(results)).splitlines()[2:7]
    assert lines[0].split() == ["Agent", "Rank", "Generated/move"]
    assert [line.split()[0] for line in lines[2:]] == ["type-a-plus", "greedy", "random"]


@pytest.mark.parametrize(("has_chance", "distinct"), [(False, 1), (True, 4)])
def test_no_match_is_a_repeat_in_a_game_with_chance(has_chance: bool, distinct: int) -> None:
    """Each round has its own dice, even if a match ends before they are rolled."""
    tally = Tally(BoardInfo("dice", {}, "versus", ("one", "two"), 4, exact=True, has_chance=has_chance))
    record = play("tic-tac-toe", ["random", "random"])
    count_one_by_one(tally, [(round_, Pairing(round_, (0, 1)), record) for round_ in range(4)])
    assert tally.distinct_games == distinct
    (board,) = Leaderboard.of_tallies([tally], finished=False)
    assert board.as_dict()["distinct_games"] == distinct


def test_json_has_the_documented_keys_and_no_nan(results: Results) -> None:
    text = render(results, Leaderboard.of_results(results), "json")

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    document = json.loads(text, parse_constant=refuse)
    assert list(document) == ["name", "seed", "boards", "overall"]
    assert (document["name"], document["seed"]) == ("Both kinds", 3)
    versus, puzzle = document["boards"]
    assert list(versus) == ["domain", "game", "kind", "distinct_games", "cross", "rows", "zero", "unrated"]
    assert list(puzzle) == ["domain", "game", "kind", "distinct_games", "cross", "rows"]
    assert versus["game"] == {"name": "tic-tac-toe", "rows": 3, "columns": 3, "in_a_row": 3}
    assert puzzle["game"] == {"name": "sliding-tiles", "rows": 3, "columns": 3, "shuffle": 12, "goal": "blank-last"}
    assert (versus["kind"], puzzle["kind"]) == ("versus", "puzzle")
    assert len(versus["cross"]) == 5


def test_csv_has_a_table_for_each_board(results: Results) -> None:
    blocks = render(results, Leaderboard.of_results(results), "csv").split("\n\n")
    assert len(blocks) == 2
    for block, keys, title in zip(blocks, (VERSUS_KEYS, PUZZLE_KEYS), ("tic-tac-toe", "sliding-tiles"), strict=True):
        rows = list(csv.DictReader(io.StringIO(block)))
        assert list(rows[0]) == ["board", *[key for key in keys if key != "superiority"]]
        assert {row["board"] for row in rows} == {title}


def test_every_format_of_tabulate_shows_every_agent(results: Results) -> None:
    boards = Leaderboard.of_results(results)
    for style in tabulate_formats:
        text = render(results, boards, style)
        assert all(label in text for label in ("random", "greedy", "lookahead", "alpha")), style


def test_failures_are_listed_with_the_first_match_of_each_kind(results: Results) -> None:
    text = render(results, Leaderboard.of_results(results))
    assert "bad failed 24 times by exception, first in match " in text
    assert "ZeroDivisionError: division by zero (" in text
    assert "bad.py:7)" in text


TWICE = ["alpha-beta", {"agent": "type-a-plus"}]
NEED_THREE = "No intervals: they need three rounds; set `rounds` or list more `positions` in the spec."


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        ({"game": "tic-tac-toe", "rounds": 1, "agents": TWICE}, NEED_THREE),
        ({"game": "tic-tac-toe", "rounds": 2, "agents": TWICE}, NEED_THREE),
        ({"game": {"name": "pig", "target": 10}, "rounds": 1, "agents": ["random", "hold-at"]}, NEED_THREE),
        ({"game": "tic-tac-toe", "rounds": 3, "agents": TWICE}, "try openings: {plies: 4} in the spec."),
        ({"game": "tic-tac-toe", "agents": TWICE, "positions": [".../.../...", "x../.o./..."]}, NEED_THREE),
        ({"game": {"name": "pig", "target": 10}, "rounds": 3, "agents": ["random", "hold-at"]}, None),
    ],
)
def test_advice_on_intervals_depends_on_the_spec(spec: dict[str, Any], advice: str | None) -> None:
    (board,) = Leaderboard.of_results(run(spec))
    said = [remark for remark in board.remarks if "No intervals" in remark or "openings" in remark]
    assert len(said) == (advice is not None)
    assert advice is None or advice in said[0]


def test_a_board_gives_no_advice_on_rounds_during_a_run() -> None:
    results = run({"game": "tic-tac-toe", "rounds": 30, "agents": ["random", "greedy"]})
    tally = Tally(BoardInfo.of(results.spec.boards[0]))
    count_one_by_one(tally, [(one.number, one.pairing, one.record) for one in results.played[:2]])
    remarks = Leaderboard.of(tally, finished=False).remarks
    assert "The run is not finished: 58 of 60 matches are missing." in remarks
    assert "No intervals yet: they need three rounds." in " ".join(remarks)
    assert not any("in the spec" in remark for remark in remarks)


@pytest.mark.parametrize(
    ("partners", "ended", "cause"),
    [
        (2, True, "No intervals: games of some pairs are missing, because they are void or in another shard."),
        (2, False, "No intervals yet: games of some pairs are missing."),
        (3, True, None),
    ],
)
def test_a_remark_reports_games_whose_partner_with_swapped_seats_is_missing(
    partners: int, ended: bool, cause: str | None
) -> None:
    tally = Tally(BoardInfo("half", {}, "versus", ("one", "two"), 16, exact=True))
    for round_ in range(8):
        for seats in ((0, 1), (1, 0)):
            returns = (1.0, -1.0) if (round_ % 2 == 0) == (seats == (0, 1)) else (-1.0, 1.0)
            missing = seats == (1, 0) and round_ >= partners
            tally.count(Facts(seats, returns, "void" if missing and ended else "normal", None, None, int(ended or not missing)))
            if not missing:
                tally.add_game(round_, seats, returns, round_, True, None)
    remarks = " ".join(Leaderboard.of(tally, finished=ended).remarks)
    if cause is None:
        assert "No intervals" not in remarks
    else:
        assert cause in remarks
        assert "(games of some pairs are missing)." in remarks
        assert "too few" not in remarks


def test_a_board_without_games_does_not_mention_repeated_games() -> None:
    results = run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]})
    board = Leaderboard.of(Tally(BoardInfo.of(results.spec.boards[0])), finished=False)
    assert board.remarks[0] == "0 games."


@pytest.mark.parametrize(("games", "first", "second"), [
    ([((0, 1), 1.0)], 1.0, None),
    ([((1, 0), 1.0)], None, 0.0),
    ([((1, 0), 0.0), ((2, 0), -1.0)], None, 0.75),
    ([((0, 1), -1.0), ((0, 2), 0.0), ((1, 0), -1.0)], 0.25, 1.0),
])  # fmt: skip
def test_the_score_of_a_seat_is_missing_without_a_game_in_this_seat(
    games: list[tuple[tuple[int, int], float]], first: float | None, second: float | None
) -> None:
    """The scores of entry 0 are counted by hand. The number is the return of the first seat."""
    tally = Tally(BoardInfo("half", {}, "versus", ("zero", "one", "two"), 6, exact=True))
    for number, (seats, won) in enumerate(games):
        tally.count(Facts(seats, (won, -won), "normal", None, None))
        tally.add_game(0, seats, (won, -won), number, True, None)
    (board,) = Leaderboard.of_tallies([tally], finished=False)
    row = next(row for row in board.rows if row["agent"] == "zero")
    assert (row["score_first"], row["score_second"]) == (first, second)


def test_a_knockout_with_too_few_rounds_is_reported() -> None:
    twins = [{"agent": "random", "label": f"r{number}"} for number in range(5)]
    spec = {"game": "tic-tac-toe", "format": {"name": "knockout", "replays": 1}, "rounds": 2, "openings": {"plies": 2}, "seed": 3}
    (board,) = Leaderboard.of_results(run({**spec, "agents": ["random", "greedy", "minimax", *twins], "limits": {"nodes": 200}}))
    names = [row["agent"] for row in board.rows]
    assert board.cross is not None
    reached = {
        (one, other) for one, row in zip(names, board.cross, strict=True) for other, got in zip(names, row, strict=True) if got
    }
    for middle in names:
        reached |= {(one, other) for one in names for other in names if {(one, middle), (middle, other)} <= reached}
    tiers = [{other for other in names if {(one, other), (other, one)} <= reached} for one in names]
    assert set(board.facts["zero"]) == max(tiers, key=len)
    assert board.zero.startswith("the mean of r")
    assert "No intervals: each agent has played too few rounds; set more `rounds` in the spec." in " ".join(board.remarks)
