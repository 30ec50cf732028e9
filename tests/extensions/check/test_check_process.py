"""Checks in a separate process: a plugin that ends it is reported, choices that depend on hashes are found, and progress is
shown.
"""

import json
import os
import pty
import re
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from arena import Game
from arena.console.output import LiveLine
from arena.testing import check_game
from arena_check import check_process
from arena_check.check_process import CheckProgress, SharedNote
from arena_check.finding import Violation
from arena_games.tic_tac_toe import TicTacToe
from tests.conftest import arena_in

AGENTS = """
import os, signal
from arena import Agent, hookimpl


class Quitter(Agent):
    "Ends its process at connect four."
    name = "quitter"
    needs = frozenset({{"two-player"}})

    def choose(self, game, state, search):
        if game.name == "connect-four":
            {end}
        return game.actions(state)[0]


class Sound(Agent):
    "Plays the first action."
    name = "sound"
    needs = frozenset({{"two-player"}})

    def choose(self, game, state, search):
        return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [Quitter, Sound]
"""


@pytest.mark.process
def test_an_agent_that_ends_its_process_is_reported(tmp_path: Path) -> None:
    """The report gives the game, the state, and the results so far. Other agents of the file are checked on the requested
    games.
    """
    (tmp_path / "mine.py").write_text(AGENTS.format(end="os._exit(3)"))
    done = arena_in(tmp_path)("check", "mine.py", "--matches", "1", "--game", "tic-tac-toe", "--game", "connect-four")
    assert (done.returncode, done.stderr) == (1, "")
    start = "......./......./......./......./......./......."
    assert done.stdout.splitlines() == [
        f"agent quitter: FAILED ({tmp_path / 'mine.py'}:6)",
        "  ok      tic-tac-toe: plays, one node, repeats, purity, threads, randomness",
        "  FAILED  connect-four, plays: choose ended the process (code 3)",
        f"          position: {start}",
        f"          asked at: {start}",
        f"          written at: choose ({tmp_path / 'mine.py'}:11)",
        "          see it again: arena check mine.py --seed 0 --matches 1 --game tic-tac-toe --game connect-four",
        "agent sound: ok",
        "  ok      tic-tac-toe: plays, one node, repeats, purity, threads, randomness",
        "  ok      connect-four: plays, one node, repeats, purity, threads, randomness",
        "1 of 2 agents failed: quitter",
    ]


@pytest.mark.process
@pytest.mark.parametrize(
    ("method", "end", "said"),
    [
        ("result", "os._exit(4)", "result of 1 ended the process (code 4)"),
        ("returns", "os.kill(os.getpid(), 9)", "returns ended the process (SIGKILL)"),
    ],
)
def test_a_game_that_ends_its_process_is_reported(method: str, end: str, said: str, tmp_path: Path) -> None:
    """The report gives the method and the exit code or the signal."""
    text = (
        "import os\nfrom arena import hookimpl\nfrom arena_games.tic_tac_toe import TicTacToe\n"
        f"class Gone(TicTacToe):\n    name = 'gone'\n    def {method}(self, *given): {end}\n"
        "    def actions(self, state): return super().actions(state)[:1]\n"
        "@hookimpl\ndef arena_games(): return [Gone]\n"
    )
    (tmp_path / "gone.py").write_text(text)
    done = arena_in(tmp_path)("check", "gone.py", "--matches", "1")
    assert (done.returncode, done.stderr) == (1, "")
    assert f": {said}\n" in done.stdout


@pytest.mark.process
def test_a_plugin_that_ends_the_process_while_it_is_loaded_is_reported(tmp_path: Path) -> None:
    (tmp_path / "gone.py").write_text("import os\nos._exit(5)\n")
    done = arena_in(tmp_path)("check", "gone.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "its process ended with code 5 outside any check" in done.stderr


HASHED = """
from arena import Agent, hookimpl
from arena_games.tic_tac_toe import TicTacToe


class Hashed(Agent):
    "Takes what comes first in a set of texts."
    name = "hashed"
    needs = frozenset({"two-player"})

    def choose(self, game, state, search):
        texts = {game.format_action(state, action): action for action in game.actions(state)}
        return texts[next(iter(set(texts)))]


class Least(Agent):
    "Takes the least of the texts."
    name = "least"
    needs = frozenset({"two-player"})

    def choose(self, game, state, search):
        texts = {game.format_action(state, action): action for action in game.actions(state)}
        return texts[min(texts, key=hash)]


class First(Agent):
    "Takes the first text of the alphabet."
    name = "first"
    needs = frozenset({"two-player"})

    def choose(self, game, state, search):
        texts = {game.format_action(state, action): action for action in game.actions(state)}
        return texts[min(set(texts))]


class Shuffled(TicTacToe):
    "Tic-tac-toe with actions in the order of a set."
    name = "shuffled"
    default_heuristic = None

    def actions(self, state):
        texts = {self.format_action(state, action): action for action in super().actions(state)}
        return [texts[text] for text in set(texts)]


class Sorted(TicTacToe):
    "Tic-tac-toe with actions in the order of the alphabet."
    name = "sorted"
    default_heuristic = None

    def actions(self, state):
        texts = {self.format_action(state, action): action for action in super().actions(state)}
        return [texts[text] for text in sorted(set(texts))]


@hookimpl
def arena_agents():
    return [Hashed, Least, First]


@hookimpl
def arena_games():
    return [Shuffled, Sorted]
"""


@pytest.mark.process
def test_a_choice_that_depends_on_the_hash_of_a_string_is_found(tmp_path: Path) -> None:
    """Within one process, such a choice is always the same. A second process with other hashes chooses differently."""
    (tmp_path / "mine.py").write_text(HASHED)
    promise = ": the choice depends on the order of a set, or on the hash of a string"

    def check(*words: str) -> tuple[list[str], int]:
        done = arena_in(tmp_path)("check", *words, "--matches", "4", PYTHONHASHSEED="0")
        assert (done.returncode, done.stderr) == (1, "")
        told = [line for line in done.stdout.splitlines() if line.endswith(promise) or not line.startswith(" ")]
        differ = re.findall(r"expected: .+, as with PYTHONHASHSEED=0\n +got: .+, with PYTHONHASHSEED=1\n", done.stdout)
        return sorted([line.partition(" (")[0].removesuffix(promise) for line in told]), len(differ)

    agents = [
        "  FAILED  sorted, repeats",
        "  FAILED  sorted, repeats",
        "2 of 4 parts failed: agent hashed, agent least",
        "agent first: ok",
        "agent hashed: FAILED",
        "agent least: FAILED",
        "game sorted: ok",
    ]
    assert check("mine.py", "--game", "sorted") == (agents, 2)
    assert check("shuffled", "--plugin", "mine.py") == (["  FAILED  actions", "game shuffled: FAILED"], 1)


BOTH = """
import random

from arena import Agent, hookimpl


class Both(Agent):
    "Draws from the global random generator, and takes an action that depends on the hash of a string."
    name = "both"
    games = {"tic-tac-toe"}

    def choose(self, game, state, search):
        random.random()
        legal = game.actions(state)
        return legal[hash("a string") % len(legal)]


@hookimpl
def arena_agents():
    return [Both]
"""


@pytest.mark.process
def test_hashes_are_not_blamed_before_the_global_random_generator_is_excluded(tmp_path: Path) -> None:
    """The generator alone could explain that a second process chooses differently."""
    (tmp_path / "mine.py").write_text(BOTH)
    told = []
    for code in (BOTH, BOTH.replace("random.random()", "pass")):
        (tmp_path / "mine.py").write_text(code)
        done = arena_in(tmp_path)("check", "mine.py", "--matches", "4", PYTHONHASHSEED="0")
        assert done.returncode == 1
        told.append(["global random generator" in done.stdout, "hash of a string" in done.stdout])
    assert told == [[True, False], [False, True]]


SEVERAL = """
import os

from arena import Agent, hookimpl


class One(Agent):
    name = "one"

    def choose(self, game, state, search):
        return game.actions(state)[0]


class Two(One):
    name = "two"

    def choose(self, game, state, search):
        os._exit(3)


class Three(One):
    name = "three"

    def choose(self, game, state, search):
        return None


@hookimpl
def arena_agents():
    return [Two, One, Three]
"""


@pytest.mark.process
def test_the_last_line_counts_failures_over_all_processes(tmp_path: Path) -> None:
    """The agent `two` ends the first process, and a second process checks the other agents. The JSON contains a line for each
    agent.
    """
    (tmp_path / "mine.py").write_text(SEVERAL)
    words = ["check", "mine.py", "--matches", "2", "--game", "tic-tac-toe"]
    done = arena_in(tmp_path)(*words)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "2 of 3 agents failed: two, three"
    lines = [json.loads(line) for line in arena_in(tmp_path)(*words, "--format", "json").stdout.splitlines()]
    assert [line["passed"] for line in lines] == [False, True, False]


class Wide(TicTacToe):
    """A thousand million actions: a list of them would take 40 gigabytes."""

    name = "wide"

    def actions(self, state: Any) -> Any:
        return range(10**9)


class Generated(Wide):
    """The same actions, generated one by one."""

    def actions(self, state: Any) -> Any:
        return (number for number in range(10**9))


class Threatened(TicTacToe):
    """Endless threats: they may be any iterable."""

    def threats(self, state: Any, seat: int) -> Any:
        return count()


@pytest.mark.parametrize(
    ("kind", "what", "got"),
    [
        (Wide, "actions returns too many actions", "1,000,000,000"),
        (Generated, "actions must return a sequence", "<generator object"),
        (Threatened, "threats returns too many values", "more, from count("),
    ],
)
def test_an_endless_list_that_a_game_returns_is_reported(kind: type[Game], what: str, got: str) -> None:
    """The check does not wait for its end."""
    with pytest.raises(Violation) as caught:
        check_game(kind, matches=1)
    assert caught.value.finding.what == what
    assert caught.value.finding.got.startswith(got)


@pytest.mark.process
def test_a_terminal_shows_the_running_check() -> None:
    """The line is erased before the result."""
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "arena", "check", "greedy", "--matches", "1", "--game", "connect-four"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=child, env={**os.environ, "TERM": "xterm"}) as running:
        os.close(child)
        seen = b""
        try:
            while data := os.read(parent, 1 << 12):
                seen += data
        except OSError:
            pass
        assert running.stdout is not None
        assert running.stdout.read().startswith(b"agent greedy: ok\n")
    os.close(parent)
    frames = seen.decode().split("\r\x1b[K")
    assert "checking agent greedy on connect-four (1 of 1)" in frames
    assert frames[-1] == ""


def test_without_a_terminal_a_slow_game_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line is printed after NOTICE_AFTER_SECONDS seconds, once per game."""
    note = SharedNote.new()
    progress = CheckProgress(note, sys.stderr)
    progress.begin(("agent", "a"), None, None)
    progress.at("checking agent a on nim (1 of 2)", "nim")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(check_process, "NOTICE_AFTER_SECONDS", 0.0)
    for place in ("nim (1 of 2)", "nim (1 of 2)", "hex (2 of 2)"):
        progress.at(f"checking agent a on {place}", place)
    assert capsys.readouterr().err == "checking agent a on nim (1 of 2)\nchecking agent a on hex (2 of 2)\n"
    assert note.read()["game"] == "hex (2 of 2)"
    note.close()


def test_a_note_can_be_read_after_its_process_ended_and_is_replaced_completely() -> None:
    note = SharedNote.new()
    assert note.read() == {}
    note.write({"a": "x" * 100})
    note.write({"b": "\u00fc\n"})
    assert note.read() == {"b": "\u00fc\n"}
    note.close()


def test_without_a_terminal_no_progress_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    LiveLine(sys.stderr).show("a line")
    assert capsys.readouterr().err == ""


@pytest.mark.process
def test_an_agent_that_ends_the_process_of_a_trial_is_reported(tmp_path: Path) -> None:
    """The agent ends the process only during play, where its budget differs from that of the check."""
    text = AGENTS.format(end="os._exit(3)").replace('game.name == "connect-four"', "search.limits.nodes == 200")
    (tmp_path / "mine.py").write_text(text)
    done = arena_in(tmp_path)("try", "mine.py", "--game", "tic-tac-toe")
    assert done.returncode == 1
    assert "  FAILED  tic-tac-toe, play: quitter ended the process (code 3)\n" in done.stdout
