"""`arena play` in a real process at a terminal with real keys, and in this process without a terminal."""

import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from arena import ArenaError
from arena.cli import cli
from arena_setup.words import values_of

Open = Callable[..., Any]
Run = Callable[..., Any]

LINES = [(1, 2, 3), (4, 5, 6), (7, 8, 9), (1, 4, 7), (2, 5, 8), (3, 6, 9), (1, 5, 9), (3, 5, 7)]

AGENTS = """
from arena import Agent, hookimpl

class Fragile(Agent):
    name = "fragile"

    def choose(self, game, state, search):
        if sum(map(int.bit_count, state)) > 2:
            raise ZeroDivisionError("in its second move")
        return game.actions(state)[0]

class Loud(Agent):
    name = "loud"

    def choose(self, game, state, search):
        print("thinking aloud")
        return game.actions(state)[0]

class Counter(Agent):
    name = "counter"

    def __init__(self):
        self.moves = 0

    def choose(self, game, state, search):
        self.moves += 1
        return game.actions(state)[self.moves - 1]

@hookimpl
def arena_agents():
    return [Fragile, Loud, Counter]
"""

GAMES = """
from arena import Game, hookimpl

class Broken(Game):
    name = "broken"

    def initial(self, rng):
        return 0

    def to_move(self, state):
        return state % 2

    def actions(self, state):
        return ["go", "quit"]

    def result(self, state, action):
        if state == 1:
            raise RuntimeError("no rule for this")
        return state + 1

    def returns(self, state):
        return (0, 0)

@hookimpl
def arena_games():
    return [Broken]
"""


@pytest.fixture
def agents(tmp_path: Path) -> str:
    file = tmp_path / "agents.py"
    file.write_text(AGENTS)
    return str(file)


def marks_by_cell(seen: str) -> dict[int, str]:
    """Return the mark in each cell, from the lines that report the moves."""
    moves = re.findall(r"^(\d)\. [\w-]+: (\d)", seen, re.MULTILINE)
    return {int(cell): "xo"[(int(number) - 1) % 2] for number, cell in moves}


def winner(cells: dict[int, str]) -> str | None:
    """Return the mark that has three in a row, or None."""
    rows = ["".join([cells.get(cell, ".") for cell in line]) for line in LINES]
    return next((row[0] for row in rows if row in ("xxx", "ooo")), None)


@pytest.mark.parametrize(("seat", "seed"), [(0, 1), (1, 4)])
def test_alpha_beta_never_loses_at_tic_tac_toe(terminal: Open, seat: int, seed: int) -> None:
    """The person moves at random, in either seat. The game's value is a draw, so alpha-beta never loses. The last line names
    the winner.
    """
    rng = random.Random(seed)
    game = terminal("play", "tic-tac-toe", *(["human"] if seat == 0 else ["alpha-beta", "human"]))
    while game.asks("human> "):
        free = [cell for cell in range(1, 10) if cell not in marks_by_cell(game.seen)]
        game.type(str(rng.choice(free)))
    assert game.end() == 0
    won = winner(marks_by_cell(game.seen))
    assert won != "xo"[seat]
    expected = "a draw, after 9 moves" if won is None else "alpha-beta wins, after"
    assert game.seen.splitlines()[-1].startswith(expected)


def test_undo_goes_back_to_the_last_decision_of_the_person(terminal: Open, agents: str) -> None:
    """The agent is created again after an undo. This agent chooses the n-th free cell at its n-th move since its creation."""
    game = terminal("play", "tic-tac-toe", "human", "counter", "--plugin", agents)
    game.until("human> ")
    game.type("undo")
    assert "you have not moved yet" in game.until("human> ")
    game.type("5")
    assert "2. counter: 1 " in game.until("human> ")
    game.type("9")
    assert "4. counter: 3 " in game.until("human> ")
    game.type("undo")
    assert "back after move 2\no . .\n. x .\n. . .\n" in game.until("human> ")
    game.type("2")
    assert "4. counter: 3 " in game.until("human> ")
    game.type("undo")
    game.until("human> ")
    game.type("undo")
    assert "back after move 0\n. . .\n. . .\n. . .\n" in game.until("human> ")
    game.type("quit")
    assert game.end() == 0
    assert game.seen.endswith("left after 0 moves\n")


@pytest.mark.parametrize("isolation", ["none", pytest.param("process", marks=pytest.mark.process)])
def test_an_agent_created_again_continues_from_the_position(here: Run, agents: str, isolation: str) -> None:
    """After an undo, a new `counter` agent plays on. Its next move is its first, so it chooses the first free cell. The agent may
    run in this process or in another one.
    """
    word = f"counter:isolation={isolation}"
    done = here("play", "tic-tac-toe", "human", word, "--plugin", agents, typed="5\n9\nundo\n2\n3\n")
    moves = re.findall(r"^(\d)\. \S+: (\d)", done.stdout, re.MULTILINE)
    assert moves[:4] == [("1", "5"), ("2", "1"), ("3", "9"), ("4", "3")]
    assert moves[4:6] == [("3", "2"), ("4", "3")]
    assert done.returncode == 0


def test_ctrl_d_exits_with_0_and_ctrl_c_with_130(terminal: Open) -> None:
    """The output ends with a message and has no traceback."""
    game = terminal("play", "connect-four")
    game.until("human> ")
    game.press("\x04")
    assert game.end() == 0
    assert game.seen.endswith("left after 0 moves\n")
    other = terminal("play", "connect-four")
    other.until("human> ")
    assert other.interrupt() == 130
    assert other.seen.removesuffix("^C").endswith("interrupted\n")
    assert "Traceback" not in other.seen


def test_ctrl_c_interrupts_a_search(terminal: Open) -> None:
    """Alpha-beta without a limit would search connect four for years."""
    game = terminal("play", "connect-four", "alpha-beta", "random", "--limits", "none")
    game.until("1 2 3 4 5 6 7\n")
    assert game.interrupt() == 130


def test_an_invalid_move_is_explained(here: Run) -> None:
    """The message comes from the game, or suggests a command. The match continues."""
    done = here("play", "connect-four", "human", "human", typed="9\nundoo\n\n#9\n#2\nquit now\n:quit\n")
    assert done.returncode == 0
    assert re.search(r"expected (a column|one of)[^;]*, got '9'", done.stdout), done.stdout
    assert "did you mean 'undo'?" in done.stdout
    assert "expected a number from 1 to 7, got 9" in done.stdout
    assert "1. human (seat 1): 2" in done.stdout
    assert done.stdout.endswith("left after 1 move\n")


def test_a_number_selects_a_listed_move_if_the_notation_has_no_numbers(here: Run) -> None:
    """The rules of othello allow d3, c4, f5 and e6 as first moves. The list is in the order of the squares."""
    done = here("play", "othello", "human", "human", typed="?\n3\n:quit\n")
    assert "1) d3  2) c4  3) f5  4) e6" in done.stdout
    assert "1. human (seat 1): f5" in done.stdout


def test_hints_are_best_moves(here: Run) -> None:
    """x wins with 3. The puzzle takes two slides."""
    won = here(
        "play", "tic-tac-toe", "--position", "xx./oo./...", typed="hint\nhint minimax\nhint nobody\nhint bfs\nhint human\n"
    )
    assert won.stdout.count("hint: 3 (") == 2
    assert "no hint: " in won.stdout
    assert "unknown agent 'nobody'" in won.stdout
    assert "bfs cannot play tic-tac-toe" in won.stdout.replace("\n  ", " ")
    puzzle = here("play", "sliding-tiles", "--position", "1 2 3 / 4 . 5 / 7 8 6", typed="hint\n5\nhint bfs\n6\n")
    assert "hint: 5 (a-star solves it in 2 moves" in puzzle.stdout
    assert "hint: 6 (bfs solves it in 1 move" in puzzle.stdout
    assert puzzle.stdout.endswith("solved in 2 moves, cost 2\n")


def test_eval_shows_the_heuristic_for_each_seat(here: Run) -> None:
    """Three lanes are open to x in the middle, and two to o in the corner; each counts a tenth. Manhattan is 1 if one slide is
    left.
    """
    done = here("play", "tic-tac-toe", "human", "human", "--position", "o../.x./...", typed="eval\n")
    assert "open-lanes: human (seat 1) +0.1, human (seat 2) -0.1" in done.stdout
    near = here("play", "sliding-tiles", "--position", "1 2 3 / 4 5 6 / 7 . 8", "--heuristic", "manhattan", typed="eval\n")
    assert "manhattan: 1 to the goal" in near.stdout


def test_an_agent_that_fails_is_named_and_loses(here: Run, agents: str) -> None:
    """The message gives the file and the line of the exception. The agent does not get another try."""
    done = here("play", "tic-tac-toe", "human", "fragile", "--plugin", agents, typed="5\n9\n")
    text = "".join(done.stdout.split())  # lines are wrapped
    assert done.returncode == 0
    line = AGENTS.splitlines().index('            raise ZeroDivisionError("in its second move")') + 1
    said = f"fragile has lost: an exception: ZeroDivisionError: in its second move ({Path(agents).name}:{line})"
    assert "".join(said.split()) in text
    assert done.stdout.endswith("human wins\n")


def test_an_exception_in_a_game_is_reported(here: Run, tmp_path: Path) -> None:
    """The exit code is 1, as for a void match. This game has a move called quit, so the command is `:quit`."""
    file = tmp_path / "games.py"
    file.write_text(GAMES)
    done = here("play", "broken", "human", "human", "--plugin", str(file), typed="quit\ngo\n")
    assert done.returncode == 1
    assert "1. human (seat 1): quit" in done.stdout
    assert "an error in the game itself: RuntimeError: no rule for this" in done.stdout
    assert "Traceback" not in done.stderr
    left = here("play", "broken", "human", "human", "--plugin", str(file), typed=":quit\n")
    assert left.returncode == 0
    assert left.stdout.endswith("left after 0 moves\n")


def test_two_agents_are_watched_with_a_pause(terminal: Open) -> None:
    """No agent can win before the fifth move, so there are at least five pauses of 0.1 s."""
    began = time.monotonic()
    game = terminal("play", "tic-tac-toe", "greedy", "random", "--delay", "0.1")
    assert game.end() == 0
    assert "5. greedy:" in game.seen
    assert time.monotonic() - began > 0.5


def test_output_of_an_agent_goes_to_stderr(here: Run, agents: str) -> None:
    done = here("play", "tic-tac-toe", "loud", "loud", "--plugin", agents)
    assert done.returncode == 0
    assert "loud (seat 1) wins, after 7 moves" in done.stdout  # first free cells: x 1 3 5 7
    assert "thinking aloud" not in done.stdout
    assert "thinking aloud" in done.stderr


def test_without_a_terminal_there_is_no_colour_and_no_cursor(here: Run) -> None:
    done = here("play", "sliding-tiles", "a-star", "--set", "shuffle=3", "--delay", "9")
    assert "\x1b" not in done.stdout + done.stderr
    assert done.returncode == 0


def test_colour_depends_on_no_color_and_term(terminal: Open) -> None:
    """A terminal shows colours, except with NO_COLOR or if TERM is dumb."""
    plain = {"NO_COLOR": "1"}
    for surroundings, coloured in (({}, True), (plain, False), ({"TERM": "dumb"}, False)):
        game = terminal("play", "tic-tac-toe", "random", "random", "--delay", "0", **surroundings)
        assert game.end() == 0
        assert ("\x1b[1m" in game.raw) == coloured
        assert ("\x1b" in game.raw) == coloured


def test_play_fits_forty_columns(terminal: Open) -> None:
    """The help, the list of moves and the errors have shorter lines."""
    game = terminal("play", "sudoku", "--set", "box=2", columns=40)
    for line in ("help", "?", "nonsense", "hint", "eval"):
        game.until("human> ")
        game.type(line)
    game.until("human> ")
    game.press("\x04")
    assert game.end() == 0
    assert max(map(len, game.seen.splitlines())) < 40


def test_readline_recalls_and_completes_lines(terminal: Open) -> None:
    """The arrow key recalls the last line, and the Tab key completes a command."""
    game = terminal("play", "othello", "human", "human")
    game.until("human (seat 1)> ")
    game.type("d3")
    game.until("human (seat 2)> ")
    game.press("und\t\n")
    assert "back after move 0" in game.until("human (seat 1)> ")
    game.press("\x1b[A\x1b[A\n")
    assert "1. human (seat 1): d3" in game.until("human (seat 2)> ")
    game.press("\x04")
    assert game.end() == 0


def test_a_dead_end_of_a_puzzle_is_left_by_undo(here: Run) -> None:
    """Of four queens, 1 and 3 leave no row for the third. After two undos, 2 4 1 3 solves the puzzle."""
    done = here("play", "n-queens", "--set", "n=4", typed="1\n3\n2\nundo\nundo\n2\n4\n1\n3\n")
    assert "no moves are left, and the puzzle is not solved: type undo or quit" in done.stdout
    assert "no moves are left; type undo or quit" in done.stdout
    assert done.stdout.endswith("solved in 4 moves, cost 4\n")
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chess"], "unknown game 'chess'"),
        (["tic-tac-toe", "human", "nobody"], "nobody: unknown agent 'nobody'"),
        (["tic-tac-toe", "human", "human", "human"], "tic-tac-toe has 2 seats, got 3 agents"),
        (["tic-tac-toe", "a-star"], "a-star cannot play tic-tac-toe"),
        (["tic-tac-toe", "mcts:iterations=200"], "known: exploration, rollouts; --limits nodes=200 limits each decision"),
        (["chess"], "the distribution fairarena-chess defines it"),
        (["tic-tac-toe", "lookahead:dpeth=2"], "lookahead:dpeth=2: dpeth: unknown key; did you mean 'depth'?"),
        (["tic-tac-toe", "lookahead:depth=two"], "depth: expected an integer"),
        (["tic-tac-toe", "lookahead:2"], "expected KEY=VALUE, as in depth=2, got '2'"),
        (["tic-tac-toe", "alpha-beta(depth=4)"], "options come after a colon, as in lookahead:depth=2"),
        (["tic-tac-toe", "--set", "rows=0"], "--set rows: expected at least 1, got 0"),
        (["tic-tac-toe", "--set", "in_a_row=9"], "in_a_row: expected at most 3"),
        (["tic-tac-toe", "--position", "xxx/oo./..."], "--position: the game is over in this position"),
        (["tic-tac-toe", "--position", "abc"], "--position: not a position of tic-tac-toe"),
        (["tic-tac-toe", "--limits", "nodes=0"], "--limits nodes: expected at least 1"),
        (["tic-tac-toe", "--limits", "nodes=5", "--nodes", "6"], "--nodes: given twice"),
        (["tic-tac-toe", "--limits", "nodes=5", "--limits", "nodes=6"], "--limits: nodes is given twice"),
        (["tic-tac-toe", "--limits", "nodes=0", "--limits", "moves=3"], "--limits nodes: expected at least 1"),
        (["tic-tac-toe", "--heuristic", "linear-conflict"], "heuristic linear-conflict belongs to sliding-tiles"),
    ],
)
def test_an_invalid_call_of_play_is_explained(words: list[str], said: str) -> None:
    """The message uses the words of the command line, not the keys of a spec."""
    with pytest.raises(ArenaError) as refused:
        cli.main(["play", *words], standalone_mode=False)
    assert said in str(refused.value)
    assert "<spec>" not in str(refused.value)


def test_repeated_limits_are_combined() -> None:
    """Every command with `--limits` combines repeated values, as it does for `--set`."""
    words = ("nodes=50,depth=2", "moves=3")
    found = {}
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        for option in [] if command is None else command.params:
            if "--limits" in option.opts:
                found[name] = option.process_value(context, words)
    assert set(found) >= {"play", "solve", "exploit", "duel", "tune"}
    for joined in found.values():
        assert values_of([joined], what="--limits") == {"nodes": 50, "depth": 2, "moves": 3}


def test_an_invalid_call_exits_with_2(here: Run) -> None:
    """Stdout is empty, and stderr lists every error without a traceback."""
    done = here("play", "tic-tac-toe", "lookahead:dpeth=2", "--set", "rows=0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "dpeth" in done.stderr
    assert "--set rows" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wide_board_is_shown_without_spaces(terminal: Open) -> None:
    """A board of 30 columns takes 59 characters with spaces, more than the terminal's 50. The spaces come back if the terminal
    is made wider.
    """
    game = terminal("play", "n-queens", "--set", "n=30", columns=50)
    seen = game.until("human> ")
    assert "\n" + "." * 30 + "\n" in seen
    game.resize(120, 40)
    game.type("board")
    game.until("\n" + ". " * 29 + ".\n")  # not up to the prompt, because a resize may show it once more
    game.type("quit")
    assert game.end() == 0


def test_the_result_has_the_returns_of_a_game_that_is_not_zero_sum() -> None:
    """Two players that always cooperate get the reward R = 3 in each turn (Axelrod, 1980)."""
    ended = CliRunner().invoke(cli, ["play", "prisoners-dilemma", "tit-for-tat", "always", "--set", "turns=3"])
    assert "a draw (3, 3), after 6 moves" in ended.stdout, ended.output


def test_undo_repeats_the_same_chance_outcomes() -> None:
    """Outcomes of chance are shown, and the same ones follow after an undo. A person sees only the observation of the seat."""
    plugin = str(Path(__file__).parents[2] / "core" / "match" / "chancy.py")
    first = CliRunner().invoke(
        cli, ["play", "race", "human", "random", "--plugin", plugin, "--seed", "3"], input="throw\nundo\nthrow\nquit\n"
    )
    before, _, after = first.stdout.partition("back after move 0")
    thrown = [re.findall(r"chance: (\d)", part) for part in (before, after)]
    assert thrown[0] == thrown[1] != []
    cards = CliRunner().invoke(
        cli, ["play", "two-cards", "random", "human", "--plugin", plugin, "--seed", "3"], input="pass\nbet\n"
    )
    assert re.search(r"\('\?[JQK]', '[pb]'\)", cards.stdout)
    assert not re.search(r"\('[JQK]{2}', '[pb]?'\)", cards.stdout)


@pytest.mark.parametrize("words", [[], ["--limits", "nodes=10"], ["--nodes", "10"]])
def test_only_default_limits_come_with_the_advice_to_change_them(here: Run, words: list[str]) -> None:
    shown = " ".join(here("play", "tic-tac-toe", "random", "random", *words).stdout.split())
    assert (" use --limits to change this" in shown) is not bool(words)
    assert " nodes" in shown
