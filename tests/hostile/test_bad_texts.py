"""Texts that control a terminal or reverse text, and endless files."""

import os
from pathlib import Path

import pytest

from arena import run
from tests.conftest import Arena

LOUD = """
import os, sys, time
from arena import Agent, hookimpl

class Loud(Agent):
    name = "loud"

    def choose(self, game, state, search):
        print("\\x1b]0;owned\\x07\\x1b[2J\\r\\u009b31m über\\u202e", file=sys.stderr, flush=True)
        for part in (b"\\xc2", b"\\x9b2J\\n"):  # one letter in two pieces
            os.write(2, part)
            time.sleep(0.05)
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Loud]
"""


@pytest.mark.promise(hole="text", isolation="process")
def test_output_of_an_agent_cannot_control_the_terminal(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    (tmp_path / "s.yaml").write_text(
        "game: tic-tac-toe\nrounds: 1\nisolation: process\nagents: [loud, random]\nplugins: [loud.py]\n"
    )
    done = arena("run", "s.yaml", "--no-store", "--quiet")
    assert r"loud: \x1b]0;owned\x07\x1b[2J\r\x9b31m über\u202e" in done.stderr
    assert r"loud: \x9b2J" in done.stderr
    assert not [letter for letter in done.stderr if not letter.isprintable() and letter != "\n"]


FALLS = """
from arena import Agent, hookimpl

class Faller(Agent):
    name = "faller"

    def choose(self, game, state, search):
        raise RuntimeError("\\x1b[2J\\x9b\\ud800 \\u202eüber\\u2066")

@hookimpl
def arena_agents():
    return [Faller]
"""


@pytest.mark.promise(hole="text", isolation="any")
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_exceptions_of_an_agent_are_recorded_as_plain_text(isolation: str, tmp_path: Path) -> None:
    """Control characters, and characters that reverse text, are removed."""
    (tmp_path / "mine.py").write_text(FALLS)
    agents = [{"agent": "faller", "isolation": isolation}, "random"]
    results = run({"game": "tic-tac-toe", "rounds": 1, "agents": agents, "plugins": [str(tmp_path / "mine.py")]})
    for record in results.records:
        assert r"RuntimeError: \x1b[2J\x9b\ud800 \u202eüber\u2066" in str(record.message)
        assert not [letter for letter in str(record.traceback) if not letter.isprintable() and letter != "\n"]


@pytest.mark.parametrize(
    ("place", "kind"),
    [("/dev/zero", "a device or a socket"), ("pipe", "a named pipe"), (".", "a folder")],
    ids=["zero", "pipe", "dot"],
)
def test_positions_are_not_read_from_devices_or_pipes(arena: Arena, tmp_path: Path, place: str, kind: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "s.yaml").write_text(f"game: tic-tac-toe\npositions: {place}\nagents: [random, greedy]\n")
    done = arena("validate", "s.yaml")
    assert done.returncode == 2
    assert done.stderr == f"s.yaml:2:12: positions: {place} cannot be read: it is {kind}; expected a regular file\n"


@pytest.mark.promise(hole="text", isolation="any")
def test_file_names_cannot_control_the_terminal(arena: Arena, tmp_path: Path) -> None:
    """The cases are a store in results, a store in an error, and a missing file."""
    name = "e\x1b]0;own\x07\x1b[2J"
    store = tmp_path / f"{name}.db"
    run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}, store=store)
    (tmp_path / f"{name}.yaml").write_text("game: tic-tac-toe\n")
    commands: list[tuple[object, ...]] = [
        ("validate", tmp_path / f"{name}.yaml"),
        ("matches", store),
        ("check", store),
        ("compare", store, "random", "nobody"),
        ("merge", tmp_path / f"{name}2.db", store),
        ("bundle", store, "-o", tmp_path / f"{name}.arena"),
        ("report", store, "-o", tmp_path / f"{name}.html"),
        ("dataset", store, "-o", tmp_path / name),
        ("leaderboard", tmp_path / f"{name}3.db"),
        ("run", name, name),
    ]
    for words in commands:
        done = arena(*words)
        assert not [one for one in done.stdout + done.stderr if not one.isprintable() and one not in "\t\n"], words
