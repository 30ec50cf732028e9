"""`arena try`: a few seconds to a small leaderboard, for all that a file can bring."""

import re
import subprocess
import textwrap
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scipy.stats import binomtest  # type: ignore[import-untyped]

import arena
from arena.format import Pairing
from arena.match.record import Decision
from arena.results.leaderboard import Leaderboard
from arena.schedule.board_info import BoardInfo
from arena.spec import load_spec
from arena.stats.observations import Pair, WinDrawLoss
from arena.tournament.results import PlayedMatch
from arena_check import try_
from arena_check.trial_board import ROUNDS, Tried, _describe_enough, _describe_slowness, against_each, place
from tests.extensions.check.conftest import Inside

Called = subprocess.CompletedProcess[str]


STRONG = """
from arena import Agent, hookimpl

class Strong(Agent):
    \"\"\"Wins at once, or keeps the other from it, or takes what comes.\"\"\"

    name = "strong"
    needs = frozenset({"two-player"})

    def choose(self, game, state, search):
        seat = game.to_move(state)
        legal = list(game.actions(state))
        for mover in (seat, 1 - seat):
            for action in game.threats(state, mover):
                if action in legal:
                    return action
        return search.rng.choice(legal)

@hookimpl
def arena_agents():
    return [Strong]
"""
GAMES = ["tic-tac-toe", "connect-four", "othello"]
RARE = """
import arena


class Rare(arena.Agent):
    "Fails in a position that few matches reach."
    name = "rare"

    def choose(self, game, state, search):
        text = game.format_state(state)
        if text.count(".") == 1 and text[0] == "o":
            raise ValueError("no idea")
        return search.rng.choice(game.actions(state))


@arena.hookimpl
def arena_agents(): return [Rare]
"""
BROKEN = STRONG.replace("return search.rng.choice(legal)", "return legal[len(legal)]")


def test_an_agent_is_checked_rated_and_ranked(tmp_path: Path, called: Callable[..., Called]) -> None:
    """The agent plays every game that it can play, against the built-in agents that can play it. A strong agent beats the
    random player.
    """
    (tmp_path / "strong.py").write_text(STRONG)
    ended = called("arena", "try", "strong.py")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("agent strong: ok\n")
    standings = re.findall(r"^strong at (\S+): place (\d) of (\d)(?:, shared)?; it (.*)$", ended.stdout, re.MULTILINE)
    assert [game for game, *_ in standings] in (GAMES[:2], GAMES)  # as far as time allows
    assert "Rank" not in ended.stdout
    assert "random (" in standings[0][3].split(";")[0]
    assert "is better than" in standings[0][3]
    assert not list(tmp_path.glob("*.db"))
    assert "arena check strong.py --watch" in ended.stdout
    assert "matches are missing" not in ended.stdout  # a try stops on purpose


@pytest.mark.process
def test_an_agent_plays_only_the_requested_game(tmp_path: Path, inside: Inside) -> None:
    """A single game needs only one line. A game that does not fit is refused."""
    (tmp_path / "strong.py").write_text(STRONG)
    ended = inside("try", "strong.py", "--game", "tic-tac-toe")
    assert ended.returncode == 0, ended.stderr
    assert re.findall(r"^strong at (\S+): place", ended.stdout, re.MULTILINE) == ["tic-tac-toe"]
    refused = inside("try", "strong.py", "--game", "sudoku")
    assert refused.returncode == 2
    assert "--game sudoku: strong cannot play sudoku: needs two-player" in refused.stderr


OWN = """
import time
from arena import Agent, Game, heuristic, hookimpl

class Take(Game):
    \"\"\"Take one or two; the last one wins.\"\"\"

    name, players = "take", 2

    def initial(self, rng):
        return (9, 0)

    def to_move(self, state):
        return state[1]

    def actions(self, state):
        return [number for number in (1, 2) if number <= state[0]]

    def result(self, state, action):
        return (state[0] - action, 1 - state[1])

    def is_terminal(self, state):
        return state[0] == 0

    def returns(self, state):
        return (-1.0, 1.0) if state[1] == 0 else (1.0, -1.0)

@heuristic("odd", game="take")
def odd(game, state, player=0):
    return 0.0

class Own(Agent):
    name = "own"

    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_games():
    return [Take]

@hookimpl
def arena_heuristics():
    return [odd]

@hookimpl
def arena_agents():
    return [Own]
"""


@pytest.mark.process
def test_an_agent_is_tried_first_and_only_at_the_game_of_its_file(tmp_path: Path, inside: Inside) -> None:
    """The game and the heuristic share the time with it, and `next` ends the output."""
    (tmp_path / "own.py").write_text(OWN)
    said = inside("try", "own.py").stdout
    assert re.findall(r"^own at (\S+): place", said, re.MULTILINE) == ["take"]
    assert said.index("\nown at take") < said.index("\ntake is two-player") < said.index("greedy with odd")
    assert said.index("greedy with odd") < said.index("\nnext: ")


@pytest.mark.process
def test_a_failed_check_is_given_as_the_reason_why_nothing_is_played(tmp_path: Path, inside: Inside) -> None:
    (tmp_path / "own.py").write_text(OWN.replace("return 0.0", "return 7.0"))
    ended = inside("try", "own.py")
    assert ended.returncode == 1
    assert ended.stdout.endswith("\n\nnothing was played, because these failed: heuristic take odd\n")
    (tmp_path / "broken.py").write_text(OWN.replace("choose(self, game, state, search)", "choose(self)"))
    ended = inside("try", "broken.py")
    assert ended.returncode == 2
    assert ended.stdout.endswith("\n\nnothing was played, because a part cannot be loaded\n")


@pytest.mark.process
@pytest.mark.parametrize("details", [[], ["--details"]], ids=["short", "details"])
def test_a_remark_about_the_time_is_printed_below_its_leaderboard(details: list[str], tmp_path: Path, inside: Inside) -> None:
    slow = OWN.replace("return game.actions(state)[0]", "time.sleep(0.02); return game.actions(state)[0]")
    (tmp_path / "own.py").write_text(slow)
    said = inside("try", "own.py", "--game", "take", "--seconds", "0.01", *details).stdout
    heading = "own.py: take" if details else "own at take: "
    assert said.index(heading) < said.index("There was enough time for ")


def tried(scores: list[float | None], games: int, pairs: dict[str, list[Pair]], *level: str) -> Tried:
    """A board of three with a first row of scores, the pairs of games of its first agent, and the agents level with it."""
    common = {"games": 2 * games, "level_with": [*level], "superiority": {}}
    rows = tuple([{"agent": name, "rank": rank, **common} for rank, name in enumerate("abc", 1)])
    told: dict[str, Any] = {field.name: None for field in fields(Leaderboard)}
    sheet = BoardInfo.of(load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"]}).boards[0])
    board = Leaderboard(**{**told, "sheet": sheet, "rows": rows, "cross": (tuple(scores), (), ())})
    return Tried(board, {("a", other): found for other, found in pairs.items()}, games)


def test_a_slow_agent_is_reported_as_the_reason_for_few_games() -> None:
    """Its decisions take three seconds instead of a millisecond. It makes three of the five moves of a game."""
    decisions = tuple([Decision(seat, 0, 0, (3.0, 0.001)[seat], None, None) for seat in (0, 1, 0, 1, 0)])
    record = arena.play("tic-tac-toe", ["random", "random"])._replace(labels=("slow", "random"), decisions=decisions)
    played = [PlayedMatch(0, 0, Pairing(0, (0, 1)), record)]
    assert _describe_slowness("slow", played) == ", because slow took 3.00 s for a decision"
    assert _describe_slowness("random", played) is None


def test_the_output_suggests_the_time_that_a_whole_round_needs() -> None:
    """With three entries, a round of six matches has four of each entry: 4 * 7 s, and half as much again, are 42 s."""
    spec = load_spec({"game": "tic-tac-toe", "rounds": ROUNDS, "agents": ["random", "greedy", "minimax"]})
    record = arena.play("tic-tac-toe", ["random", "greedy"])
    played = [PlayedMatch(0, 0, Pairing(0, (0, 1)), record)]
    told = _describe_enough(spec.boards[0], played, "random", 7.0)
    assert told == "--game tic-tac-toe --seconds 42 is probably enough for a round"
    assert _describe_enough(spec.boards[0], played, "random", 701.0).endswith("--seconds 4300 is probably enough for a round")
    assert _describe_enough(spec.boards[0], played * 6, "random", 7.0) == "--seconds S gives more time"


@pytest.mark.process
def test_too_little_time_gives_no_rank(tmp_path: Path, inside: Inside) -> None:
    """No round is finished within a millisecond, and a rank from one game would be meaningless."""
    (tmp_path / "strong.py").write_text(STRONG)
    few = inside("try", "strong.py", "--game", "tic-tac-toe", "--seconds", "0.001").stdout
    assert "strong at tic-tac-toe: not ranked, because there was not enough time for a round" in few
    assert "--seconds S plays more games" in few


@pytest.mark.process
def test_the_tried_agent_plays_in_the_first_match(tmp_path: Path, inside: Inside) -> None:
    """In a round-robin of three entries, the first one would not play in the first matches."""
    inside("new", "heuristic", "mine", "--game", "connect-four")
    rows = inside("try", "mine.py", "--seconds", "0.001", "--details").stdout.splitlines()
    (own,) = [row for row in rows if re.match(r"\S+( ~)? +lookahead with mine ", row)]
    assert re.search(r" {2,}1 {4}[01] {4}[01] {4}[01] ", own), own


@pytest.mark.process
def test_nothing_is_said_about_the_results_of_an_agent_that_has_not_played(tmp_path: Path, inside: Inside) -> None:
    """There is time for one attempt. With this seed, another agent plays it."""
    inside("new", "agent", "mine", "--game", "sliding-tiles")
    ended = inside("try", "mine.py", "--game", "sliding-tiles", "--seconds", "0.000001", "--seed", "1")
    assert re.search(r"^mine at \S+: not ranked, because there was not enough time for a round\.$", ended.stdout, re.MULTILINE)
    assert "of 0" not in ended.stdout


@pytest.mark.parametrize(("kind", "match"), [("versus", "games"), ("puzzle", "attempts"), ("score", "attempts")])
def test_heuristics_are_not_compared_without_matches(kind: str, match: str) -> None:
    names = ["near", "far", "none"]
    told: dict[str, Any] = {field.name: None for field in fields(Leaderboard)}
    sheet = BoardInfo("try", {}, kind, ("a with near", "a with far", "a with none"), 4, exact=True)  # type: ignore[arg-type]
    rows = [{"agent": label, match: 2 * number, "solved": None, "mean_return": None} for number, label in enumerate(sheet.labels)]
    board = Leaderboard(**{**told, "sheet": sheet, "rows": rows, "cross": ((None, None, 0.5),) * 3 if kind == "versus" else None})
    said = "There was not enough time to compare a with near to a with "
    assert try_._describe_effect(board, "a", names) == said + {"versus": "far.", "puzzle": "near.", "score": "near."}[kind]


@pytest.mark.parametrize(
    ("failures", "said"), [(3, "not ranked, because it failed in 3 of 8 games"), (0, "place 1 of 2, shared")]
)
def test_an_agent_that_fails_has_no_rank(failures: int, said: str) -> None:
    """This holds even if it has as many points as another agent, because a rank would suggest that it can play."""
    rows = ({"agent": "a", "rank": 1, "games": 8, "failures": failures}, {"agent": "b", "rank": 1, "games": 8, "failures": 0})
    board = tried([], 4, {}).board
    assert place(replace(board, rows=rows), "a") == said
    assert place(replace(board, rows=rows), "b") == "place 1 of 2, shared"


def test_agents_that_have_not_played_are_not_ranked_or_counted() -> None:
    rows = tuple(
        [{"agent": name, "rank": rank, "games": games} for name, rank, games in (("a", 1, 8), ("b", 2, 8), ("c", None, 0))]
    )
    board = replace(tried([], 4, {}).board, rows=rows)
    assert place(board, "b") == "place 2 of 2"
    assert place(board, "c") == "not ranked, because it has not played"


def test_one_game_against_each_opponent_gives_no_scores() -> None:
    """The first round was not finished."""
    board = tried([None, 0.0, 1.0], 1, {"b": [Pair.of(0, 1)], "c": []})
    assert against_each(board, "a") == "has played too few games for scores"


WON, LOST = Pair.of(1, 0), Pair.of(0, 1)
RATED = ", and ratings from the games of all agents decide"


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (
            1,
            (
                "has played too few different games for a verdict against b (0 %) and c (100 %); "
                "the percentages are its scores in 1 pair of games against each agent"
            ),
        ),
        (
            5,
            (
                "has played too few different games for a verdict against b (0 %) and c (100 %); "
                "the percentages are its scores in 5 pairs of games against each agent"
            ),
        ),
        (
            6,
            (
                "is better than c (100 %); is worse than b (0 %); "
                f"the percentages are its scores in 6 pairs of games against each agent{RATED}"
            ),
        ),
    ],
)
def test_too_few_pairs_give_no_verdict(pairs: int, said: str) -> None:
    """One of two equal agents wins all n pairs with probability 2 / 2 ** n, which is below 5 % only for six or more pairs."""
    assert (binomtest(pairs, pairs).pvalue < 0.05) == (pairs >= 6)
    assert against_each(tried([None, 0.0, 1.0], 2 * pairs, {"b": [LOST] * pairs, "c": [WON] * pairs}), "a") == said


def test_games_are_counted_for_each_opponent() -> None:
    """The time ended before the first game against c. The 16 games against b are 8 pairs."""
    said = against_each(tried([None, 0.0, None], 8, {"b": [LOST] * 8}), "a")
    assert said == f"is worse than b (0 %); the percentages are its scores in 8 pairs of games against each agent{RATED}"


def test_the_sentence_about_the_agent_agrees_with_the_leaderboard() -> None:
    """The leaderboard corrects its tests for all pairs of agents, so the sentence uses its results."""
    pairs = {"b": [WON] * 17 + [LOST] * 3, "c": [WON] * 17 + [LOST] * 3}
    said = against_each(tried([None, 0.85, 0.85], 40, pairs, "b"), "a")
    judged = "is better than c (85 %); has played too few different games for a verdict against b (85 %)"
    assert said == f"{judged}; the percentages are its scores in 20 pairs of games against each agent{RATED}"


def test_more_games_are_suggested_if_only_the_correction_prevents_a_verdict() -> None:
    """For 8 lost pairs, the p-value is 2 / 2 ** 8, and 30 times this after Holm's correction for 30 tests."""
    assert binomtest(8, 8).pvalue < 0.05 < 30 * binomtest(8, 8).pvalue
    said = against_each(tried([None, 0.0, 0.5], 16, {"b": [LOST] * 8, "c": [WON, LOST] * 4}, "b", "c"), "a")
    judged = "cannot be distinguished from c (50 %); has played too few different games for a verdict against b (0 %)"
    assert said == f"{judged}; the percentages are its scores in 8 pairs of games against each agent"


def test_the_sentence_about_the_agent_uses_the_measure_that_ranks_the_board() -> None:
    """Of 40 pairs, a wins 15 and loses 25, but its wins are large, so its mean return is higher than the mean return of c."""
    found = tried([None, 0.375, 0.375], 80, {name: [WON] * 15 + [LOST] * 25 for name in "bc"})
    rows = tuple([{**row, "mean_return": mean} for row, mean in zip(found.board.rows, (38.3, 39.0, 23.9), strict=True)])
    board = replace(found.board, rows=rows, ranked_by="mean_return")
    said = against_each(found._replace(board=board), "a")
    judged = "has a higher mean return than c (23.9); has a lower mean return than b (39)"
    assert said == f"{judged}; the numbers are mean returns, its own is 38.3, in 40 pairs of games against each agent"


def test_the_percentages_of_games_for_three_seats_are_no_scores() -> None:
    """These games have no pairs, and the percentages count who finishes ahead."""
    said = against_each(tried([None, 0.25, 0.75], 40, {}, "b", "c"), "a")
    judged = "cannot be distinguished from b (25 %) and c (75 %)"
    assert said == f"{judged}; the percentages are how often it finishes ahead in 40 games against each agent"


def test_repeated_games_give_no_verdict() -> None:
    """Twenty pairs are all the same pair. The other opponents are still reported."""
    repeated = Pair(WinDrawLoss(wins=20), WinDrawLoss(losses=20))
    said = against_each(tried([None, 1.0, 1.0], 40, {"b": [repeated], "c": [WON] * 20}), "a")
    judged = "is better than c (100 %); has played too few different games for a verdict against b (100 %)"
    assert said == f"{judged}; the percentages are its scores in 20 pairs of games against each agent{RATED}"


def test_a_faulty_agent_is_not_rated(tmp_path: Path, inside: Inside) -> None:
    """The output names the author's file and line, and contains no leaderboard. The exit code is 1."""
    (tmp_path / "broken.py").write_text(BROKEN)
    ended = inside("try", "broken.py")
    assert ended.returncode == 1
    line = BROKEN.splitlines().index("        return legal[len(legal)]") + 1
    assert re.search(rf"IndexError: list index out of range \(.*broken\.py:{line}\)", ended.stdout)
    assert "place" not in ended.stdout
    assert "arena/" not in ended.stdout + ended.stderr  # none of our frames


@pytest.mark.process
def test_a_game_is_shown_with_a_match_and_its_agents(tmp_path: Path, inside: Inside) -> None:
    """The game comes from a template. A leaderboard of built-in agents comes first, followed by a match with all positions."""
    inside("new", "game", "heap")
    ended = inside("try", "heap.py")
    assert ended.returncode == 0, ended.stderr
    assert "heap.py: heap\n" in ended.stdout
    assert {"alpha-beta", "mcts", "random"} <= set(re.findall(r"^ *\d[ ~]+(\S+) ", ended.stdout, re.MULTILINE))
    assert "a match of alpha-beta and mcts:" in ended.stdout
    assert re.search(r"^over after \d+ actions, returns -?1, -?1$", ended.stdout, re.MULTILINE)


WIDE = """
from arena import hookimpl
from arena_games.tic_tac_toe import TicTacToe

class Wide(TicTacToe):
    name = "wide"
    default_heuristic = None
    def __init__(self, *, rows: int = 6, columns: int = 6, in_a_row: int = 4):
        super().__init__(rows=rows, columns=columns, in_a_row=in_a_row)

class Small(TicTacToe):
    name = "small"
    default_heuristic = None

@hookimpl
def arena_games():
    return [Wide, Small]
"""
FOR_WIDE = """
from arena import Agent, hookimpl

class First(Agent):
    name = "first"
    games = frozenset({"wide", "small"})
    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [First]
"""


@pytest.mark.process
def test_an_agent_plays_the_game_of_another_plugin(tmp_path: Path, inside: Inside) -> None:
    """The agent is for a game of `--plugin`. 36 + 36 * 36 nodes are enough for the two plies of `lookahead`, and 200 on a
    small board.
    """
    (tmp_path / "game.py").write_text(WIDE)
    (tmp_path / "first.py").write_text(FOR_WIDE)
    ended = inside("try", "first.py", "--plugin", "game.py", "--details")
    assert ended.returncode == 0, ended.stderr
    assert "first.py: wide\n" in ended.stdout
    assert "reports its best action so far stops after 1,332 nodes," in ended.stdout
    assert "reports its best action so far stops after 200 nodes," in ended.stdout
    assert "actions were random" not in ended.stdout
    assert "first at small: place" in ended.stdout
    places = re.findall(r"^first at (\S+): [^;\n]*$", ended.stdout, re.MULTILINE)
    assert places == re.findall(r"^first at (\S+): .*; it ", ended.stdout, re.MULTILINE) == ["wide", "small"]


@pytest.mark.process
def test_every_board_has_its_own_remarks(tmp_path: Path, inside: Inside) -> None:
    """Two leaderboards with equal remarks each show all of them. General advice is printed once."""
    twin = WIDE.replace('"wide"', '"twin"').replace("rows: int = 6, columns: int = 6", "rows: int = 3, columns: int = 3")
    (tmp_path / "game.py").write_text(twin.replace("in_a_row: int = 4", "in_a_row: int = 3"))
    (tmp_path / "first.py").write_text(FOR_WIDE.replace('"wide"', '"twin"'))
    ended = inside("try", "first.py", "--plugin", "game.py", "--details", "--game", "twin", "--game", "small", "--seconds", "0.5")
    _, *boards = ended.stdout.split("first.py: ")
    assert [board.partition("\n")[0] for board in boards] == ["twin", "small"], ended.stdout
    for board in boards:
        assert re.search(r"^Ranked by ", board, re.MULTILINE)
        assert re.search(r"^~ : .*chance", board, re.MULTILINE)
        assert "Default limits: an agent that reports its best action so far stops after 200 nodes" in board
    assert ended.stdout.count("`limits` in a spec sets a budget") == 1


@pytest.mark.process
def test_the_result_of_an_agent_fits_on_a_screen(tmp_path: Path, inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `--details`, at most 25 lines of 80 columns show the ranks, the opponents and the next steps."""
    (tmp_path / "game.py").write_text(WIDE)
    (tmp_path / "first file.py").write_text(FOR_WIDE)
    ended = inside("try", "first file.py", "--plugin", "game.py")
    lines = [line for text in ended.stdout.splitlines() for line in textwrap.wrap(text, 80) or [""]]
    assert len(lines) <= 25
    assert len(re.findall(r"^first at \w+: .*; it .*random \(", ended.stdout, re.MULTILINE)) == 2
    assert "--details shows the leaderboards" in ended.stdout
    assert "Rank" not in ended.stdout
    assert ended.stdout.endswith(
        "next: check it after each save: arena check 'first file.py' --watch --plugin game.py\n"
        "      play your own tournament: arena run SPEC --plugin 'first file.py' --plugin game.py\n"
    )


@pytest.mark.process
def test_faults_in_matches_are_part_of_the_short_result(tmp_path: Path, inside: Inside) -> None:
    """A fault that does not occur in the few matches of the check is shown with its message."""
    (tmp_path / "rare.py").write_text(RARE)
    ended = inside("try", "rare.py", "--game", "tic-tac-toe")
    assert re.search(r"^rare at tic-tac-toe: not ranked, because it failed in .*no idea", ended.stdout, re.MULTILINE), (
        ended.stdout
    )
    assert len(ended.stdout.splitlines()) <= 25


@pytest.mark.process
def test_agents_that_need_a_file_or_a_server_are_listed_separately(tmp_path: Path, inside: Inside) -> None:
    (tmp_path / "game.py").write_text(WIDE.replace("[Wide, Small]", "[Small]"))
    said = inside("try", "game.py").stdout
    ready, furnished = re.findall(
        r"^can play it: (.*(?:\n  .*)*)\ncan play it if you supply a file, program or server: (.*)$", said, re.MULTILINE
    )[0]
    assert ready.startswith("random, greedy, lookahead")
    assert furnished == "llm, policy, policy-table"


@pytest.mark.process
def test_a_puzzle_and_a_heuristic_are_tried(tmp_path: Path, inside: Inside) -> None:
    """The heuristic is compared with the default heuristic and with no heuristic, on the same positions."""
    inside("new", "heuristic", "near", "--game", "sliding-tiles")
    ended = inside("try", "near.py", "--details")
    assert ended.returncode == 0, ended.stderr
    assert {"a-star with near", "a-star with manhattan", "a-star with none"} <= set(re.findall(r"a-star with \S+", ended.stdout))


@pytest.mark.process
@pytest.mark.parametrize(
    ("game", "said"),
    [
        ("sliding-tiles", r"Of \d+ positions?, a-star solves \d+ % with near .* with manhattan .* with none "),
        ("connect-four", r"lookahead with near scores \d+ % against open-lines, \d+ % against none, in \d+ games against all "),
    ],
)
def test_the_result_of_a_heuristic_fits_on_a_screen(game: str, said: str, tmp_path: Path, inside: Inside) -> None:
    inside("new", "heuristic", "near", "--game", game)
    ended = inside("try", "near.py", "--seconds", "3")
    lines = [line for text in ended.stdout.splitlines() for line in textwrap.wrap(text, 80) or [""]]
    assert len(lines) <= 25
    assert "Rank" not in ended.stdout
    assert "--details shows the leaderboards" in ended.stdout
    assert re.search(said, ended.stdout), ended.stdout


@pytest.mark.process
def test_a_game_for_one_seat_is_tried(tmp_path: Path, inside: Inside) -> None:
    """A game that is not a puzzle has returns instead of solutions. The sentence gives the mean from the leaderboard."""
    inside("new", "agent", "mine", "--game", "2048")
    ended = inside("try", "mine.py", "--game", "2048", "--seconds", "5", "--details")
    assert ended.returncode == 0, ended.stderr
    said = re.search(r"^mine at 2048: .*; its mean return is ([\d.,]+) in (\d+) attempts?\.$", ended.stdout, re.MULTILINE)
    assert said, ended.stdout
    (row,) = [line.split() for line in ended.stdout.splitlines() if " mine " in line and "random" not in line and "  " in line]
    assert said[1] in row


THREE = """
import arena


class Three(arena.Game):
    "Each of three seats says a number in turn; the highest one wins."
    name = "three"
    players = 3
    zero_sum = False

    def initial(self, rng): return ()
    def to_move(self, state): return len(state) % 3
    def actions(self, state): return range(3) if len(state) < 3 else ()
    def result(self, state, action): return (*state, action)
    def is_terminal(self, state): return len(state) == 3
    def returns(self, state): return tuple([float(number == max(state)) for number in state])


class High(arena.Agent):
    "Says the highest number."
    name = "high"
    needs = frozenset({"multi-player"})

    def choose(self, game, state, search): return 2


class Other(High):
    "Says the lowest number."
    name = "other"

    def choose(self, game, state, search): return 0


@arena.heuristic("last", game="three")
def last(game, state, player=0):
    "The last number."
    return state[-1] / 10 if state and len(state) < 3 else 0.0


@arena.hookimpl
def arena_games(): return [Three]


@arena.hookimpl
def arena_agents(): return [High, Other]


@arena.hookimpl
def arena_heuristics(): return [last]
"""


@pytest.mark.process
def test_an_agent_has_several_seats_if_there_are_too_few_agents(
    tmp_path: Path, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the built-in agents, only one that plays at random is left here, so it has two of the three seats."""
    monkeypatch.setattr(arena.Registry, "list_references", lambda _, game: ["random"])
    monkeypatch.setattr(try_, "_can_fill", lambda agent, game: False)
    (tmp_path / "three.py").write_text(THREE)
    ended = inside("try", "three.py", "--seconds", "0.5", "--details")
    assert (ended.returncode, ended.stderr) == (0, "")
    text = " ".join(ended.stdout.split())
    assert "a match of random, random and random:" in text
    assert " random 3 " in text
    assert "last: not played, because no built-in agent that uses heuristics can play three" in text
    for name in ("high", "other"):
        assert re.search(rf"{name} at three: place \d of 3", text)


HIDDEN = """
from arena import Agent, Game, heuristic, hookimpl

class Highest(Game):
    "Each seat has a number that only it knows, and adds 0 or 1 to it; the highest sum wins."
    name = "highest"
    players = {players}
    zero_sum = False
    min_return, max_return = 0.0, 1.0
    default_heuristic = "sum"

    def initial(self, rng): return (tuple(rng.randrange(5) for _ in range(self.players)), ())

    def to_move(self, state): return len(state[1]) % self.players

    def actions(self, state): return (0, 1) if len(state[1]) < self.players else ()

    def result(self, state, action): return (state[0], (*state[1], action))

    def returns(self, state):
        sums = [one + two for one, two in zip(*state)]
        return tuple(float(one == max(sums)) for one in sums)
{hiding}

class Adds(Agent):
    "Adds 1."
    name = "adds"
    copes = frozenset({{"hidden-information"}})

    def choose(self, game, state, search): return 1

@heuristic("sum", game="highest")
def own(game, state, player=0):
    "The number of this seat."
    return state[0][player] / 10

@hookimpl
def arena_games(): return [Highest]

@hookimpl
def arena_agents(): return [Adds]

@hookimpl
def arena_heuristics(): return [own]
"""
HIDING = """
    def observation(self, state, seat):
        return (tuple(one if other == seat else -1 for other, one in enumerate(state[0])), state[1])

    def resample(self, observed, seat, rng):
        return (tuple(rng.randrange(5) if one < 0 else one for one in observed[0]), observed[1])
"""


@pytest.mark.process
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("hiding", ["", HIDING])
def test_agents_and_heuristics_are_rated_for_any_number_of_seats(
    players: int, hiding: str, tmp_path: Path, inside: Inside
) -> None:
    """Every part of the file is played; an agent that always adds 1 is on a board with an entry for each seat."""
    (tmp_path / "highest.py").write_text(HIDDEN.format(players=players, hiding=hiding))
    ended = inside("try", "highest.py", "--game", "highest", "--seconds", "1")
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    text = " ".join(ended.stdout.split())
    said = re.search(r"adds at highest: (no place, because the time was not enough|place \d of (\d))", text)
    assert said, ended.stdout
    assert said[2] is None or int(said[2]) >= players
    assert "not played" not in text.replace("not played, because no built-in agent that uses heuristics", "")
    assert hiding or re.search(r"greedy (with sum (scores|finishes ahead)|has a mean return of)", text), ended.stdout


def test_the_board_of_every_game_has_an_entry_for_each_seat() -> None:
    """The board of a single agent is filled for each installed game with its default parameters."""
    registry = arena.load_plugins(environ=False)
    attempt: Any = SimpleNamespace(registry=registry)
    for kind in registry.games.values():
        game = kind()
        entries = try_._fill_up(attempt, game, ["random"])
        assert len(entries) >= game.players
        labels = [try_.label_of(entry) for entry in entries]
        assert len(set(labels)) == len(labels)
        spec = load_spec({"game": game.name, "agents": entries, "rounds": 1})
        assert [seat.label for seat in spec.boards[0].seats] == labels


@pytest.mark.process
def test_a_game_with_as_many_agents_as_seats_is_played(tmp_path: Path, inside: Inside) -> None:
    """Random, greedy and the agent of the file are enough for three seats."""
    (tmp_path / "three.py").write_text(THREE)
    ended = inside("try", "three.py", "--seconds", "0.5", "--game", "three")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.search(r"^high at three: .*; it ", ended.stdout, re.MULTILINE), ended.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.py",), "no such file: none.py"),
        (("random",), "expected"),
        (("empty.py",), "defines nothing for arena; expected one of the hooks"),
    ],
)
def test_invalid_calls_are_refused(words: tuple[str, ...], said: str, tmp_path: Path, inside: Inside) -> None:
    """The cases are a missing file, a name instead of a file, and a file without hooks."""
    (tmp_path / "empty.py").write_text("")
    ended = inside("try", *words)
    assert ended.returncode == 2
    assert said in ended.stderr


@pytest.mark.process
def test_an_interrupt_names_the_agent_that_was_tried(tmp_path: Path, inside: Inside) -> None:
    """The message names the line that was running. The check before the trial is complete."""
    pressed = "import os, signal\n        search.limits.nodes == 200 and os.kill(os.getpid(), signal.SIGINT)\n        legal = "
    (tmp_path / "strong.py").write_text(STRONG.replace("legal = ", pressed))
    ended = inside("try", "strong.py")
    assert ended.returncode == 130
    assert re.search(r"while trying agent strong \(.*strong\.py:\d+\)", ended.stderr)


FIVE = """
from arena import Agent, hookimpl

class Sound(Agent):
    def choose(self, game, state, search): return game.actions(state)[0]

class One(Sound): name = "one"
class Two(Sound): name = "two"
class Wrong(Agent):
    name = "wrong"
    def choose(self, game): return 1
class Four(Sound): name = "four"
class Five(Sound): name = "five"

@hookimpl
def arena_agents(): return [One, Two, Wrong, Four, Five]
"""


@pytest.mark.process
@pytest.mark.parametrize("command", ["check", "try"])
def test_the_other_classes_are_checked_if_one_cannot_be_loaded(tmp_path: Path, inside: Inside, command: str) -> None:
    """The exit code is that of a plugin that cannot be loaded. `arena run` loads no part of such a plugin, and says so."""
    (tmp_path / "five.py").write_text(FIVE)
    ended = inside(command, "five.py", "--game", "tic-tac-toe")
    assert sorted(re.findall(r"^agent (\w+): ok$", ended.stdout, re.MULTILINE)) == ["five", "four", "one", "two"]
    assert "agent wrong (" in ended.stderr
    assert "expected choose(self, game, state, search), got choose(self, game); it was not checked" in ended.stderr
    assert ended.returncode == 2
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nagents: [one, random]\nrounds: 1\n")
    refused = inside("run", "cup.yaml", "--plugin", "five.py")
    assert refused.returncode == 2
    assert "got choose(self, game); so none of the 5 parts of this plugin is loaded" in refused.stderr
    (tmp_path / "alone.py").write_text(FIVE.replace("[One, Two, Wrong, Four, Five]", "[Wrong]"))
    alone = inside(command, "alone.py")
    assert (alone.returncode, alone.stdout) == (2, "")
    assert alone.stderr.endswith("got choose(self, game)\n")
