"""`arena solve` reports a solution, or the reason for each kind of failure."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import ArenaError
from arena.cli import cli

Open = Callable[..., Any]
Run = Callable[..., Any]

HARDEST = "8 6 7 / 2 5 4 / 3 . 1"
"""This is one of the two positions of the 8-puzzle that take 31 moves, the maximum."""

SOLVERS = """
import os, time
from arena import Agent, Answer, Path, hookimpl

class Solver(Agent):
    needs = frozenset({"single-player"})

class Raises(Solver):
    name = "raises"

    def solve(self, game, state, search):
        raise LookupError("no way in sight")

class Strays(Solver):
    name = "strays"

    def solve(self, game, state, search):
        return Path([99])

class Stops(Solver):
    name = "stops"

    def solve(self, game, state, search):
        return Path(game.actions(state)[:1])

class Answers(Solver):
    name = "answers"

    def solve(self, game, state, search):
        return Answer(game.result(state, game.actions(state)[0]))

class Resigns(Solver):
    name = "resigns"

    def solve(self, game, state, search):
        return None

class Sleeps(Solver):
    name = "sleeps"

    def solve(self, game, state, search):
        time.sleep(60)

class Dies(Solver):
    name = "dies"

    def solve(self, game, state, search):
        os._exit(3)

class First(Agent):
    name = "first"

    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Raises, Strays, Stops, Answers, Resigns, Sleeps, Dies, First]
"""


@pytest.fixture
def solvers(tmp_path: Path) -> str:
    file = tmp_path / "solvers.py"
    file.write_text(SOLVERS)
    return str(file)


def parse_summary(text: str) -> dict[str, str]:
    """Return the lines after the solution, by their first word."""
    joined = re.sub(r"\n {2,}", " ", text)
    found = dict(
        re.findall(r"^(solved|moves|steps|cost|nodes|evaluations|time|depth|optimal|solutions) +(.*)$", joined, re.MULTILINE)
    )
    return {word: said.strip() for word, said in found.items()}


def slide_tiles(tiles: str, moves: list[str]) -> str:
    """Return the position after some slides, each of which swaps a tile with the blank beside it."""
    cells = tiles.replace("/", "").split()
    for tile in moves:
        here, blank = cells.index(tile), cells.index(".")
        assert abs(here // 3 - blank // 3) + abs(here % 3 - blank % 3) == 1
        cells[here], cells[blank] = ".", tile
    return " ".join(cells)


def test_the_hardest_8_puzzle_takes_31_moves(here: Run) -> None:
    """The maximum distance of the 181,440 states is 31. The moves, made by hand, lead to the goal."""
    done = here("solve", "sliding-tiles", "a-star", "--position", HARDEST, "--moves")
    assert done.returncode == 0
    moves = done.stdout.split()
    assert len(moves) == 31
    assert slide_tiles(HARDEST, moves) == "1 2 3 4 5 6 7 8 ."


@pytest.mark.parametrize("words", [[], ["a-star", "--agent", "bfs"]])
def test_solve_needs_exactly_one_agent(here: Run, words: list[str]) -> None:
    done = here("solve", "sliding-tiles", *words)
    assert done.returncode == 2
    assert "expected one agent, as in `arena solve sliding-tiles a-star`" in done.stderr


@pytest.mark.parametrize("words", [[], ["a-star"], ["human"]])
def test_solve_says_at_once_that_a_game_is_not_a_puzzle(here: Run, words: list[str]) -> None:
    """A user who gets the advice to name an agent would then see that no agent helps."""
    done = here("solve", "tic-tac-toe", *words)
    assert done.stderr.strip() == "tic-tac-toe is not a puzzle, so it cannot be solved; `arena play tic-tac-toe` plays it"


def test_the_text_shows_the_solution_and_its_cost(here: Run) -> None:
    """The puzzle takes two slides. The text shows each position, the number of moves, the cost and the agent's claim to be
    optimal.
    """
    done = here("solve", "sliding-tiles", "--agent", "bfs", "--position", "1 2 3 / 4 . 5 / 7 8 6")
    assert done.returncode == 0
    assert "1 of 2: 5\n1 2 3\n4 5 .\n7 8 6\n" in done.stdout
    assert "2 of 2: 6\n1 2 3\n4 5 6\n7 8 .\n" in done.stdout
    said = parse_summary(done.stdout)
    assert (said["solved"], said["moves"], said["cost"], said["evaluations"]) == ("yes", "2", "2", "0")
    assert said["optimal"].startswith("yes, bfs claims this")
    assert re.fullmatch(r"[\d.]+ (µs|ms|s)", said["time"])
    assert done.stderr == ""


def test_optimality_is_unknown_if_the_budget_was_used_up(here: Run) -> None:
    """The blank has three neighbours, so A* generates three states and takes the solved one. The record of a search that was
    stopped after its last report looks the same.
    """
    position = ("--position", "1 2 3 / 4 5 6 / 7 . 8")
    said = parse_summary(here("solve", "sliding-tiles", "a-star", *position, "--nodes", "3").stdout)
    assert (said["solved"], said["nodes"]) == ("yes", "3")
    assert said["optimal"].startswith("unknown: a-star used up 3 nodes")
    assert "claims" in parse_summary(here("solve", "sliding-tiles", "a-star", *position, "--nodes", "4").stdout)["optimal"]


@pytest.mark.parametrize(
    ("agent", "heuristic", "optimal"),
    [
        ("uniform-cost", "manhattan", True),
        ("ida-star", "linear-conflict", True),
        ("a-star:weight=3", "manhattan", None),
        ("best-first", "manhattan", None),
    ],
)
def test_the_json_describes_the_solution(here: Run, agent: str, heuristic: str, optimal: bool | None) -> None:
    """The puzzle takes two slides. A solution counts as optimal only if the agent claims it."""
    position = "1 2 3 / 4 5 6 / . 7 8"
    done = here("solve", "sliding-tiles", "--agent", agent, "--heuristic", heuristic, "--position", position, "--format", "json")
    found = json.loads(done.stdout)
    assert found["game"] == {"name": "sliding-tiles", "rows": 3, "columns": 3, "shuffle": None, "goal": "blank-last"}
    assert found["actions"] == ["7", "8"]
    assert (found["solved"], found["moves"], found["cost"], found["termination"]) == (True, 2, 2, "normal")
    assert found["optimal"] is optimal
    assert found["reason"] is None
    assert found["nodes"] > 0
    assert found["seconds"] > 0


def test_the_seed_determines_the_shuffle(here: Run) -> None:
    """A position n random moves from the goal takes at most n moves to solve, and the parity is the same."""
    words = ("solve", "sliding-tiles", "--agent", "a-star", "--format", "json", "--shuffle", "7", "--seed")
    first, again, other = (json.loads(here(*words, seed).stdout) for seed in ("5", "5", "6"))
    assert first["moves"] <= 7
    assert first["moves"] % 2 == 1
    assert first["position"] == again["position"] != other["position"]


@pytest.mark.parametrize(
    ("agent", "options", "reason"),
    [
        ("raises", [], r"an exception: LookupError: no way in sight \(.*solvers\.py:\d+\)"),
        ("strays", [], r"illegal: expected one of .*, got 99"),
        ("stops", [], r"illegal: the path of 1 action does not end at a goal"),
        ("answers", [], r"illegal: expected a Path or None, got an Answer: in sliding-tiles the path matters"),
        ("resigns", [], r"gave up"),
        pytest.param("sleeps", ["--seconds", "0.2"], r"out of time: .*0\.2 s", marks=pytest.mark.process),
        pytest.param("dies", ["--seconds", "5"], r"its process died.*3", marks=pytest.mark.process),
        ("bfs", ["--nodes", "100"], r"out of budget: 100 nodes were not enough; .*--nodes"),
        ("bfs:limits={nodes: 50}", [], r"out of budget: 50 nodes"),
        ("first", ["--limits", "moves=10"], r"too many moves"),
    ],
)
def test_every_failure_gives_its_reason(here: Run, solvers: str, agent: str, options: list[str], reason: str) -> None:
    """The exit code is 1. An exception names the line in the agent's source."""
    words = ("solve", "sliding-tiles", "--agent", agent, "--position", HARDEST, "--plugin", solvers, *options)
    done = here(*words)
    assert done.returncode == 1
    said = parse_summary(done.stdout)["solved"].replace(" ", "")  # a long path is broken at the width, at any character
    assert re.fullmatch(f"no:{reason}.*".replace(" ", ""), said), done.stdout
    assert "optimal" not in parse_summary(done.stdout)


def test_wrong_answers_and_dead_ends_have_different_messages(here: Run, solvers: str) -> None:
    """One queen is a wrong answer. The first safe row for each queen, 1 3 5 2 4, leads to a dead end: column 6 has no safe
    row.
    """
    wrong = here("solve", "n-queens", "--agent", "answers", "--plugin", solvers)
    assert wrong.returncode == 1
    assert "wrong answer" in parse_summary(wrong.stdout)["solved"]
    stuck = here("solve", "n-queens", "--agent", "first", "--plugin", solvers, "--moves")
    assert stuck.returncode == 1
    assert stuck.stdout == ""
    assert "stuck" in stuck.stderr
    dead = here("solve", "n-queens", "--agent", "first", "--plugin", solvers, "--format", "json")
    assert json.loads(dead.stdout)["actions"] == ["1", "3", "5", "2", "4"]


def test_a_final_state_without_actions_solves_n_queens(here: Run) -> None:
    """Four queens have two solutions. A local search returns only a final state, not the actions that lead to it."""
    done = here("solve", "n-queens", "--agent", "min-conflicts", "--set", "n=4", "--format", "json")
    found = json.loads(done.stdout)
    assert found["answer"] in ("2 4 1 3", "3 1 4 2")
    assert (found["actions"], found["cost"], found["optimal"]) == ([], None, None)
    none = here("solve", "n-queens", "--agent", "dfs", "--set", "n=3")
    assert none.returncode == 1
    assert parse_summary(none.stdout)["solved"] == "no: gave up"


def test_sudoku_reports_the_number_of_solutions(here: Run) -> None:
    """The row 1 to 8 with a 9 below its gap has no solution. Without that 9, the row has several. A generated puzzle has one
    solution.
    """
    rows = "12345678." + "........9" + "." * 63
    none = here("solve", "sudoku", "--agent", "dfs", "--position", rows)
    assert (none.returncode, parse_summary(none.stdout)["solutions"]) == (1, "none")
    many = here("solve", "sudoku", "--agent", "dfs", "--position", "12345678." + "." * 72)
    assert (many.returncode, parse_summary(many.stdout)["solutions"]) == (0, "several")
    one = here("solve", "sudoku", "--agent", "dfs", "--format", "json")
    assert json.loads(one.stdout)["solutions"] == 1


def test_an_animation_moves_the_cursor_only_on_a_terminal(terminal: Open, here: Run) -> None:
    """Each frame of four lines is drawn over the last one. A pipe gets the frames one below the other."""
    words = ("solve", "sliding-tiles", "--agent", "a-star", "--position", "1 2 3 / 4 . 5 / 7 8 6", "--animate", "--delay", "0.05")
    shown = terminal(*words)
    assert shown.end() == 0
    assert shown.raw.count("\x1b[4A\x1b[J") == 2
    assert here(*words).stdout.count("\x1b") == 0
    low = terminal(*words, lines=4)
    assert low.end() == 0
    assert "\x1b[4A" not in low.raw


def test_a_long_solution_is_abridged(here: Run) -> None:
    """Most boards are left out, and the output says how to print all moves."""
    done = here("solve", "n-queens", "--agent", "dfs", "--set", "n=14", "--nodes", "500000")
    assert "positions left out; --moves prints all moves" in done.stdout
    assert done.stdout.count("\n") < 150


def test_solve_fits_forty_columns(terminal: Open) -> None:
    shown = terminal("solve", "sliding-tiles", "--agent", "a-star", "--shuffle", "20", columns=40)
    assert shown.end() == 0
    assert max(map(len, shown.seen.splitlines())) < 40


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tic-tac-toe", "--agent", "minimax"], "tic-tac-toe is not a puzzle"),
        (["sliding-tiles", "--agent", "human"], "to solve it yourself, use `arena play sliding-tiles`"),
        (["sliding-tiles", "--agent", "minimax"], "minimax cannot play sliding-tiles"),
        (["n-queens", "--agent", "dfs", "--shuffle", "5"], "--set shuffle: unknown key; known: actions, n"),
        (["sliding-tiles", "--agent", "bfs", "--shuffle", "5", "--position", HARDEST], "--shuffle draws a position"),
        (["sliding-tiles", "--agent", "bfs", "--position", "1 2 3 / 4 5 6 / 8 7 ."], "unsolvable"),
    ],
)
def test_an_invalid_call_of_solve_is_explained(words: list[str], said: str) -> None:
    """The command line turns an ArenaError into exit code 2."""
    with pytest.raises(ArenaError) as refused:
        cli.main(["solve", *words], standalone_mode=False)
    assert said in str(refused.value)


def test_options_of_an_agent_survive_a_round_trip() -> None:
    """The test draws plain options of every type at random."""
    from arena_setup.words import entry_of, options_of

    rng = random.Random(7)
    values = [1, -2.5, True, False, None, "first", [1, 2], {"name": "pattern-db", "partition": "5-5-5"}, {"nodes": 5}]
    for _ in range(200):
        options = {f"option_{n}": rng.choice(values) for n in range(rng.randrange(4))}
        word = f"lookahead:{options_of(options)}" if options else "lookahead"
        assert entry_of(word) == {"agent": "lookahead", **options}


def test_a_board_too_wide_for_the_terminal_is_not_wrapped(terminal: Open) -> None:
    """A board of 60 queens takes 119 columns with spaces and 60 without. With 80 columns the rows are whole, with 50 the
    notation is shown.
    """
    words = ("solve", "n-queens", "--agent", "min-conflicts", "--set", "n=60")
    screen = terminal(*words, columns=80)
    assert screen.end() == 0
    lines = screen.seen.splitlines()
    rows = [line for line in lines if re.fullmatch(r"[.Q]{60}", line)]
    assert len(rows) == 2 * 60
    assert sorted(row.index("Q") for row in rows[60:]) == list(range(60))
    assert max(map(len, lines)) < 80
    narrow = terminal(*words, "--animate", "--delay", "0", columns=50)
    assert narrow.end() == 0
    answer, note, rest = narrow.seen[narrow.seen.index("answer\n") :].partition("(the board is 119 columns wide,")
    assert sorted(map(int, answer.split()[1:])) == list(range(1, 61))
    assert note
    assert " ".join(rest.split()).startswith("but the terminal only 50, so the position is shown in its notation)")
    assert max(map(len, narrow.seen.splitlines())) < 50
