"""`arena play` at a terminal and between pipes: real processes, real keys."""

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
Piped = Callable[..., Any]

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


def marks(seen: str) -> dict[int, str]:
    """What was put where, from the lines that tell the moves."""
    moves = re.findall(r"^(\d)\. [\w-]+: (\d)", seen, re.MULTILINE)
    return {int(cell): "xo"[(int(number) - 1) % 2] for number, cell in moves}


def winner(cells: dict[int, str]) -> str | None:
    """Who has three in a row."""
    rows = ["".join([cells.get(cell, ".") for cell in line]) for line in LINES]
    return next((row[0] for row in rows if row in ("xxx", "ooo")), None)


@pytest.mark.parametrize(("seat", "seed"), [(0, 1), (1, 4)])
def test_nobody_beats_alpha_beta_at_tic_tac_toe(terminal: Open, seat: int, seed: int) -> None:
    """A person moves at random, in either seat: the game's value is a draw, so alpha-beta never loses; the board says who won."""
    rng = random.Random(seed)
    game = terminal("play", "tic-tac-toe", *(["human"] if seat == 0 else ["alpha-beta", "human"]))
    while game.asks("human> "):
        free = [cell for cell in range(1, 10) if cell not in marks(game.seen)]
        game.type(str(rng.choice(free)))
    assert game.end() == 0
    won = winner(marks(game.seen))
    assert won != "xo"[seat]
    expected = "a draw, after 9 moves" if won is None else "alpha-beta wins, after"
    assert game.seen.splitlines()[-1].startswith(expected)


def test_moves_are_taken_back_to_the_last_decision_of_the_person(terminal: Open, agents: str) -> None:
    """The agent begins anew: the n-th free cell at its n-th move, counted from when it was made."""
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


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_an_agent_made_anew_knows_the_moves_so_far(piped: Piped, agents: str, isolation: str) -> None:
    """After a move is taken back it plays on from there: the first free cell, since it is its first move."""
    word = f"counter:isolation={isolation}"
    done = piped("play", "tic-tac-toe", "human", word, "--plugin", agents, typed="5\n9\nundo\n2\n3\n")
    moves = re.findall(r"^(\d)\. \S+: (\d)", done.stdout, re.MULTILINE)
    assert moves[:4] == [("1", "5"), ("2", "1"), ("3", "9"), ("4", "3")]
    assert moves[4:6] == [("3", "2"), ("4", "3")]
    assert done.returncode == 0


def test_ctrl_d_leaves_with_0_and_ctrl_c_with_130(terminal: Open) -> None:
    """Both with a word, and without a traceback."""
    game = terminal("play", "connect-four")
    game.until("human> ")
    game.press("\x04")
    assert game.end() == 0
    assert game.seen.endswith("left after 0 moves\n")
    other = terminal("play", "connect-four")
    other.until("human> ")
    assert other.interrupt() == 130
    assert other.seen.endswith("interrupted\n")
    assert "Traceback" not in other.seen


def test_ctrl_c_reaches_an_agent_that_thinks(terminal: Open) -> None:
    """Alpha-beta without a limit would search connect four for years."""
    game = terminal("play", "connect-four", "alpha-beta", "random", "--limits", "none")
    game.until("1 2 3 4 5 6 7\n")
    assert game.interrupt() == 130


def test_wrong_moves_say_what_was_expected(piped: Piped) -> None:
    """The game's own words, and the commands that may have been meant; then the game goes on."""
    done = piped("play", "connect-four", "human", "human", typed="9\nundoo\n\n#9\n#2\nquit now\n:quit\n")
    assert done.returncode == 0
    assert re.search(r"expected (a column|one of)[^;]*, got '9'", done.stdout), done.stdout
    assert "did you mean 'undo'?" in done.stdout
    assert "expected a number from 1 to 7, got 9" in done.stdout
    assert "1. human (seat 1): 2" in done.stdout
    assert done.stdout.endswith("left after 1 move\n")


def test_a_number_of_the_list_is_a_move_where_the_notation_has_no_numbers(piped: Piped) -> None:
    """Othello begins with d3, c4, f5 or e6, which the rules fix; the list is by square."""
    done = piped("play", "othello", "human", "human", typed="?\n3\n:quit\n")
    assert "1) d3  2) c4  3) f5  4) e6" in done.stdout
    assert "1. human (seat 1): f5" in done.stdout


def test_hints_come_from_an_agent_and_are_right(piped: Piped) -> None:
    """x can win with 3; the solver of the puzzle needs the two slides that it takes."""
    won = piped(
        "play", "tic-tac-toe", "--position", "xx./oo./...", typed="hint\nhint minimax\nhint nobody\nhint bfs\nhint human\n"
    )
    assert won.stdout.count("hint: 3 (") == 2
    assert "no hint: " in won.stdout
    assert "unknown agent 'nobody'" in won.stdout
    assert "bfs cannot play tic-tac-toe" in won.stdout.replace("\n  ", " ")
    puzzle = piped("play", "sliding-tiles", "--position", "1 2 3 / 4 . 5 / 7 8 6", typed="hint\n5\nhint bfs\n6\n")
    assert "hint: 5 (a-star solves it in 2 moves" in puzzle.stdout
    assert "hint: 6 (bfs solves it in 1 move" in puzzle.stdout
    assert puzzle.stdout.endswith("solved in 2 moves, cost 2\n")


def test_eval_is_the_heuristic_of_every_seat(piped: Piped) -> None:
    """Three lanes are open to x in the middle, two to o in the corner, a tenth each; one slide from home Manhattan is 1."""
    done = piped("play", "tic-tac-toe", "human", "human", "--position", "o../.x./...", typed="eval\n")
    assert "open-lanes: human (seat 1) +0.1, human (seat 2) -0.1" in done.stdout
    near = piped("play", "sliding-tiles", "--position", "1 2 3 / 4 5 6 / 7 . 8", "--heuristic", "manhattan", typed="eval\n")
    assert "manhattan: 1 to go" in near.stdout


def test_an_agent_that_fails_is_named_and_loses(piped: Piped, agents: str) -> None:
    """With the line of its author; a decision is not asked for again."""
    done = piped("play", "tic-tac-toe", "human", "fragile", "--plugin", agents, typed="5\n9\n")
    text = "".join(done.stdout.split())  # lines are wrapped, also within a path
    assert done.returncode == 0
    line = AGENTS.splitlines().index('            raise ZeroDivisionError("in its second move")') + 1
    said = f"fragile has lost: an exception: ZeroDivisionError: in its second move ({agents}:{line})"
    assert "".join(said.split()) in text
    assert done.stdout.endswith("human wins\n")


def test_a_game_that_fails_is_no_crash(piped: Piped, tmp_path: Path) -> None:
    """Exit code 1, as for a void match; and a move called quit is a move, `:quit` the command."""
    file = tmp_path / "games.py"
    file.write_text(GAMES)
    done = piped("play", "broken", "human", "human", "--plugin", str(file), typed="quit\ngo\n")
    assert done.returncode == 1
    assert "1. human (seat 1): quit" in done.stdout
    assert "the game itself is at fault: RuntimeError: no rule for this" in done.stdout
    assert "Traceback" not in done.stderr
    left = piped("play", "broken", "human", "human", "--plugin", str(file), typed=":quit\n")
    assert left.returncode == 0
    assert left.stdout.endswith("left after 0 moves\n")


def test_two_agents_are_watched_with_a_pause(terminal: Open) -> None:
    """No agent can win before the fifth move, so there are at least five pauses of 0.1 s."""
    began = time.monotonic()
    game = terminal("play", "tic-tac-toe", "greedy", "random", "--delay", "0.1")
    assert game.end() == 0
    assert "5. greedy:" in game.seen
    assert time.monotonic() - began > 0.5


def test_what_an_agent_prints_stays_out_of_the_result(piped: Piped, agents: str) -> None:
    """It goes to stderr."""
    done = piped("play", "tic-tac-toe", "loud", "loud", "--plugin", agents)
    assert done.returncode == 0
    assert "loud (seat 1) wins, after 7 moves" in done.stdout  # first free cells: x 1 3 5 7
    assert "thinking aloud" not in done.stdout
    assert "thinking aloud" in done.stderr


def test_without_a_terminal_there_is_no_colour_and_no_cursor(piped: Piped) -> None:
    """Plain text; every line of a board ends where it ends."""
    done = piped("play", "sliding-tiles", "a-star", "--set", "shuffle=3", "--delay", "9")
    assert "\x1b" not in done.stdout + done.stderr
    assert done.returncode == 0


def test_no_color_is_respected(terminal: Open) -> None:
    """Colour on a terminal, none with NO_COLOR, nothing at all on a dumb one."""
    plain = {"NO_COLOR": "1"}
    for surroundings, coloured in (({}, True), (plain, False), ({"TERM": "dumb"}, False)):
        game = terminal("play", "tic-tac-toe", "random", "random", "--delay", "0", **surroundings)
        assert game.end() == 0
        assert ("\x1b[1m" in game.raw) == coloured
        assert ("\x1b" in game.raw) == coloured


def test_forty_columns_are_enough(terminal: Open) -> None:
    """No line of text is longer, in the help, the list and a complaint."""
    game = terminal("play", "sudoku", "--set", "box=2", columns=40)
    for line in ("help", "?", "nonsense", "hint", "eval"):
        game.until("human> ")
        game.type(line)
    game.until("human> ")
    game.press("\x04")
    assert game.end() == 0
    assert max(map(len, game.seen.splitlines())) < 40


def test_history_and_completion_by_readline(terminal: Open) -> None:
    """The arrow brings the last line back, the Tab key completes a command."""
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


def test_a_puzzle_is_played_and_a_dead_end_left(piped: Piped) -> None:
    """Four queens from row 1: the second on 3 leaves no row for the third; taken back, 2 4 1 3 solves it."""
    done = piped("play", "n-queens", "--set", "n=4", typed="1\n3\n2\nundo\nundo\n2\n4\n1\n3\n")
    assert "no move is left, and the puzzle is not solved: type undo or quit" in done.stdout
    assert "no move is left; type undo or quit" in done.stdout
    assert done.stdout.endswith("solved in 4 moves, cost 4\n")
    assert done.returncode == 0


@pytest.mark.unit
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
def test_a_call_that_cannot_be_says_why(words: list[str], said: str) -> None:
    """In the words of the call instead of those of a spec."""
    with pytest.raises(ArenaError) as refused:
        cli.main(["play", *words], standalone_mode=False)
    assert said in str(refused.value)
    assert "<spec>" not in str(refused.value)


def test_repeated_limits_are_combined() -> None:
    """In every command that has them, like `--set`."""
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


def test_a_call_that_cannot_be_ends_with_2(piped: Piped) -> None:
    """Nothing on stdout, every fault on stderr, no traceback."""
    done = piped("play", "tic-tac-toe", "lookahead:dpeth=2", "--set", "rows=0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "dpeth" in done.stderr
    assert "--set rows" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wide_board_is_played_without_its_spaces(terminal: Open) -> None:
    """30 columns with spaces are 59, which 50 have no room for; a terminal that is made wider has the spaces again."""
    game = terminal("play", "n-queens", "--set", "n=30", columns=50)
    seen = game.until("human> ")
    assert "\n" + "." * 30 + "\n" in seen
    game.resize(120, 40)
    game.type("board")
    game.until("\n" + ". " * 29 + ".\n")  # and not up to the prompt, which a resize may show once more
    game.type("quit")
    assert game.end() == 0


@pytest.mark.unit
def test_the_result_has_the_returns_of_a_game_that_is_not_zero_sum() -> None:
    """Two that always cooperate get the reward R = 3 in every turn, by the payoffs of Axelrod (1980)."""
    ended = CliRunner().invoke(cli, ["play", "prisoners-dilemma", "tit-for-tat", "always", "--set", "turns=3"])
    assert "a draw (3, 3), after 6 moves" in ended.stdout, ended.output


@pytest.mark.unit
def test_chance_is_told_and_undo_does_not_deal_anew() -> None:
    """The same throws come after a move was taken back, and a person sees what he observes until the end."""
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
