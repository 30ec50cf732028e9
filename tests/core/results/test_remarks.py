"""Remarks and marks of boards."""

import random
import re
from collections import Counter
from itertools import permutations
from math import log
from types import SimpleNamespace

import pytest

import arena
from arena.results.cells import board_table
from arena.results.leaderboard import Leaderboard
from arena.results.tally import Facts, Tally
from arena.schedule.board_info import BoardInfo
from arena.spec import load_spec


def test_a_remark_reports_that_most_pairs_are_decided_by_the_starting_position() -> None:
    """Two agents are equal and deterministic, so the same seat wins both games of each pair."""
    alike = [{"agent": "alpha-beta", "depth": 1, "label": name} for name in ("one", "two")]
    spec = {"game": {"name": "connect-four", "columns": 5, "rows": 4}, "openings": {"plies": 4}, "rounds": 20, "agents": alike}
    results = arena.run(spec)
    [board] = Leaderboard.of_results(results)
    won = Counter((pairing.round, record.returns) for _, _, pairing, record in results.played)
    decided = sum(count == 2 and returns != (0.0, 0.0) for (_, returns), count in won.items())
    pairs = len({(record.position, tuple(record.actions)) for *_, record in results.played})
    said = [remark for remark in board.remarks if "the same seat won both" in remark]
    assert decided >= 0.8 * pairs >= 8
    assert len(said) == 1
    few = {**spec, "rounds": 5}
    [plain] = Leaderboard.of_results(arena.run(few))
    assert not any("the same seat won both" in remark for remark in plain.remarks)


def test_a_cycle_of_agents_that_beat_each_other_is_reported_with_its_scores() -> None:
    """Each of three agents wins three quarters of its games against the next one."""
    tally = Tally(BoardInfo("circle", {}, "versus", ("rock", "paper", "scissors"), 240, exact=True))
    rng = random.Random(2)
    for number in range(40):
        for one, two in permutations(range(3), 2):
            better = (one - two) % 3 == 1
            won = 1.0 if rng.random() < (0.75 if better else 0.25) else -1.0
            tally.count(Facts((one, two), (won, -won), "normal", None, None))
            tally.add_game(number, (one, two), (won, -won), rng.randrange(10**9), True, None)
    [board] = Leaderboard.of_tallies([tally], finished=True)
    assert [set(circle) for circle in board.facts["cycles"]] == [{"rock", "paper", "scissors"}]
    [said] = [remark for remark in board.remarks if "a cycle that is unlikely to be due to chance" in remark]
    scores = [int(share) for share in re.findall(r"\((\d+) %\)", said)]
    assert len(scores) == 3
    assert all(65 <= share <= 85 for share in scores)


@pytest.mark.parametrize(("scored", "said"), [(19, False), (18, True)])
def test_a_remark_names_agents_with_more_than_one_void_match_in_20(scored: int, said: bool) -> None:
    """Void matches count among the 20: one of 20 is not more, and one of 19 is."""
    tally = Tally(BoardInfo("duo", {}, "versus", ("one", "two"), 20, exact=True))
    tally.count(Facts((0, 1), (1.0, -1.0), "normal", None, None, scored))
    tally.count(Facts((0, 1), (0.0, 0.0), "void", None, None, 1))
    remark = f"More than one match in 20 is void: one 1 of {scored + 1}, two 1 of {scored + 1}."
    assert any(text.startswith(remark) for text in tally.describe()) == said
    assert any("in 20 is void" in text for text in tally.describe()) == said


@pytest.mark.parametrize(("players", "said"), [(2, "and two agents swap seats."), (3, "plays in several orders of seats.")])
def test_the_explanation_of_intervals_fits_the_number_of_seats(players: int, said: str) -> None:
    tally = Tally(BoardInfo("trio", {}, "versus", ("one", "two", "three"), 240, exact=True))
    rng = random.Random(1)
    for number in range(40):
        for seats in permutations(range(3), players):
            returns = tuple(rng.sample([float(place) for place in range(players)], players))
            tally.count(Facts(seats, returns, "normal", None, None))
            tally.add_game(number, seats, returns, rng.randrange(10**9), True, None)
    [board] = Leaderboard.of_tallies([tally], finished=True)
    [text] = [one for one in board.explanations if "computed from rounds" in one]
    assert text.endswith(said)


@pytest.mark.parametrize(
    ("players", "lead", "counted"),
    [
        (2, "91 % of the points", "Elo and score count only wins and draws."),
        (
            3,
            "finishing ahead of the other agent in 91 % of the games",
            "Elo rates the order in which agents finish, and score counts only wins and draws.",
        ),
    ],
)
def test_a_board_explains_what_its_ratings_mean(players: int, lead: str, counted: str) -> None:
    """By the model of Plackett, a lead is about the order of two agents, and only the winner of a match has points."""
    tally = Tally(BoardInfo("trio", {}, "versus", ("one", "two", "three"), 240, exact=True, ranked_by="returns"))
    rng = random.Random(1)
    for number in range(60):
        for seats in permutations(range(3), players):
            strengths = {entry: rng.gauss((2, 1, 0)[entry]) for entry in seats}
            returns = tuple([float(sorted(strengths.values()).index(strengths[entry])) for entry in seats])
            tally.count(Facts(seats, returns, "normal", None, None))
            tally.add_game(number, seats, returns, rng.randrange(10**9), True, None)
    [board] = Leaderboard.of_tallies([tally], finished=True)
    [said] = [remark for remark in board.remarks if "a lead of 400" in remark]
    assert said == f"Ranked by mean return; {counted} Elo 0 is the mean of all agents; a lead of 400 means {lead}."


@pytest.mark.parametrize(
    ("returns", "cross", "caption"),
    [
        ((1.0, -1.0), [[None, 1.0], [0.0, None]], "Score of each row against each column"),
        (
            (3.0, 2.0, 2.0),
            [[None, 1.0, 1.0], [0.0, None, 0.5], [0.0, 0.5, None]],
            "How often each row finishes ahead of each column (ties count half)",
        ),
    ],
)
def test_the_cross_table_says_what_its_numbers_are(
    returns: tuple[float, ...], cross: list[list[float | None]], caption: str
) -> None:
    """One of three seats has the only point, but the cross-table compares the other two as well."""
    seats = tuple(range(len(returns)))
    tally = Tally(BoardInfo("trio", {}, "versus", ("one", "two", "three")[: len(returns)], 1, exact=True))
    tally.count(Facts(seats, returns, "normal", None, None))
    tally.add_game(0, seats, returns, 1, True, None)
    [board] = Leaderboard.of_tallies([tally], finished=True)
    assert board.as_dict()["cross"] == cross
    assert caption in Leaderboard.render(SimpleNamespace(name="cup", seed=0, commitment=None), [board]).split("\n")


def test_void_matches_mention_a_server_only_if_it_did_not_answer() -> None:
    tally = Tally(BoardInfo("broken", {}, "versus", ("one", "two"), 2, exact=True))
    for seats in ((0, 1), (1, 0)):
        tally.count(Facts(seats, (0.0, 0.0), "void", None, None))
    assert next(tally.describe()) == "2 matches are void and not scored, because the game or arena failed."


@pytest.mark.parametrize(("game", "moves"), [("tic-tac-toe", 7), ("tic-tac-toe", 9), ("2048", 120), ("sliding-tiles", 3)])
def test_a_remark_counts_the_matches_that_ended_at_the_move_limit(game: str, moves: int) -> None:
    agents = ["random", {"agent": "random", "label": "other"}]
    results = arena.run({"game": game, "rounds": 8, "agents": agents, "limits": {"moves": moves}})
    [board] = Leaderboard.of_results(results)
    stopped = [record.termination for *_, record in results.played].count("move-limit")
    assert (0 < stopped < 16) is ((game, moves) in {("tic-tac-toe", 7), ("2048", 120)})
    said = [remark for remark in board.remarks if "move limit" in remark]
    assert said == ([f"{stopped} of 16 matches ended at the move limit."] if stopped and game != "sliding-tiles" else [])


def test_hidden_ratings_are_listed_in_json() -> None:
    [board] = Leaderboard.of_results(arena.run({"game": "connect-four", "agents": ["random", "greedy"], "rounds": 2}))
    assert board.as_dict()["unrated"] == ["random", "greedy"]


def test_openings_are_suggested_only_if_none_are_set() -> None:
    agents = [{"agent": "alpha-beta", "label": name} for name in ("one", "two")]
    small = {"game": {"name": "connect-four", "columns": 1, "rows": 3, "in_a_row": 3}, "agents": agents, "rounds": 3}
    [plain] = Leaderboard.of_results(arena.run(small))
    assert any("try openings" in remark for remark in plain.remarks)
    [opened] = Leaderboard.of_results(arena.run({**small, "openings": {"plies": 1}}))
    assert not any("try openings" in remark for remark in opened.remarks)
    assert any("use more plies or positions" in remark for remark in opened.remarks)


@pytest.mark.process
def test_times_that_include_communication_with_a_process_are_marked() -> None:
    mixed = ["random", {"agent": "random", "label": "apart", "isolation": "process"}]
    said = "* : the times of this agent include communication with another process."
    [board] = Leaderboard.of_results(arena.run({"game": "tic-tac-toe", "agents": mixed, "rounds": 1}))
    assert said in board.remarks
    shown = board_table(board)
    marks = {cells[1]: cells[shown.headings.index("ms/move")].partition(" ")[2] for cells in shown.cells}
    assert marks == {"random": "", "apart": "*"}
    [alike] = Leaderboard.of_results(arena.run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 1}))
    assert said not in alike.remarks
    assert "*" not in str(board_table(alike).cells)


def test_the_mark_of_times_is_explained_only_if_a_time_has_it() -> None:
    tally = Tally(BoardInfo("a board", {}, "puzzle", ("near", "apart"), 2, exact=True, apart=("apart",)))
    for entry, played in enumerate(["near", "near and apart"]):
        tally.count(Facts((entry,), (1.0,), "normal", None, True))
        tally.attempts[entry].add(0, solved=True, moves=1, cost=None, nodes=1, seconds=0.01)
        board = Leaderboard.of(tally, finished=True)
        assert any(remark.startswith("* : ") for remark in board.remarks) == (played == "near and apart")
        assert ("*" in str(board_table(board).cells)) == (played == "near and apart")


def test_a_board_reports_how_much_leads_deviate_from_the_ratings() -> None:
    """One of twelve equal agents wins 90 % against half of the others and 10 % against the rest."""
    rng = random.Random(1)
    tally = Tally(BoardInfo("equals", {}, "versus", ("odd", *[f"agent {number}" for number in range(1, 12)]), 2640, exact=True))
    for number in range(20):
        for one, two in permutations(range(12), 2):
            odd, other = min(one, two), max(one, two)
            share = 0.5 if odd else 0.9 if (other % 2) == (one == odd) else 0.1
            won = 1.0 if rng.random() < share else -1.0
            tally.count(Facts((one, two), (won, -won), "normal", None, None))
            tally.add_game(number, (one, two), (won, -won), rng.randrange(10**9), True, None)
    [board] = Leaderboard.of_tallies([tally], finished=True)
    spread = board.facts["pairing_spread"]
    deviation = 0.4 * 4 * 400 / log(10)  # 40 % more points than expected, at the slope of equals
    assert spread == pytest.approx(deviation * (11 / 66) ** 0.5, rel=0.2)
    words = f"than their ratings predict: by {spread:.0f} Elo (standard deviation), which is more than chance explains."
    assert any(words in line for line in board.explanations)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ([{"nodes": 20_000}, {"nodes": 500}, {"nodes": 500}], "one 20,000 nodes; two and three 500 nodes"),
        (
            [{"depth": 2, "nodes": 9}, {"cpu_seconds": 0.5}, {}],
            "one 9 nodes and depth 2; two 0.5 seconds of processor time; three no limit",
        ),
        ([{"memory_mb": 512}, {}, {}], "one 512 MiB of memory; two and three no limit"),
        ([{"nodes": 500}] * 3, None),
    ],
)
def test_a_remark_says_that_limits_differ(limits: list[dict[str, float]], said: str | None) -> None:
    """The spec has the remark as a note, for `arena validate`."""
    agents = [
        {"agent": "random", "label": label, "limits": own} for label, own in zip(("one", "two", "three"), limits, strict=True)
    ]
    spec = load_spec({"game": "tic-tac-toe", "agents": agents, "isolation": "process"})
    found = [
        [one for one in remarks if one.startswith("Limits differ")]
        for remarks in (spec.notes, Tally(BoardInfo.of(spec.boards[0])).describe())
    ]
    assert found == [[] if said is None else [f"Limits differ: {said}. A difference may come from the limits."]] * 2
