"""`arena` without a command shows a menu on a terminal and the help elsewhere. The commands that the menu shows have the
same effect.
"""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Open = Callable[..., Any]
Run = Callable[..., Any]


def last_command(text: str) -> list[str]:
    """Return the words, without `arena`, of the last command that was shown."""
    return shlex.split(re.findall(r"^\$ arena (.*)$", text, re.MULTILINE)[-1])


def test_without_a_terminal_the_help_is_printed(here: Run) -> None:
    """The exit code is 2, as for any call without a command."""
    done = here()
    assert done.returncode == 2
    assert "Usage:" in done.stdout + done.stderr
    assert "choice>" not in done.stdout


@pytest.mark.parametrize("keys", ["\x04", "g\n\x04", "a\nquit\n", "s\n3\nq\n"])
def test_q_and_ctrl_d_exit_at_every_prompt(terminal: Open, keys: str) -> None:
    """The exit code is 0, and no traceback is shown."""
    menu = terminal()
    for key in re.findall(r"\x04|[^\n\x04]+", keys):
        menu.until("> ")
        menu.press(key if key == "\x04" else f"{key}\n")
    assert menu.end() == 0
    assert "Traceback" not in menu.seen


def test_ctrl_c_in_the_menu_exits_with_130(terminal: Open) -> None:
    menu = terminal()
    menu.until("choice> ")
    assert menu.interrupt() == 130
    assert "Traceback" not in menu.seen


def test_a_puzzle_can_be_configured_and_watched_in_the_menu(terminal: Open, here: Run) -> None:
    """The test chooses sudoku with boxes of 2, another board and a-star. The command that the menu shows gives the same result
    in a pipe.
    """
    menu = terminal()
    menu.until("choice> ")
    menu.type("g")
    menu.until("puzzle or game [sliding-tiles]> ")
    menu.type("sudoku")
    menu.until("parameters> ")
    menu.type("bx=2")
    assert "bx: unknown key; did you mean 'box'?" in menu.until("parameters> ").replace("\n  ", " ")
    menu.type("box=2")
    menu.until("choice> ")
    menu.type("b")
    menu.until("board> ")
    menu.type("5")
    menu.until("choice> ")
    menu.type("a")
    menu.until("algorithm [dfs]> ")
    menu.type("alpha-beta")
    assert "expected a name or a number from 1 to" in menu.until("algorithm [dfs]> ")
    menu.type("a-star:weight=2")
    shown = menu.until("choice> ")
    assert last_command(shown) == ["solve", "sudoku", "--agent", "a-star:weight=2", "--set", "box=2", "--seed", "5", "--animate"]
    menu.type("w")
    seen = menu.until("choice> ")
    done = here(*last_command(seen[: seen.index("algorithm:")]))
    facts = re.compile(r"^(?:solved|moves|cost|nodes|solutions) .*$", re.MULTILINE)
    assert facts.findall(seen) == facts.findall(done.stdout) != []
    menu.press("\x04")
    assert menu.end() == 0


def test_a_position_is_typed_and_played_by_hand(terminal: Open) -> None:
    """An invalid position is explained and changes nothing. Leaving the game leads back to the menu."""
    menu = terminal()
    menu.until("choice> ")
    menu.type("b")
    menu.until("board> ")
    menu.type("1 2 3 / 4 5 6 / 8 7 .")
    assert "unsolvable" in menu.until("choice> ")
    menu.type("b")
    menu.until("board> ")
    menu.type("1 2 3 / 4 5 6 / 7 . 8")
    assert "1 2 3\n4 5 6\n7 . 8\n" in menu.until("choice> ")
    menu.type("p")
    menu.until("human> ")
    menu.type("8")
    assert "solved in 1 move, cost 1" in menu.until("choice> ")
    menu.type("p")
    menu.until("human> ")
    menu.type("quit")
    menu.until("choice> ")
    menu.type("x")
    assert "expected one of g, b, a, w, p, s, q, got 'x'" in menu.until("choice> ")
    menu.type("q")
    assert menu.end() == 0


def test_statistics_come_from_a_tournament_whose_spec_is_printed(terminal: Open, here: Run, tmp_path: Path) -> None:
    """The menu's spec, saved and run, gives the same table. A-star solves every 8-puzzle."""
    menu = terminal(columns=120)
    menu.until("choice> ")
    menu.type("s")
    menu.until("> ")
    menu.type("many")
    assert "expected a number from 1 to 10000, got 'many'" in menu.until("choice> ")
    menu.type("s")
    menu.until("> ")
    menu.type("3")
    menu.until("> ")
    menu.type("a-star random nobody")
    assert "nobody: unknown agent 'nobody'" in menu.until("choice> ")
    menu.type("s")
    menu.until("> ")
    menu.type("3")
    menu.until("> ")
    menu.type("a-star greedy")
    seen = menu.until("choice> ")
    spec = re.search(r"cat > (\S+) <<'END'\n(.*?)^END$", seen, re.DOTALL | re.MULTILINE)
    assert spec is not None
    (tmp_path / spec[1]).write_text(spec[2])
    done = here(*last_command(seen[: seen.index("algorithm:")]), cwd=tmp_path)
    assert done.returncode == 0
    rows = re.compile(r"^ *\d+ (?:~ )? *(a-star|greedy) +(\d+) +(\S+)", re.MULTILINE)
    assert rows.findall(seen) == rows.findall(done.stdout)
    assert [(agent, attempts) for agent, attempts, _ in rows.findall(seen)] == [("a-star", "3"), ("greedy", "3")]
    assert rows.findall(seen)[0][2].startswith("100")
    menu.type("q")
    assert menu.end() == 0


def test_two_agents_can_be_watched_in_the_menu(terminal: Open) -> None:
    """The command names both chosen agents."""
    menu = terminal(columns=40)
    menu.until("choice> ")
    menu.type("g")
    menu.until("> ")
    menu.type("tic-tac-toe")
    menu.until("parameters> ")
    menu.type("rows=2")
    menu.until("choice> ")
    menu.type("a")
    menu.until("agent in seat 1 [alpha-beta]> ")
    menu.type("")
    menu.until("agent in seat 2 [random]> ")
    menu.type("alpha-beta")
    words = ["play", "tic-tac-toe", "alpha-beta", "alpha-beta", "--set", "rows=2", "--seed", "0"]
    assert last_command(menu.until("choice> ")) == words
    menu.type("w")
    assert "a draw, after 6 moves" in menu.until("choice> ")  # the second seat blocks the only two lanes
    menu.press("\x04")
    assert menu.end() == 0
    assert [line for line in menu.seen.splitlines() if len(line) >= 40 and not line.startswith("$") and "> " not in line] == []
