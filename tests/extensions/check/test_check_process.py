"""Checks in a process of their own: whoever ends it is told, what follows hashes is found, and progress is shown."""

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
ENDS = {"os._exit(3)": "code 3", "os.kill(os.getpid(), signal.SIGKILL)": "SIGKILL"}


@pytest.mark.parametrize("end", ENDS)
def test_an_agent_that_ends_its_process_is_told(end: str, tmp_path: Path) -> None:
    """With the game, the state, and what was found before; what else the file brings is checked, on the games asked for."""
    (tmp_path / "mine.py").write_text(AGENTS.format(end=end))
    done = arena_in(tmp_path)("check", "mine.py", "--matches", "1", "--game", "tic-tac-toe", "--game", "connect-four")
    assert (done.returncode, done.stderr) == (1, "")
    start = "......./......./......./......./......./......."
    assert done.stdout.splitlines() == [
        f"agent quitter: FAILED ({tmp_path / 'mine.py'}:6)",
        "  ok      tic-tac-toe: plays, one node, repeats, purity, threads, randomness",
        f"  FAILED  connect-four, plays: choose ended the process ({ENDS[end]})",
        f"          position: {start}",
        f"          asked at: {start}",
        f"          written at: choose ({tmp_path / 'mine.py'}:11)",
        "          see it again: arena check mine.py --seed 0 --matches 1 --game tic-tac-toe --game connect-four",
        "agent sound: ok",
        "  ok      tic-tac-toe: plays, one node, repeats, purity, threads, randomness",
        "  ok      connect-four: plays, one node, repeats, purity, threads, randomness",
    ]


def test_try_does_not_end_without_a_word(tmp_path: Path) -> None:
    """It is the check before it that tells; on a game where nothing is wrong it plays."""
    (tmp_path / "mine.py").write_text(AGENTS.format(end="os._exit(3)"))
    done = arena_in(tmp_path)("try", "mine.py", "--game", "connect-four")
    assert done.returncode == 1
    assert "  FAILED  connect-four, plays: choose ended the process (code 3)\n" in done.stdout


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("result", "result of 1 ended the process (code 4)"),
        ("returns", "returns ended the process (code 4)"),
    ],
)
def test_a_game_that_ends_its_process_is_told(where: str, said: str, tmp_path: Path) -> None:
    """With the method."""
    text = (
        "import os\nfrom arena import hookimpl\nfrom arena_games.tic_tac_toe import TicTacToe\n"
        f"class Gone(TicTacToe):\n    name = 'gone'\n    def {where}(self, *given): os._exit(4)\n"
        "    def actions(self, state): return super().actions(state)[:1]\n"
        "@hookimpl\ndef arena_games(): return [Gone]\n"
    )
    (tmp_path / "gone.py").write_text(text)
    done = arena_in(tmp_path)("check", "gone.py", "--matches", "1")
    assert (done.returncode, done.stderr) == (1, "")
    assert f": {said}\n" in done.stdout


def test_a_plugin_that_ends_the_process_while_it_is_loaded_is_told(tmp_path: Path) -> None:
    (tmp_path / "gone.py").write_text("import os\nos._exit(5)\n")
    done = arena_in(tmp_path)("check", "gone.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "its process ended with code 5 outside of any check" in done.stderr


HASHED = """
from arena import Agent, hookimpl
from arena_games.tic_tac_toe import TicTacToe


class Hashed(Agent):
    "Takes what comes first in a set of texts."
    name = "hashed"
    needs = frozenset({{"two-player"}})

    def choose(self, game, state, search):
        texts = {{game.format_action(state, action): action for action in game.actions(state)}}
        return texts[{first}]


class Shuffled(TicTacToe):
    "Tic-tac-toe with actions in the order of a set."
    name = "shuffled"
    default_heuristic = None

    def actions(self, state):
        texts = {{self.format_action(state, action): action for action in super().actions(state)}}
        return [texts[text] for text in {order}]


@hookimpl
def arena_agents():
    return [Hashed]


@hookimpl
def arena_games():
    return [Shuffled]
"""


@pytest.mark.parametrize(
    ("first", "order", "fine"),
    [
        ("next(iter(set(texts)))", "sorted(texts)", False),
        ("min(texts, key=hash)", "sorted(texts)", False),
        ("min(texts)", "set(texts)", False),
        ("min(texts)", "sorted(texts)", True),
    ],
)
def test_what_follows_the_hash_of_a_text_is_found(first: str, order: str, fine: bool, tmp_path: Path) -> None:
    """Within a process it always comes out the same: a second one with other hashes tells it."""
    (tmp_path / "mine.py").write_text(HASHED.format(first=first, order=order))
    done = arena_in(tmp_path)("check", "mine.py", "--matches", "4", "--game", "tic-tac-toe", PYTHONHASHSEED="0")
    assert (done.returncode, done.stderr) == (0 if fine else 1, "")
    told = [line for line in done.stdout.splitlines() if line.endswith("follows the order of a set, or the hash of a text")]
    where = "tic-tac-toe, repeats" if order == "sorted(texts)" else "actions"
    assert told == ([] if fine else [f"  FAILED  {where}: what is chosen follows the order of a set, or the hash of a text"])
    if not fine:
        assert re.search(r"expected: .+, as with PYTHONHASHSEED=0\n +got: .+, with PYTHONHASHSEED=1\n", done.stdout)


class Wide(TicTacToe):
    """A thousand million actions: a list of them would take 40 gigabytes."""

    name = "wide"

    def actions(self, state: Any) -> Any:
        return range(10**9)


class Generated(Wide):
    """The same, one after the other."""

    def actions(self, state: Any) -> Any:
        return (number for number in range(10**9))


class Threatened(TicTacToe):
    """Threats without an end: they may be any iterable."""

    def threats(self, state: Any, seat: int) -> Any:
        return count()


@pytest.mark.parametrize(
    ("kind", "what", "got"),
    [
        (Wide, "actions gives too many", "1,000,000,000"),
        (Generated, "actions gives a sequence", "<generator object"),
        (Threatened, "threats gives too many", "more, from count("),
    ],
)
def test_a_list_without_an_end_is_told(kind: type[Game], what: str, got: str) -> None:
    """And not awaited."""
    with pytest.raises(Violation) as caught:
        check_game(kind, matches=1)
    assert caught.value.finding.what == what
    assert caught.value.finding.got.startswith(got)


def test_a_terminal_shows_the_check_that_is_running() -> None:
    """In one line, which is erased before the result."""
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "arena", "check", "greedy", "--matches", "5", "--game", "connect-four"]
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


def test_elsewhere_each_game_gets_a_line_once_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After NOTICE_AFTER_SECONDS seconds, and no game twice."""
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


def test_a_note_outlives_its_writer_and_shorter_ones_leave_nothing_behind() -> None:
    note = SharedNote.new()
    assert note.read() == {}
    note.write({"a": "x" * 100})
    note.write({"b": "\u00fc\n"})
    assert note.read() == {"b": "\u00fc\n"}
    note.close()


def test_nothing_is_drawn_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    LiveLine(sys.stderr).show("a line")
    assert capsys.readouterr().err == ""


def test_an_agent_that_ends_the_process_of_a_try_is_told(tmp_path: Path) -> None:
    """In play, which has another budget than the check before it."""
    text = AGENTS.format(end="os._exit(3)").replace('game.name == "connect-four"', "search.limits.nodes == 200")
    (tmp_path / "mine.py").write_text(text)
    done = arena_in(tmp_path)("try", "mine.py", "--game", "tic-tac-toe")
    assert done.returncode == 1
    assert "  FAILED  tic-tac-toe, play: quitter ended the process (code 3)\n" in done.stdout
