"""`arena check ./program`: each promise of the protocol is broken once by a program, and found."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import load_plugins
from arena.testing import Verdict
from arena_check.agent_checks import NODES
from arena_check.check_program import check_program
from arena_check.program_checks import CHECKS, greeting_verdicts, program_of, program_seat, program_verdicts
from tests.conftest import Arena

PROGRAM = """
import json, random, sys, time

fault, matches, free = sys.argv[1], 0, []
if fault == "mute":
    print("welcome", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "hello", "protocol": {"newer": 3, "older": 1}.get(fault, 2)}
        answer["can"] = [] if fault == "idle" else ["choose"]
    elif message["type"] == "start":
        matches += 1
        limited, nodes = message["limits"]["seconds"] is not None, message["limits"]["nodes"]
        answer = {"type": "begun" if fault == "deaf" and matches > 1 else "ready"}
        if message["game"] != "tic-tac-toe":
            answer = {"type": "failed", "message": "knows tic-tac-toe alone"}
    elif message["type"] == "choose":
        if "position" in message:
            free = [str(cell) for cell, mark in enumerate(message["position"].replace("/", ""), 1) if mark == "."]
        free = [cell for cell in free if cell not in message["played"]]
        if fault == "slow" and limited:
            time.sleep(30)
        if fault == "hung" and len(free) < 7:
            time.sleep(30)
        choice = random.choice(free) if fault == "random" else free[matches % len(free)] if fault == "counts" else free[0]
        answer = {"type": "action", "action": "5" if fault == "stubborn" else choice}
        answer["nodes"] = 1000000 if fault == "wasteful" and len(free) < 7 else nodes or 0
        free.remove(choice)
    elif message["type"] == "quit" and fault != "lingers":
        break
    else:
        continue
    print(json.dumps(answer), flush=True)
while fault == "lingers":
    time.sleep(1)
"""

Words = Callable[[str], list[str]]


@pytest.fixture
def words(tmp_path: Path) -> Words:
    """The command of the program with a fault."""
    file = tmp_path / "cells"
    file.write_text(PROGRAM)
    return lambda fault: [sys.executable, "-I", "-S", str(file), fault]


def fault_of(verdicts: list[Verdict], name: str) -> tuple[str, str]:
    """What was expected and what came, by the one promise that is broken."""
    (broken,) = [verdict for verdict in verdicts if not verdict.kept]
    assert broken.violation is not None
    assert broken.check == name
    return broken.violation.finding.expected, broken.violation.finding.got


def test_a_sound_program_keeps_all(words: Words) -> None:
    """Every check is reached."""
    program = program_of(words("none"))
    assert [(verdict.check, verdict.kept) for verdict in greeting_verdicts(program)] == [("hello", True), ("quits", True)]
    verdicts = list(program_verdicts(program_seat(program), load_plugins().game("tic-tac-toe")()))
    assert [(verdict.check, verdict.kept, verdict.reached) for verdict in verdicts] == [(name, True, True) for name in CHECKS]


@pytest.mark.parametrize(
    ("fault", "name", "got"),
    [
        ("mute", "hello", "sent 'welcome' unasked"),
        ("newer", "hello", "hello: protocol: expected 2, got 3; `arena docs protocol` describes it"),
        ("older", "hello", "hello: protocol: expected 2, got 1; `arena docs protocol` describes it"),
        ("idle", "hello", "hello: can: expected choose, solve or both"),
        ("lingers", "quits", "it goes on"),
    ],
)
def test_what_is_wrong_with_how_it_begins_and_ends(fault: str, name: str, got: str, words: Words) -> None:
    """A text instead of hello, a version that nobody speaks, nothing that it can, a process that stays."""
    verdicts = list(greeting_verdicts(program_of(words(fault)), patience=0.5))
    said = fault_of(verdicts, name)[1]
    assert said == got or (fault == "mute" and "expected a line of JSON, got 'welcome'" in said)  # whichever comes first


@pytest.mark.parametrize(
    ("fault", "name", "expected", "got"),
    [
        ("deaf", "ready", "ready", "crash: expected a message of type ready or failed, got 'begun'"),
        ("stubborn", "plays", "an ending that is nobody's fault", "illegal-action: expected one of ["),
        ("hung", "plays", "an ending that is nobody's fault", "timeout: a decision took longer than its limit of 0.5 s"),
        ("random", "repeats", ", as the first time", ""),
        ("counts", "repeats", ", as the first time", ""),
        ("slow", "limits", "an ending that is nobody's fault", "timeout: a decision took longer than its limit of 1 s"),
        ("wasteful", "limits", f"at most {NODES} nodes", "1,000,000 reported"),
    ],
)
def test_what_is_wrong_with_how_it_plays(fault: str, name: str, expected: str, got: str, words: Words) -> None:
    """Each fault by its own check, with what came instead; what is checked after it is not reached."""
    verdicts = list(program_verdicts(program_seat(program_of(words(fault))), load_plugins().game("tic-tac-toe")(), patience=0.5))
    wanted, came = fault_of(verdicts, name)
    assert wanted.endswith(expected)
    assert came.startswith(got)
    order = list(CHECKS)
    assert [verdict.reached for verdict in verdicts] == [order.index(verdict.check) <= order.index(name) for verdict in verdicts]


def test_the_command_finds_the_games_of_a_program(words: Words, arena: Arena, tmp_path: Path) -> None:
    """Games that it refuses are named with its reason, and are no fault."""
    script = tmp_path / "program"
    script.write_text(f"#!/bin/sh\nexec {' '.join(words('none'))}\n")
    script.chmod(0o755)
    done = arena("check", "./program")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "  ok      tic-tac-toe: ready, plays, repeats, limits\n" in done.stdout
    assert "  -       othello: not played: exception: knows tic-tac-toe alone\n" in done.stdout
    told = r'^  -       kuhn-poker: not played: .* kuhn-poker has hidden-information; .* "observe" in `can`'
    assert re.search(told, done.stdout, re.MULTILINE)


def test_the_command_shows_the_fault_of_a_program_that_plays_nothing(words: Words, arena: Arena, tmp_path: Path) -> None:
    """That of the longest match, with all that shows it; exit code 1."""
    script = tmp_path / "program"
    script.write_text(f"#!/bin/sh\nexec {' '.join(words('stubborn'))}\n")
    script.chmod(0o755)
    done = arena("check", "./program", "--seed", 3)
    assert done.returncode == 1
    shown = done.stdout[done.stdout.index("FAILED") :]
    assert shown.startswith(
        "FAILED  tic-tac-toe, plays: plays without a fault\n          position: .../.../...\n          actions: "
    )
    assert shown.endswith("see it again: arena check ./program --seed 3 --matches 20\n")


def test_a_game_that_is_named_is_held_to_all_promises(words: Words, capsys: pytest.CaptureFixture[str]) -> None:
    """A game that it does not know is then a fault."""
    command = words("none")
    how: dict[str, Any] = {"again": "arena check cells", "seed": 0, "matches": 1, "patience": 5.0}
    assert check_program("cells", command, (), ["tic-tac-toe"], **how) == 0
    assert check_program("cells", command, (), ["othello"], **how) == 1
    told = capsys.readouterr().out
    assert "FAILED  othello, ready: a start is answered by ready\n" in told
    assert "got: exception: knows tic-tac-toe alone\n" in told
    assert told.endswith("see it again: arena check cells\n")
