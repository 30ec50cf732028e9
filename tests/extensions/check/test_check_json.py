"""`arena check --format json`: a line for each thing, with the results that the text has, and the same exit codes."""

import json
from pathlib import Path

import click
import pytest

from arena.cli import cli
from arena.errors import ArenaError
from tests.conftest import arena_in
from tests.extensions.check.conftest import Inside

pytestmark = pytest.mark.process

AGENT = """
from arena import Agent, hookimpl

class Mine(Agent):
    name = "mine"

    def choose(self, game, state, search):
        {body}

@hookimpl
def arena_agents():
    return [Mine]
"""
GOOD = "return search.rng.choice(game.actions(state))"


def test_an_agent_that_ends_the_process_has_a_line_in_the_output(tmp_path: Path) -> None:
    """The parent process writes this line."""
    (tmp_path / "mine.py").write_text(AGENT.format(body="import os; os._exit(3)"))
    done = arena_in(tmp_path)("check", "mine.py", "--game", "tic-tac-toe", "--matches", "1", "--format", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["subject"], found["passed"]) == (1, "agent mine", False)
    assert "mine.py:" in found["source"]
    assert any("ended the process (code 3)" in one["text"] for one in found["results"] if one["status"] == "failed"), found


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [(GOOD, 0, "tic-tac-toe: "), ("return 99", 1, "expected: ")],
)
def test_every_checked_agent_has_a_line_in_the_output(tmp_path: Path, inside: Inside, body: str, code: int, text: str) -> None:
    (tmp_path / "mine.py").write_text(AGENT.format(body=body))
    done = inside("check", "mine.py", "--game", "tic-tac-toe", "--matches", "1", "--format", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["subject"], found["passed"]) == (code, "agent mine", code == 0)
    assert "mine.py:" in found["source"]
    assert any(text in one["text"] for one in found["results"] if one["status"] == ("failed" if code else "ok")), found


def test_json_output_of_try_includes_the_leaderboard(tmp_path: Path, inside: Inside) -> None:
    """The board comes after the checks. A random agent is behind the searches, and a broken agent is on no board."""
    (tmp_path / "mine.py").write_text(AGENT.format(body=GOOD))
    done = inside("try", "mine.py", "--game", "tic-tac-toe", "--format", "json")
    checked, board = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, checked["passed"], board["game"], board["agent"]) == (0, True, "tic-tac-toe", "mine")
    assert board["row"]["agent"] == "mine"
    assert 1 < board["row"]["rank"] <= board["entries"]
    (tmp_path / "mine.py").write_text(AGENT.format(body="return 99"))
    done = inside("try", "mine.py", "--game", "tic-tac-toe", "--format", "json")
    [checked] = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, checked["passed"]) == (1, False)


def test_a_program_is_reported_as_one_item(tmp_path: Path, inside: Inside) -> None:
    """A program that writes nothing fails at its first message."""
    program = tmp_path / "silent.sh"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    done = inside("check", "./silent.sh", "--game", "tic-tac-toe", "--format", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["subject"], found["passed"]) == (1, "program ./silent.sh", False)


def test_json_output_is_refused_for_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((click.UsageError, ArenaError), match="--format json is for plugins"):
        cli(["check", "nim", "--format", "json", "--watch"], standalone_mode=False)
