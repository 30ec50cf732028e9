"""`arena check --watch`: a real process, real saves, a real Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
    """What has been printed when some words have come so often."""
    end = time.monotonic() + 30
    while (text := log.read_text()).count(words) < times:
        assert time.monotonic() < end, text
        time.sleep(0.05)
    return text


@pytest.mark.slow
@pytest.mark.parametrize("way", ["written", "replaced"])
def test_a_save_is_seen(way: str, tmp_path: Path) -> None:
    """A fault is told, mended, saved, and the check is green without another command; Ctrl-C ends it with 0."""
    file, log = tmp_path / "mine.py", tmp_path / "log"
    file.write_text(AGENT.replace("WHAT", "None"))
    with log.open("w") as out:
        watcher = subprocess.Popen(
            [sys.executable, "-m", "arena", "check", "mine.py", "--matches", "5", "--watch"],
            cwd=tmp_path,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        assert "agent mine: FAILED" in until(log, "Ctrl-C ends it")
        sound = AGENT.replace("WHAT", "game.actions(state)[0]")
        if way == "written":
            file.write_text(sound)
        else:  # as many editors save
            (tmp_path / "new").write_text(sound)
            (tmp_path / "new").replace(file)
        assert "agent mine: ok" in until(log, "Ctrl-C ends it", 2)
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(10) == 0
    finally:
        watcher.kill()
        watcher.wait()
