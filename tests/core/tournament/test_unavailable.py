"""A match without an answer of a backend is void, and the next run plays it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import arena
from arena.store import Store
from tests.conftest import Arena

PLUGIN = '''
from pathlib import Path
from arena import Agent, Unavailable, hookimpl

class Flaky(Agent):
    """Plays the first action; its backend does not answer as often as a file has bytes, of which each time one goes."""

    name = "flaky"
    waits = True

    def __init__(self, *, file: str) -> None:
        self.file = Path(file)

    def choose(self, game, state, search):
        search.spend(requests=1, tokens=2.5)
        search.spend(requests=1)
        left = self.file.read_text()
        if left:
            self.file.write_text(left[1:])
            raise Unavailable("the backend is away")
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Flaky]
'''


@pytest.fixture
def spec(tmp_path: Path) -> dict[str, Any]:
    """Three rounds against a random agent; the file of failures is empty."""
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "failures").write_text("")
    agents = [{"agent": "flaky", "file": str(tmp_path / "failures")}, "random"]
    return {"game": "tic-tac-toe", "agents": agents, "rounds": 3, "plugins": [str(tmp_path / "plugin.py")]}


def away(tmp_path: Path, times: int) -> None:
    """Let the backend leave this many requests unanswered from now on."""
    (tmp_path / "failures").write_text("." * times)


@pytest.mark.process
@pytest.mark.parametrize(("isolation", "kind"), [("none", "Unavailable"), ("process", "BackendGone")])
def test_a_match_without_an_answer_is_void(spec: dict[str, Any], tmp_path: Path, isolation: str, kind: str) -> None:
    """The next run plays only this match again."""
    (tmp_path / "plugin.py").write_text(PLUGIN.replace("Unavailable", kind))
    rounds = 3 if isolation == "none" else 1  # each match has a process
    spec = {**spec, "isolation": isolation, "rounds": rounds}
    store = tmp_path / "cup.db"
    away(tmp_path, 1)
    results = arena.run(spec, store=store)
    assert len(results.played) == 2 * rounds
    (void,) = results.void
    assert void == results.played[0].record
    assert (void.returns, void.seat) == ((0, 0), None)
    assert "the backend is away" in (void.message or "")
    before = {one.record.id: one.record for one in results.played}
    again: list[str] = []
    after = arena.run(spec, store=store, observe=lambda one: again.append(one.record.id))
    assert again == [void.id]
    assert after.void == []
    assert [one.record for one in after.played if one.record.id != void.id] == [
        record for record in before.values() if record is not before[void.id]
    ]
    with Store.open(store) as opened:
        assert len(opened) == 2 * rounds
        assert opened.find_fault() is None


@pytest.mark.process
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_the_cost_of_decisions_adds_up_in_a_record(spec: dict[str, Any], tmp_path: Path, isolation: str) -> None:
    results = arena.run({**spec, "isolation": isolation, "rounds": 1}, store=tmp_path / "cup.db")
    for one in results.played:
        plain = one.record.as_dict()["decisions"]
        own = [decision for decision in plain if "spent" in decision]
        assert [decision["spent"] for decision in own] == [{"requests": 2, "tokens": 2.5}] * len(own)
        assert len({decision["seat"] for decision in own}) == 1
        assert 0 < len(own) < len(plain)


def test_void_matches_that_are_played_again_are_counted_once(spec: dict[str, Any], tmp_path: Path, invoke: Arena) -> None:
    file = tmp_path / "cup.yaml"

    def run_again(rounds: int) -> str:
        file.write_text(yaml.safe_dump({**spec, "isolation": "none", "rounds": rounds}))
        done = invoke("run", file, "--store", "cup.db", "--concurrency", "1")
        return next((line for line in done.stderr.splitlines() if "cup.db" in line or "void match" in line), "")

    away(tmp_path, 100)
    run_again(3)
    away(tmp_path, 0)
    assert run_again(3) == "note: 6 void matches have been played again"
    (tmp_path / "cup.db").unlink()
    away(tmp_path, 1)
    run_again(3)
    assert run_again(4) == "note: 5 matches were in cup.db, 1 void match has been played again, 2 have been added"
    assert run_again(4) == "note: all 8 matches were in cup.db; there were no matches left to play"
