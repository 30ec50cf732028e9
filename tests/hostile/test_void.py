"""An agent that claims that its backend is away loses, unless the host lets it wait."""

import sys
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.results.leaderboard import Leaderboard
from arena.spec import load_spec

PLUGIN = '''
from arena import Agent, BackendGone, Unavailable, hookimpl

class Sore(Agent):
    """Plays the first action; if it is about to lose, its backend is away."""
    name = "sore"
    waits = True

    def choose(self, game, state, search):
        if len(game.actions(state)) < 6:
            raise BackendGone("the backend is away")
        return game.actions(state)[0]

class Action(int):
    def __eq__(self, other):
        raise Unavailable("the backend is away")
    __hash__ = int.__hash__

class Sly(Agent):
    """Its action is away while it is compared."""
    name = "sly"

    def choose(self, game, state, search):
        return Action(game.actions(state)[0])

@hookimpl
def arena_agents():
    return [Sore, Sly]
'''
PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answers = {
        "hello": {"type": "hello", "protocol": asked.get("protocol"), "can": ["choose"]},
        "start": {"type": "ready"},
        "choose": {"type": "failed", "kind": "unavailable", "message": "the backend is away"},
    }
    if asked["type"] in answers:
        print(json.dumps(answers[asked["type"]]), flush=True)
"""
STEPS = '''
from arena import Puzzle, hookimpl

class Steps(Puzzle):
    """Counts to 3. The rules cannot play an illegal action."""
    name = "steps"
    def initial(self, rng): return 0
    def actions(self, state): return [1]
    def result(self, state, action): return {1: state + 1}[action]
    def is_goal(self, state): return state == 3
    def format_action(self, state, action): return str(action)
    def parse_action(self, state, text): return int(text)

@hookimpl
def arena_games():
    return [Steps]
'''
ASTRAY = PROGRAM.replace('"can": ["choose"]', '"can": ["solve"]').replace(
    '"choose": {"type": "failed", "kind": "unavailable", "message": "the backend is away"}',
    '"solve": {"type": "path", "actions": ["1", "7", "1"]}',
)


def play(folder: Path, entry: dict[str, Any], **more: Any) -> arena.Results:
    (folder / "sore.py").write_text(PLUGIN)
    (folder / "sore_program.py").write_text(PROGRAM)
    spec = folder / "cup.yaml"
    spec.write_text("")
    return arena.run({"game": "tic-tac-toe", "agents": [entry, "random"], "rounds": 2, **more}, store=folder / "cup.db")


ENTRIES: dict[str, dict[str, Any]] = {
    "plugin": {"agent": "sore", "plugin": "sore.py"},
    "program": {"agent": {"command": [sys.executable, "sore_program.py"]}, "label": "sore"},
    "comparison": {"agent": "sly", "label": "sore"},
}


@pytest.mark.promise(hole="void", isolation=("process", "sandbox"))
@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.parametrize("kind", ["plugin", "program"])
def test_an_agent_cannot_avoid_a_loss_by_a_false_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, isolation: str
) -> None:
    """Its class or its program claims that a server is unavailable."""
    monkeypatch.chdir(tmp_path)
    results = play(tmp_path, {**ENTRIES[kind], "isolation": isolation})
    assert results.void == []
    lost = [record for record in results.records if record.termination == "exception"]
    assert lost
    assert all("the backend is away" in str(record.message) and "`waits: true`" in str(record.message) for record in lost)
    assert {record.labels[record.seat or 0] for record in lost} == {"sore"}


@pytest.mark.promise(hole="void", isolation=("process", "sandbox"))
@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_an_illegal_action_for_which_the_rules_fail_is_a_fault_of_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "steps.py").write_text(STEPS)
    (tmp_path / "astray.py").write_text(ASTRAY)
    entry = {"agent": {"command": [sys.executable, "astray.py"]}, "label": "astray", "isolation": isolation}
    (record,) = arena.run({"game": "steps", "plugins": ["steps.py"], "agents": [entry], "rounds": 1}).records
    assert (record.termination, record.seat, record.message) == ("illegal-action", 0, "expected one of [1], got 7")


@pytest.mark.unit
@pytest.mark.promise(hole="void", isolation="none")
def test_an_action_that_claims_to_be_unavailable_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = play(tmp_path, ENTRIES["comparison"], plugins=[str(tmp_path / "sore.py")])
    assert results.void == []
    assert {record.termination for record in results.records} == {"exception"}


@pytest.mark.parametrize("kind", ["plugin", "program"])
def test_the_host_may_allow_an_entry_to_wait_for_a_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The board reports an entry if more than one match in 20 is void."""
    monkeypatch.chdir(tmp_path)
    results = play(tmp_path, {**ENTRIES[kind], "waits": True})
    assert len(results.void) >= 2
    remarks = Leaderboard.of_results(results)[0].remarks
    played = len(results.records)
    assert f"More than one match in 20 is void: sore {len(results.void)} of {played}" in " ".join(remarks)


@pytest.mark.unit
def test_the_host_may_override_that_an_agent_waits_for_a_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    entry: dict[str, Any] = {"agent": "sore"}
    plugins = [str(tmp_path / "sore.py")]
    assert play(tmp_path, entry, plugins=plugins).void != []
    spec = {"game": "tic-tac-toe", "agents": [{**entry, "waits": False}, "random"], "plugins": plugins}
    assert [seat.waits for seat in load_spec(spec).boards[0].seats] == [False, False]
