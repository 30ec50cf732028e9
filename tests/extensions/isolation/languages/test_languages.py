"""Agents in other languages: the examples of the manual play in tournaments, against agents that come with arena."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena.match.record import Record

pytestmark = pytest.mark.process

EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"
ALONE = [sys.executable, "-I", "-S"]
"""Python as on a machine without arena."""
Agent = dict[str, Any]
Missing = Callable[[str, str], None]


def program(label: str, *words: str, **options: Any) -> Agent:
    return {"agent": {"command": list(words)}, "label": label, **options}


@pytest.fixture
def python() -> Agent:
    """The example in Python, where arena cannot be imported."""
    assert subprocess.run([*ALONE, "-c", "import arena"], check=False, capture_output=True).returncode == 1
    return program("python", *ALONE, str(EXAMPLES / "python_agent.py"))


@pytest.fixture(scope="module")
def c(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Agent:
    """The example in C, compiled without a warning."""
    made = tmp_path_factory.mktemp("c") / "c_agent"
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run([c_compiler, *flags, "-o", str(made), str(EXAMPLES / "c_agent.c")], check=True)
    return program("c", str(made))


@pytest.fixture
def javascript(node: str) -> Agent:
    """The example in JavaScript."""
    return program("javascript", node, str(EXAMPLES / "javascript_agent.js"))


def played(game: Any, *agents: Any, **more: Any) -> tuple[Record, ...]:
    records = run({"game": game, "agents": list(agents), "rounds": 2, "seed": 11, **more}).records
    assert {(record.termination, record.message) for record in records} == {("normal", None)}
    return records


def points(records: tuple[Record, ...], label: str, other: str) -> list[float]:
    return [record.returns[record.labels.index(label)] for record in records if {label, other} == set(record.labels)]


def test_python_and_c_play_tic_tac_toe_without_a_mistake(python: Agent, c: Agent) -> None:
    """Perfect play is a draw. Neither program nor alpha-beta loses, and random play never wins."""
    records = played("tic-tac-toe", python, c, "alpha-beta", "random")
    for one, other in (("python", "c"), ("python", "alpha-beta"), ("c", "alpha-beta")):
        assert points(records, one, other) == [0.0] * 4
    for label in ("python", "c"):
        assert min(points(records, label, "random")) >= 0.0
    from_the_empty_board = [
        record.decisions[0] for record in records if record.labels[0] == "c" and record.position == ".../.../..."
    ]
    assert {(decision.nodes, decision.value) for decision in from_the_empty_board} == {(549_945, 0.0)}


def test_python_solves_puzzles_with_the_fewest_slides(python: Agent) -> None:
    """A* with an admissible heuristic needs as many slides, for either goal and on a board that is not square."""
    for game in ({"rows": 3, "columns": 3}, {"rows": 2, "columns": 4, "goal": "blank-first"}):
        records = played({"name": "sliding-tiles", **game}, python, "a-star")
        lengths = [
            {record.position: record.moves for record in records if record.labels == (label,)} for label in ("python", "a-star")
        ]
        assert len(lengths[0]) == 2
        assert lengths[0] == lengths[1]
        assert all(record.solved for record in records)


def test_the_example_programs_stop_at_the_limit_of_nodes(python: Agent, c: Agent) -> None:
    records = played("tic-tac-toe", python, c, limits={"nodes": 50})
    for label in ("python", "c"):
        nodes = [one.nodes for record in records for one in record.decisions if record.labels[one.seat] == label]
        assert max(nodes) == 50
    easy = "2 3 6/1 5 ./4 7 8"
    attempts = [
        run({"game": "sliding-tiles", "agents": [python], "positions": [easy], "limits": {"nodes": nodes}}).records[0]
        for nodes in (20, 1000)
    ]
    assert [(record.solved, record.decisions[0].nodes <= nodes) for record, nodes in zip(attempts, (20, 1000), strict=True)] == [
        (False, True),
        (True, True),
    ]


def test_javascript_agrees_with_alpha_beta_at_the_end_of_connect_four(javascript: Agent) -> None:
    """The agent searches four plies on the standard board. Node starts with half a gigabyte of memory."""
    board = {"name": "connect-four", "rows": 4, "columns": 3, "in_a_row": 3}
    records = played(board, javascript | {"depth": 12}, "alpha-beta")
    for record in records:
        values = [decision.value * (-1) ** decision.seat for decision in record.decisions if decision.value is not None]
        assert len(values) == len(record.actions)
        assert {(value > 0.9) - (value < -0.9) for value in values} == {record.returns[0]}


def test_javascript_beats_random_play(javascript: Agent) -> None:
    """It searches four plies on the standard board. Node starts with half a gigabyte of memory."""
    records = played("connect-four", javascript, "random", limits={"memory_mb": 512})
    assert points(records, "javascript", "random") == [1.0] * 4


def test_an_example_agent_refuses_a_game_that_it_does_not_know(python: Agent, c: Agent, javascript: Agent) -> None:
    """The exception and its message come from the agent."""
    for agent in (python, c, javascript):
        results = run({"game": "othello", "agents": [agent, "random"], "rounds": 1})
        for record in results.records:
            assert record.termination == "exception"
            assert record.labels[record.seat or 0] == agent["label"]
            assert str(record.message).startswith("knows ")


def test_all_example_programs_play_in_the_sandbox(python: Agent, c: Agent, javascript: Agent, bubblewrap: str) -> None:
    """Each program sees only its own files."""
    played("tic-tac-toe", python, c, isolation="sandbox")
    played("connect-four", javascript, "random", isolation="sandbox")
