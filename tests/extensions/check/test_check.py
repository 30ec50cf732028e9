"""`arena check` on the command line: what it prints where, and with which code it ends."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena_check.check_run import where_of
from tests.eventually import DEADLINE_SECONDS
from tests.extensions.check.conftest import Inside
from tests.fork_server import run_module

SOUND = '''
import random
from arena import Agent, Game, Puzzle, heuristic, hookimpl


class Sticks(Game):
    """Take one to three from a heap; who takes the last one wins."""

    name = "sticks"
    default_heuristic = "fours"

    def initial(self, rng):
        return (rng.randint(5, 9), 0)

    def to_move(self, state):
        return state[1]

    def actions(self, state):
        return [number for number in (1, 2, 3) if number <= state[0]]

    def result(self, state, action):
        return (state[0] - action, 1 - state[1])

    def returns(self, state):
        return (1, -1) if state[1] == 1 else (-1, 1)


class Cautious(Agent):
    """Plays the first legal action."""

    name = "cautious"
    needs = frozenset({"two-player"})

    def choose(self, game, state, search):
        return game.actions(state)[0]


@heuristic("fours", game="sticks")
def fours(game, state, player=0):
    """Who faces a multiple of four loses."""
    sign = 1 if game.to_move(state) == player else -1
    return sign * (-0.9 if state[0] % 4 == 0 else 0.9)


@hookimpl
def arena_games():
    return [Sticks]


@hookimpl
def arena_agents():
    return [Cautious]


@hookimpl
def arena_heuristics():
    return [fours]
'''


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_PLAIN", "1")  # tests/extensions/compiled checks what is compiled


def check(*arguments: str, cwd: Path, command: str = "check") -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "ARENA_PLUGINS"}
    return run_module("arena", [command, *arguments], folder=cwd, environment=environment)


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return name


GAME_CHECKS = (
    "play positions states actions purity notation rules_text disguise termination returns threats pickling randomness"
    " action_space"
)


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "headline", "checks"),
    [
        (
            "tic-tac-toe",
            "game tic-tac-toe: ok",
            GAME_CHECKS + " *",
        ),
        ("hold-at", "agent hold-at: ok", "pig"),
        ("open-lanes", "heuristic tic-tac-toe open-lanes: ok", "range repeats antisymmetric randomness *"),
    ],
)
def test_a_built_in_plugin_is_checked_by_its_name(name: str, headline: str, checks: str, tmp_path: Path, inside: Inside) -> None:
    """The output contains a headline, and a line for every promise or for every game that an agent can play. The exit
    code is 0.
    """
    done = inside("check", name, "--matches", "2")
    assert (done.returncode, done.stderr) == (0, "")
    first, *lines = done.stdout.splitlines()
    assert first == headline
    compiled = ["  ok      compiled rules", "  ok      64 bits", "  -       compiled code", "  -       compiled searches"]
    expected = [f"  ok      {check.replace('_', ' ')}" for check in checks.split() if check != "*"]
    notes = [line for line in lines if line.startswith("  note")]
    defaults = "  note    tic-tac-toe was created with rows=3,columns=3,in_a_row=3; --set KEY=VALUE sets other parameters"
    assert notes == [defaults] * (name == "tic-tac-toe")
    assert [line.partition(":")[0] for line in lines if line not in notes] == expected + compiled * ("*" in checks)


@pytest.mark.process
def test_a_game_is_checked_with_the_parameters_that_are_set(inside: Inside) -> None:
    done = inside("check", "nim", "--set", "heaps=[1, 2]", "--matches", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^  note    nim was created with heaps=\[1, 2\][^;]*$", done.stdout, re.MULTILINE), done.stdout
    wrong = inside("check", "tic-tac-toe", "--set", "row=4")
    assert (wrong.returncode, wrong.stderr) == (2, "tic-tac-toe: row: unknown key; did you mean 'rows'?\n")


PAIR = """
from arena import Agent, hookimpl

class Two(Agent):
    name, needs = "two", frozenset({"two-player"})
    def choose(self, game, state, search): return game.actions(state)[0]

class Any(Agent):
    name, copes = "any", frozenset({"chance"})
    def choose(self, game, state, search): return game.actions(state)[0]

@hookimpl
def arena_agents(): return [Two, Any]
"""


@pytest.mark.process
def test_an_agent_that_the_named_game_does_not_fit_is_skipped(tmp_path: Path, inside: Inside) -> None:
    """The other agent in the file is checked and played."""
    (tmp_path / "pair.py").write_text(PAIR)
    done = inside("check", "pair.py", "--game", "2048", "--matches", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "agent two: not checked\n  -       not checked: two cannot play 2048: needs two-player" in done.stdout
    assert "agent any: ok\n  ok      2048: plays" in done.stdout
    tried = inside("try", "pair.py", "--game", "2048", "--seconds", "1")
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert "two: not played: two cannot play 2048: needs two-player" in tried.stdout
    assert "any at 2048: " in tried.stdout


@pytest.mark.process
def test_only_the_named_game_of_a_file_is_checked(tmp_path: Path, inside: Inside) -> None:
    """The agent of the file plays the named game. If another plugin has the rules, a note says how to check them."""
    write(tmp_path, "mine.py", SOUND)
    done = inside("check", "mine.py", "--game", "tic-tac-toe", "--matches", "5")
    headlines = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert (headlines, done.stderr) == (["agent cautious: ok"], "")
    done = inside("check", "mine.py", "--game", "sticks", "--matches", "5")
    headlines = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert (headlines, done.stderr) == (["game sticks: ok", "agent cautious: ok", "heuristic sticks fours: ok"], "")
    write(tmp_path, "pair.py", PAIR)
    done = inside("check", "pair.py", "--game", "sticks", "--plugin", "mine.py", "--matches", "5")
    assert done.stderr == (
        "note: the rules of sticks are not checked here; `arena check sticks --plugin mine.py --plugin pair.py` checks them\n"
    )
    again = inside("check", "sticks", "--plugin", "mine.py", "--plugin", "pair.py", "--matches", "5")
    assert "game sticks: ok" in again.stdout


CLIMB = '''
from arena import Agent, Puzzle, heuristic, hookimpl


class Climb(Puzzle):
    """Steps of one or two, which cannot be undone, up to the eighth stair."""

    name = "climb"
    default_heuristic = "stairs"

    def initial(self, rng):
        return 0

    def actions(self, state):
        return (1, 2)

    def result(self, state, action):
        return state + action

    def is_goal(self, state):
        return state == 8


@heuristic("stairs", game="climb", admissible=True)
def stairs(game, state, player=0):
    return max(0, 8 - state) / 2


class Sure(Agent):
    name = "sure"
    needs = frozenset({"single-player", "path"})
    optimal = "cost"

    def solve(self, game, state, search):
        return None


@hookimpl
def arena_games():
    return [Climb]


@hookimpl
def arena_agents():
    return [Sure]


@hookimpl
def arena_heuristics():
    return [stairs]
'''


@pytest.mark.process
def test_claims_that_cannot_be_checked_are_not_confirmed(tmp_path: Path, inside: Inside) -> None:
    """At most six states are compared with the heuristic, and the agent solves nothing. The exit code is 0, but no claim is
    reported as `ok`.
    """
    done = inside("check", write(tmp_path, "climb.py", CLIMB), "--matches", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("  -")]
    assert any(line.startswith("  -       admissible: too few to be sure: ") for line in lines)
    assert "  -       climb: optimal: not checked: no small position was solved" in lines


@pytest.mark.process
def test_everything_in_a_correct_file_is_checked(tmp_path: Path, inside: Inside) -> None:
    """The output contains a line for the game, for the agent on every game that it can play (the game of the file first), and for
    the heuristic.
    """
    done = inside("check", write(tmp_path, "mine.py", SOUND), "--matches", "5")
    assert (done.returncode, done.stderr) == (0, "")
    headlines = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert headlines == ["game sticks: ok", "agent cautious: ok", "heuristic sticks fours: ok"]
    assert "agent cautious: ok\n  ok      sticks: plays, one node, repeats, purity, threads, randomness\n" in done.stdout
    assert "  ok      tic-tac-toe: plays, one node, repeats, purity, threads, randomness" in done.stdout


@pytest.mark.process
def test_a_bug_in_a_plugin_file_is_reported_on_stdout(tmp_path: Path) -> None:
    """The message is sufficient to reproduce the failure of the game. The heuristic of the game passes, and the exit code is
    1.
    """
    broken = SOUND.replace("return (1, -1) if", 'print("noise")\n        return (1, 1) if')
    done = check(write(tmp_path, "mine.py", broken), "--seed", "7", cwd=tmp_path)
    assert done.returncode == 1
    failure = done.stdout.split("agent cautious")[0].splitlines()
    assert failure[0] == f"game sticks: FAILED ({tmp_path / 'mine.py'}:6)"
    start = next(number for number, line in enumerate(failure) if "FAILED" in line and number)
    assert failure[start] == "  FAILED  returns: returns must add up to zero"
    told = [line.strip() for line in failure[start + 1 : start + 7]]
    assert [line.partition(":")[0] for line in told] == ["position", "actions", "expected", "got", "written at", "see it again"]
    method = failure[0].rpartition(":")[0].partition("(")[2], broken.splitlines().index("    def returns(self, state):") + 1
    assert told[4] == "written at: returns ({}:{})".format(*method)
    assert told[5].startswith("see it again: arena check sticks --seed ")  # the file brings more than the game
    assert told[5].endswith(" --plugin mine.py")
    assert told[2] == "expected: 0, or zero_sum = False in the class"
    assert told[3] in ("got: 2 from [1, 1]", "got: 0 from [-1, 1]")
    assert sum("  ok  " in line for line in failure) == 10  # all the other promises are kept
    assert "heuristic sticks fours: ok" in done.stdout
    assert "noise" in done.stderr
    assert "noise" not in done.stdout


@pytest.mark.process
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(rng.randint(5, 9), 0)", "[rng.randint(5, 9), 0]"),  # states that cannot be hashed
        ("return [number for number in (1, 2, 3) if number <= state[0]]", "raise KeyError(state)"),
        ("return state[1]", "return 7"),
    ],
)
def test_the_first_fault_comes_before_the_checks_that_it_prevents(old: str, new: str, tmp_path: Path, inside: Inside) -> None:
    """The other checks are listed once, in the last line, as not made."""
    done = inside("check", write(tmp_path, "mine.py", SOUND.replace(old, new, 1)))
    assert done.returncode == 1
    lines = done.stdout.split("heuristic sticks fours")[0].split("agent cautious")[0].splitlines()
    kinds = [line[2:10].strip() for line in lines[1:] if line[2] != " "]
    assert kinds.index("FAILED") < kinds.index("-") == len(kinds) - 1
    assert lines[-1].endswith(": not checked after this failure")
    named = [line.split()[1].strip(":,") for line in lines if line.startswith(("  FAILED", "  ok  "))]
    unreached = lines[-1].removeprefix("  -       ").partition(":")[0].split(", ")
    assert len(named) + len(unreached) == len({*named, *unreached}) == 11


@pytest.mark.process
def test_agents_and_heuristics_that_break_a_promise_are_reported(tmp_path: Path, inside: Inside) -> None:
    broken = SOUND.replace("game.actions(state)[0]", "exit(0)").replace("sign * (", "2 * sign * (")
    done = inside("check", write(tmp_path, "mine.py", broken))
    assert done.returncode == 1
    headlines = [line.partition(" (")[0] for line in done.stdout.splitlines() if not line.startswith("  ")]
    summary = "2 of 3 parts failed: agent cautious, heuristic sticks fours"
    assert headlines == ["game sticks: ok", "agent cautious: FAILED", "heuristic sticks fours: FAILED", summary]
    assert "  FAILED  sticks, plays: must play without a fault" in done.stdout
    assert "must be in range" in done.stdout
    assert "SystemExit: 0" in done.stdout


@pytest.mark.process
def test_one_plugin_of_a_file_is_checked_by_its_name(tmp_path: Path, inside: Inside) -> None:
    """The option `--plugin` loads the file, and only the named game is checked."""
    done = inside("check", "sticks", "--plugin", write(tmp_path, "mine.py", SOUND))
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if not line.startswith(" ")] == ["game sticks: ok"]


def test_an_unknown_name_is_a_usage_error(tmp_path: Path, inside: Inside) -> None:
    """Stderr suggests the nearest name, and the exit code is 2."""
    done = inside("check", "tic-tac-to")
    assert (done.returncode, done.stdout) == (2, "")
    assert "tic-tac-to" in done.stderr
    assert "did you mean 'tic-tac-toe'?" in done.stderr


def test_a_file_that_cannot_be_loaded_is_a_usage_error(tmp_path: Path, inside: Inside) -> None:
    """The cases are a missing file and a file that exits while it is imported. Stderr has one line, and the exit code is 2."""
    for name in ("missing.py", write(tmp_path, "exits.py", "raise SystemExit(0)\n")):
        done = inside("check", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"plugin {name}: ")


@pytest.mark.process
def test_an_interrupt_is_not_a_fault_of_the_plugin(tmp_path: Path) -> None:
    """Ctrl-C during a method of a game ends the check with exit code 130 and no verdict. The output names the running check."""
    interrupting = SOUND.replace(
        "        return [number for", "        os.kill(os.getpid(), signal.SIGINT)\n        return [number for"
    )
    done = check(write(tmp_path, "mine.py", f"import os, signal\n{interrupting}"), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (130, "")
    place = tmp_path / "mine.py"
    line = place.read_text().splitlines().index("        os.kill(os.getpid(), signal.SIGINT)") + 1
    told = ["while checking game sticks", "sticks: play", "  position: (7, 0)", "  actions: none", f"  at: {place}:{line}"]
    assert [words for words in done.stderr.splitlines() if words] == [*told, "interrupted"]


def test_a_file_without_hooks_is_a_usage_error(tmp_path: Path, inside: Inside) -> None:
    """The message mentions the missing hook, and the exit code is 2."""
    (tmp_path / "empty.py").write_text("x = 1\n")
    done = inside("check", "empty.py")
    assert done.returncode == 2
    assert "empty.py: defines nothing for arena; expected one of the hooks arena_games" in done.stderr
    assert "program" not in done.stderr


def test_a_program_written_in_python_must_be_given_with_its_command(tmp_path: Path, inside: Inside) -> None:
    """A file whose name ends in .py is a plugin. The message gives the command for a program, which the check accepts."""
    for name, words in (("./robot.py", "python3 ./robot.py"), ("./my robot.py", "python3 './my robot.py'")):
        (tmp_path / name).write_text("#!/usr/bin/env python3\n")
        (tmp_path / name).chmod(0o755)
        done = inside("check", name)
        assert done.returncode == 2
        _, _, command = done.stderr.partition("if it is a program that speaks the protocol, write its command: ")
        assert shlex.split(command) == [words]


def test_a_game_that_needs_a_parameter_fails_with_the_reason(tmp_path: Path, inside: Inside) -> None:
    """The message names the constructor of the game, and is not an internal error."""
    (tmp_path / "needy.py").write_text(
        "from arena import hookimpl\nfrom arena_games.tic_tac_toe import TicTacToe\n"
        "class Needy(TicTacToe):\n    name = 'needy'\n"
        "    def __init__(self, *, size: int):\n        super().__init__(rows=size)\n"
        "@hookimpl\ndef arena_games():\n    return [Needy]\n"
    )
    done = inside("check", "needy.py")
    assert done.returncode == 1
    assert "FAILED" in done.stdout
    assert "size" in done.stdout
    assert "Traceback" not in done.stderr


LOOP = "while True: pass"


@pytest.mark.process
@pytest.mark.parametrize(
    ("what", "where", "subject"),
    [
        ("return game.actions(state)[0]", "Cautious.choose", "agent cautious"),
        ("return (state[0] - action, 1 - state[1])", "Sticks.result", "game sticks"),
        ("return sign * (-0.9 if state[0] % 4 == 0 else 0.9)", "fours", "heuristic sticks fours"),
    ],
)
def test_a_call_that_does_not_return_is_a_fault(what: str, where: str, subject: str, tmp_path: Path, inside: Inside) -> None:
    """The call is interrupted and reported with its line. The rest of the file is checked, and the exit code is 1."""
    file = write(tmp_path, "mine.py", SOUND.replace(what, LOOP))
    done = inside("check", file, "--patience", "0.5")
    assert done.returncode == 1, done.stderr
    line = (tmp_path / "mine.py").read_text().splitlines().index(f"    {'' if where == 'fours' else '    '}{LOOP}") + 1
    assert f": {where} does not return\n" in done.stdout
    assert "expected: an answer within 0.5 s" in done.stdout
    assert f"got: none; it was at {tmp_path / file}:{line}\n" in done.stdout
    assert "--patience 0.5" in done.stdout
    headlines = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert len(headlines) == 4, "three parts and a summary"
    assert [line for line in headlines if line.startswith(f"{subject}: FAILED")]


@pytest.mark.process
def test_a_call_that_cannot_be_interrupted_ends_the_command(tmp_path: Path) -> None:
    """The agent catches every exception again and again."""
    stubborn = (
        "while True:\n            try:\n                time.sleep(30)\n            except BaseException:\n                pass"
    )
    file = write(tmp_path, "mine.py", f"import time\n{SOUND.replace('return game.actions(state)[0]', stubborn)}")
    done = check("cautious", "--plugin", file, "--patience", "0.2", cwd=tmp_path)
    assert done.returncode == 1
    assert "Cautious.choose has not returned within 0.2 s, and catches every exception" in done.stderr


@pytest.mark.process
def test_an_interrupt_names_the_call_that_did_not_return(tmp_path: Path) -> None:
    """The user sees which call was running when Ctrl-C was pressed."""
    file = write(
        tmp_path, "mine.py", SOUND.replace("return game.actions(state)[0]", f"print('here', flush=True)\n        {LOOP}")
    )
    command = [sys.executable, "-m", "arena", "check", "cautious", "--plugin", file]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as checking:
        assert checking.stderr is not None
        assert checking.stderr.readline() == "here\n"
        checking.send_signal(signal.SIGINT)
        said = checking.stderr.read()
        assert checking.wait(DEADLINE_SECONDS) == 130
    assert "while checking agent cautious\n" in said
    assert "cautious on sticks: " in said
    assert re.search(r"asked at: \([5-9], 0\)\n", said)
    assert "mine.py:" in said
    assert said.endswith("interrupted\n")


@pytest.mark.process
@pytest.mark.parametrize(
    ("command", "started"),
    [
        ("check", "threading.Thread(target=time.sleep, args=(300,)).start()"),
        ("try", "threading.Thread(target=lambda: time.sleep(300)).start()"),
        ("check", "threading.Thread(target=lambda: [game.result(state, game.actions(state)[0]) for _ in iter(int, 1)]).start()"),
    ],
)
def test_a_thread_that_is_left_running_is_a_fault(command: str, started: str, tmp_path: Path) -> None:
    """The report names a line of the author's code, stderr contains nothing else, and the command does not wait for the
    thread.
    """
    text = SOUND.replace("return game.actions(state)[0]", f"{started}\n        return game.actions(state)[0]")
    file = write(tmp_path, "mine.py", f"import threading, time\n{text}")
    done = check(file, cwd=tmp_path, command=command)
    assert (done.returncode, done.stderr) == (1, "")
    assert ", threads: a thread continues to run after the answer" in done.stdout
    assert f"{tmp_path / file}:" in done.stdout.partition("threads: ")[2].partition("got: ")[2].splitlines()[0]


def test_the_error_in_a_long_description_is_found_quickly() -> None:
    """Quadratic time would take hours here."""
    assert where_of(f"ValueError: {':' * 1_000_000} (nim.py:25)") == "nim.py:25"
    assert where_of("1:" * 500_000 + "x") is None
