"""`arena check --watch`: a real process, real saves, a real Ctrl-C."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.eventually import DEADLINE_SECONDS, eventually

pytestmark = pytest.mark.process

AGENT = """
from arena import Agent, hookimpl

class Mine(Agent):
    name = "mine"
    needs = frozenset({"two-player"})

    def choose(self, game, state, search):
        return WHAT

@hookimpl
def arena_agents():
    return [Mine]
"""


def until(log: Path, words: str, times: int = 1) -> str:
    """Wait until the words have been printed this many times, and return all output."""
    return eventually(lambda: (text := log.read_text()).count(words) >= times and text, log.read_text) or ""


def test_a_saved_file_is_checked_again(tmp_path: Path) -> None:
    """Some editors write the file, and others replace it. Ctrl-C ends the command with exit code 0."""
    file, log = tmp_path / "mine.py", tmp_path / "log"
    faulty, sound = [AGENT.replace("WHAT", choice) for choice in ("None", "game.actions(state)[0]")]
    file.write_text(faulty)
    command = ["check", "mine.py", "--matches", "1", "--game", "tic-tac-toe", "--watch"]
    with log.open("w") as out:
        watcher = subprocess.Popen(
            [sys.executable, "-m", "arena", *command],
            cwd=tmp_path,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        assert "agent mine: FAILED" in until(log, "press Ctrl-C to stop")
        file.write_text(sound)
        assert "agent mine: ok" in until(log, "press Ctrl-C to stop", 2)
        (tmp_path / "new").write_text(faulty)
        (tmp_path / "new").replace(file)
        assert until(log, "press Ctrl-C to stop", 3).count("agent mine: FAILED") == 2
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(DEADLINE_SECONDS) == 0
    finally:
        watcher.kill()
        watcher.wait()
