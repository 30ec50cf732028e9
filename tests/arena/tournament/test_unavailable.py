"""A backend that does not answer costs nobody a match: asked again, then later, then the match is void till the next run."""

from pathlib import Path
from typing import Any

import pytest

import arena
from arena.match import referee
from arena.store import Store

PLUGIN = '''
from pathlib import Path
from arena import Agent, Unavailable, hookimpl

class Flaky(Agent):
    """Plays the first action; its backend does not answer as often as a file has bytes, of which each time one goes."""

    name = "flaky"

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


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that a test can wait for."""
    monkeypatch.setattr(referee, "PAUSES", (0.01, 0.02, 0.04))


@pytest.fixture
def spec(tmp_path: Path) -> dict[str, Any]:
    """Three rounds against a random agent; the file of failures is empty."""
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "failures").write_text("")
    agents = [{"agent": "flaky", "file": str(tmp_path / "failures")}, "random"]
    return {"game": "tic-tac-toe", "agents": agents, "rounds": 3, "plugins": [str(tmp_path / "plugin.py")]}


def away(tmp_path: Path, times: int) -> None:
    """The backend does not answer so many times from now on."""
    (tmp_path / "failures").write_text("." * times)


@pytest.mark.parametrize("isolation", ["none", "process"])
@pytest.mark.parametrize(("times", "unanswered", "first"), [(3, 3, 0), (4, None, 5)])
def test_it_is_asked_three_times_more_and_then_after_all_others(
    spec: dict[str, Any], tmp_path: Path, isolation: str, times: int, unanswered: int | None, first: int
) -> None:
    """Three failures are got over in the match, four put it at the end of the run; nothing is lost, and the record tells."""
    away(tmp_path, times)
    ended: list[int] = []
    results = arena.run({**spec, "isolation": isolation}, observe=lambda one: ended.append(one.number))
    assert len(results.played) == 6
    assert results.void == []
    assert (ended[-1] if first else ended[0]) == 0
    assert (results.played[0].record.timing or {}).get("unanswered") == unanswered


def test_a_match_without_an_answer_is_void_and_is_played_by_the_next_run(spec: dict[str, Any], tmp_path: Path) -> None:
    """Six matches are put off after 4 failures each, and one ends after 4 more; the next run replaces its record alone."""
    store = tmp_path / "cup.db"
    away(tmp_path, 28)
    results = arena.run(spec, store=store)
    (void,) = results.void
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
        assert len(opened) == 6
        assert list(opened.damaged()) == []


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_what_a_decision_spends_adds_up_in_its_record(spec: dict[str, Any], tmp_path: Path, isolation: str) -> None:
    """Wherever the agent runs, and in a store; an agent that says nothing has nothing in its record."""
    results = arena.run({**spec, "isolation": isolation, "rounds": 1}, store=tmp_path / "cup.db")
    for one in results.played:
        plain = one.record.as_dict()["decisions"]
        own = [decision for decision in plain if "spent" in decision]
        assert [decision["spent"] for decision in own] == [{"requests": 2, "tokens": 2.5}] * len(own)
        assert len({decision["seat"] for decision in own}) == 1
        assert 0 < len(own) < len(plain)
