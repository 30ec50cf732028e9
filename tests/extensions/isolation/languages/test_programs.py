"""A program in another language on the command line: `arena try` and `arena play` take it as it is."""

import os
import sys
from pathlib import Path
from shlex import quote

import pytest

from tests.conftest import Arena, arena_in

FIRST = r"""#!/usr/bin/env python3
import json, sys

print("half a", end=" ", file=sys.stderr)
print("line\nand another", file=sys.stderr)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "hello", "protocol": 2, "can": ["choose"]}
    elif message["type"] == "start":
        if message["game"] != "tic-tac-toe":
            sys.exit("I know tic-tac-toe alone")
        answer = {"type": "ready"}
    elif message["type"] == "choose":
        if "position" in message:
            free = [str(cell) for cell, mark in enumerate(message["position"].replace("/", ""), 1) if mark == "."]
        free = [cell for cell in free if cell not in message["played"]]
        answer = {"type": "action", "action": free[0]}
    else:
        continue
    print(json.dumps(answer), flush=True)
"""


QUOTED = quote("node './my own'")
"""A command with a path that has a space, as one word of the shell."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    program = tmp_path / "first.rb"  # a name is a name
    program.write_text(FIRST)
    program.chmod(0o755)
    return tmp_path


@pytest.fixture
def arena(folder: Path) -> Arena:
    return arena_in(folder)


def test_a_program_is_tried_on_all_requested_games(arena: Arena) -> None:
    """The program's output on stderr is shown, and the output ends with a sentence for each game."""
    done = arena("try", "first.rb", "--game", "tic-tac-toe", "--game", "connect-four")
    assert done.returncode == 0, done.stderr
    tictactoe, four = [line for line in done.stdout.splitlines() if line.startswith("first at ")]
    assert tictactoe.startswith(
        ("first at tic-tac-toe: place ", "first at tic-tac-toe: not ranked, because there was not enough ")
    )
    assert four.startswith("first at connect-four: not ranked, because it failed in ")
    said = done.stderr.splitlines()
    assert said[:2] == ["first: half a line", "first: and another"]
    assert all(line.startswith("first: ") for line in said)


def test_a_trial_of_a_program_ends_after_three_crashes(arena: Arena) -> None:
    """The rest of the ten minutes is not used."""
    done = arena("try", "first.rb", "--game", "connect-four", "--seconds", "600")
    assert done.returncode == 0, done.stderr
    assert "first crashed 3 times, so no more games were played." in done.stdout
    assert "first at connect-four: not ranked, because it failed in 3 of 3 games" in done.stdout
    assert "It lost 3 of them by crash: its process ended with code 1." in done.stdout
    assert done.stderr.splitlines().count("first: I know tic-tac-toe alone") == 3


def test_a_program_may_be_a_command_with_arguments(arena: Arena, folder: Path) -> None:
    (folder / "first.rb").chmod(0o644)
    done = arena("play", "tic-tac-toe", f"{sys.executable} -IS first.rb", "./other", "--seed", "2")
    assert "no executable program './other' was found" in done.stderr
    done = arena("play", "tic-tac-toe", f"{sys.executable} -IS first.rb", "random", "--seed", "2")
    assert done.returncode == 0, done.stderr
    assert "1. first: 1 (" in done.stdout


def test_an_executable_file_plays_without_an_interpreter(arena: Arena) -> None:
    for word in ("first.rb", "./first.rb"):
        done = arena("play", "tic-tac-toe", word, "random")
        assert done.returncode == 0, done.stderr
        assert "1. first: 1 (" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["try", "first.rb"], "first.rb is a program; name the game that it plays, as in arena try first.rb --game tic-tac-toe"),
        (["try", "first.rb", "--game", "tick"], "unknown game 'tick'"),
        (["try", "./gone", "--game", "tic-tac-toe"], "./gone: no such file"),
        (["try", "./plain", "--game", "tic-tac-toe"], "./plain is neither a Python file nor executable; run chmod +x on it"),
        (["try", "plugin.py", "--game", "connect-four"], "--game connect-four: plugin.py has no agent, and no heuristic"),
        (["check", "./gone"], "./gone: no such file"),
        (["try", "./cup.yaml"], "./cup.yaml is a spec, and not an agent; to play it, use `arena run ./cup.yaml`"),
        (["check", "./cup.yaml"], "./cup.yaml is a spec, and not an agent; to play it, use `arena run ./cup.yaml`"),
        (["check", "./plain"], "./plain is neither a Python file nor executable; run chmod +x on it"),
        (["play", "tic-tac-toe", "random", "./plain"], "no executable program './plain' was found"),
        (["play", "tic-tac-toe", "random", "./plain"], "it exists, but is not executable: run chmod +x on it"),
        (["play", "tic-tac-toe", "random", "plugin.py"], "plugin.py is a Python file; write --plugin plugin.py"),
        (["play", "tic-tac-toe", "random", "my own.py"], "write --plugin 'my own.py' and the name of the agent in it"),
        (["try", "'./my own'", "--game", "tic-tac-toe"], f"as in arena try {QUOTED} --game tic-tac-toe;"),
        (["check", "'./my own'"], f"as in arena check {QUOTED}; `arena docs"),
        (["play", "tic-tac-toe", "random", "gone.rb"], "unknown agent 'gone.rb'"),
    ],
)
def test_an_error_message_about_a_program_explains_what_to_do(arena: Arena, folder: Path, words: list[str], told: str) -> None:
    (folder / "plain").write_text("#!/bin/sh\n")
    (folder / "cup.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy]\n")
    (folder / "plugin.py").write_text(HEURISTIC)
    done = arena(*words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


HEURISTIC = """
from arena import heuristic, hookimpl

@heuristic("nothing", game="tic-tac-toe")
def nothing(game, state, player=0):
    \"\"\"Says nothing.\"\"\"
    return 0.0

@hookimpl
def arena_heuristics():
    return [nothing]
"""


def test_long_output_without_line_breaks_is_treated_as_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    """Pieces of it are not treated as lines, and a line break is added at the end."""
    from arena_isolation.stderr import StderrRelay

    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        chatter = StderrRelay(pipe, "loud")
        for piece in (b"one ", b"two", b"\n\nthree"):
            os.write(writing, piece)
        os.close(writing)
        chatter.end(10)
    assert capfd.readouterr().err == "loud: one two\nloud: \nloud: three\n"
