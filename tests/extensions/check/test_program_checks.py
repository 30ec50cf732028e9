"""`arena check ./program`: each promise of the protocol is broken once by a program, and found."""

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import Limits, Record, load_plugins
from arena.api.match import play_match
from arena.api.spec import load_spec
from arena.testing import Verdict
from arena_check.agent_checks import NODES
from arena_check.check_program import ProgramRun, check_program
from arena_check.program_checks import CHECKS, greeting_verdicts, program_of, program_seat, program_verdicts

pytestmark = pytest.mark.process

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

PLANNER = """
from arena import Agent, hookimpl

class Planner(Agent):
    name = "planner"
    def choose(self, game, state, search):
        first = game.actions(state)[0]
        for _ in range(NODES):
            game.result(state, first)
        return first

@hookimpl
def arena_agents():
    return [Planner]
"""
"""An agent that plays the first free cell after a number of states, and reports nothing."""

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


def test_a_correct_program_passes_all_checks(words: Words) -> None:
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
        ("lingers", "quits", "it continues"),
    ],
)
def test_faults_of_a_program_at_its_start_and_end_are_found(fault: str, name: str, got: str, words: Words) -> None:
    """The faults are a text instead of the message hello, an unknown version, missing abilities, and a process that does not
    end.
    """
    verdicts = list(greeting_verdicts(program_of(words(fault)), patience=0.5 if fault == "lingers" else 60.0))
    said = fault_of(verdicts, name)[1]
    assert said == got or (fault == "mute" and "expected a line of JSON, got 'welcome'" in said)  # whichever comes first


@pytest.mark.parametrize(
    ("fault", "name", "expected", "got"),
    [
        ("deaf", "ready", "ready", "crash: expected a message of type ready or failed, got 'begun'"),
        ("stubborn", "plays", "an ending without a fault", "illegal-action: expected one of ["),
        ("hung", "plays", "an ending without a fault", "timeout: a decision took longer than its limit of 0.5 s"),
        ("random", "repeats", ", as in the first match", ""),
        ("counts", "repeats", ", as in the first match", ""),
        ("slow", "limits", "an ending without a fault", "timeout: a decision took longer than its limit of 1 s"),
        ("wasteful", "limits", f"at most {NODES} nodes", "1,000,000 reported"),
    ],
)
def test_faults_of_a_program_during_play_are_found(
    fault: str, name: str, expected: str, got: str, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each fault is found by its own check, which shows the answer. Later checks are not reached."""
    if fault == "wasteful":  # it loses by its nodes alone
        monkeypatch.setattr("arena_check.program_checks.LIMITS", (Limits(seconds=60), Limits(nodes=NODES)))
    patience = 0.5 if fault == "hung" else 60.0
    game = load_plugins().game("tic-tac-toe")()
    verdicts = list(program_verdicts(program_seat(program_of(words(fault))), game, patience=patience))
    wanted, came = fault_of(verdicts, name)
    assert wanted.endswith(expected)
    assert came.startswith(got)
    order = list(CHECKS)
    assert [verdict.reached for verdict in verdicts] == [order.index(verdict.check) <= order.index(name) for verdict in verdicts]


def test_a_check_never_replaces_moves_of_an_agent_without_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent needs one node more than the default limit of the checks. The user did not set this limit, so all moves are the
    agent's own.
    """
    records: list[Record] = []

    def keep(*given: Any, **more: Any) -> Record:
        records.append(play_match(*given, **more))
        return records[-1]

    monkeypatch.setattr("arena_check.program_checks.play_match", keep)
    file = tmp_path / "planner.py"
    file.write_text(PLANNER.replace("NODES", str(NODES + 1)))
    keys: dict[str, Any] = {"game": "tic-tac-toe", "agents": ["planner", "random"], "isolation": "process"}
    seat = load_spec({**keys, "limits": {"depth": 3}}, plugins=(str(file),)).boards[0].seats[0]
    verdicts = list(program_verdicts(seat, load_plugins().game("tic-tac-toe")(), limits=[seat.limits], matches=1))
    assert [verdict.kept and verdict.reached for verdict in verdicts] == [True] * len(CHECKS)
    own = [decision.nodes for record in records for decision in record.decisions if decision.seat == 0]
    assert (sum(record.fallbacks for record in records), {*own}) == (0, {NODES + 1})


def run_program(command: list[str], seed: int) -> tuple[bool, str]:
    """Check a program on three games that the user has not named. Return whether it passes, and the report."""
    out = io.StringIO()
    run = ProgramRun("./program", program_of(command), "arena check ./program", seed, 2, 5.0, out)
    registry = load_plugins()
    games = [registry.game(name)() for name in ("kuhn-poker", "othello", "tic-tac-toe")]
    return run.passes(games, named=False), out.getvalue()


def test_the_games_that_a_program_can_play_are_found(words: Words) -> None:
    """A game that the program refuses is named with the reason, and is not a fault."""
    passed, told = run_program(words("none"), 0)
    assert passed, told
    assert "  ok      tic-tac-toe: ready, plays, repeats, limits\n" in told
    assert "  -       othello: not played: exception: knows tic-tac-toe alone\n" in told
    refusal = (
        r"^  -       kuhn-poker: not played: .*kuhn-poker has hidden-information, which this program does not support; "
        r'.* list "observe" in `can`'
    )
    assert re.search(refusal, told, re.MULTILINE)


def test_the_fault_of_a_program_that_plays_no_game_is_shown(words: Words) -> None:
    """The report gives the fault of the longest match, and the command that repeats it."""
    passed, told = run_program(words("stubborn"), 3)
    assert not passed
    shown = told[told.index("FAILED") :]
    assert shown.startswith(
        "FAILED  tic-tac-toe, plays: must play without a fault\n          position: .../.../...\n          actions: "
    )
    assert shown.endswith("see it again: arena check ./program\n")


def test_a_requested_game_must_pass_all_checks(words: Words, capsys: pytest.CaptureFixture[str]) -> None:
    """It is a fault if the program does not know the game."""
    command = words("none")
    how: dict[str, Any] = {"again": "arena check cells", "seed": 0, "matches": 1, "patience": 5.0}
    assert check_program("cells", command, (), ["tic-tac-toe"], **how) == 0
    assert check_program("cells", command, (), ["othello"], **how) == 1
    told = capsys.readouterr().out
    assert "FAILED  othello, ready: must answer `start` with `ready`\n" in told
    assert "got: exception: knows tic-tac-toe alone\n" in told
    assert told.endswith("see it again: arena check cells\n")
