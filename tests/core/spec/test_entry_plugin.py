"""The key `plugin` of an entry: labels, identities, defaults and faults. Isolation is tested in tests/hostile."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena import Spec
from arena.spec import reload_spec

pytestmark = pytest.mark.process

EDGE = """
from arena import Agent, heuristic, hookimpl

@heuristic("own", game="connect-four")
def own(game, state, player=0):
    return 0.0

class Edge(Agent):
    name = "edge"
    wants_heuristic = True

    def __init__(self, *, index: int = 0{more}):
        self.index = index

    def choose(self, game, state, search):
        return game.actions(state)[self.index]

@hookimpl
def arena_agents():
    return [Edge]

@hookimpl
def arena_heuristics():
    return [own]
"""


@pytest.fixture
def cup(tmp_path: Path) -> Callable[..., str]:
    """Write a spec of some agents beside three plugins, `old.py` being a copy of `edge.py`; return its text."""
    (tmp_path / "edge.py").write_text(EDGE.format(more=""))
    (tmp_path / "old.py").write_text("# a copy\n" + EDGE.format(more=""))
    (tmp_path / "new.py").write_text(EDGE.format(more=", plugin: str = ''"))

    def cup(*agents: Any, **more: Any) -> str:
        return str(yaml.safe_dump({"game": "connect-four", "rounds": 1, "agents": list(agents), **more}))

    return cup


OWN = {"agent": "edge", "plugin": "edge.py"}


def test_two_plugins_may_have_an_agent_with_the_same_name(cup: Callable[..., str], load: Callable[..., Spec]) -> None:
    """The labels differ, and the code is part of the identity."""
    seats = load(cup(OWN, {**OWN, "plugin": "new.py"}, "random")).boards[0].seats
    assert [seat.label for seat in seats] == ["edge(plugin=edge.py)", "edge(plugin=new.py)", "random"]
    assert seats[0].identity != seats[1].identity
    (alone, *_) = load(cup(OWN, "random")).boards[0].seats
    assert alone.label == "edge"
    (copied, *_) = load(cup({**OWN, "plugin": "old.py"}, "random")).boards[0].seats
    assert copied.identity == alone.identity, "comments and the name of the file are no code"
    beside = load(cup("edge", OWN, plugins=["edge.py"])).boards[0].seats
    assert [seat.label for seat in beside] == ["edge", "edge(plugin=edge.py)"]


def test_a_plugin_of_an_entry_runs_in_its_own_process(cup: Callable[..., str], load: Callable[..., Spec]) -> None:
    agents = [OWN, {"agent": "edge", "label": "b", "index": 1}, {"agent": {"command": ["true"]}}]
    for isolation in ({}, {"isolation": "none"}):
        spec = load(cup(*agents[: 2 if isolation else 3], plugins=["old.py"], **isolation))
        assert [seat.isolation for seat in spec.boards[0].seats] == ["process", "none", "process"][: 2 if isolation else 3]


def test_an_entry_uses_the_options_and_heuristics_of_its_plugin(cup: Callable[..., str], load: Callable[..., Spec]) -> None:
    entry = {**OWN, "index": {"sweep": [0, 3]}, "heuristic": "own"}
    seats = load(cup(entry)).boards[0].seats
    assert [(seat.label, seat.heuristic) for seat in seats] == [("edge(index=0)", "own"), ("edge(index=3)", "own")]
    assert [seat.program and seat.program.options for seat in seats] == [{"index": 0}, {"index": 3}]


def test_an_agent_for_another_game_is_refused(cup: Callable[..., str], faults: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "edge.py").write_text(
        EDGE.format(more="").replace('name = "edge"', 'name = "edge"\n    games = frozenset({"hex"})')
    )
    (said,) = faults(cup(OWN, "random"))
    assert "edge cannot play connect-four: it plays only hex" in said


def test_an_option_called_plugin_stays_an_option(cup: Callable[..., str], load: Callable[..., Spec]) -> None:
    spec = load(cup({"agent": "edge", "plugin": "x"}, {"agent": {"command": ["true"]}, "plugin": "y"}, plugins=["new.py"]))
    seats = spec.boards[0].seats
    assert '"plugin":"x"' in seats[0].identity
    assert seats[1].program is not None
    assert (seats[1].program.version, seats[1].program.options) == (None, {"plugin": "y"})


def test_errors_in_the_plugin_of_an_entry_are_explained(
    cup: Callable[..., str], faults: Callable[..., list[str]], tmp_path: Path
) -> None:
    (tmp_path / "ends.py").write_text("import os; os._exit(3)")

    expected: dict[str, dict[str, Any]] = {
        "plugin: expected a Python file, got 3": {"plugin": 3},
        "no such file: no.py": {"plugin": "no.py"},
        "no such file: /dev/zero": {"plugin": "/dev/zero"},
        "expected a name that ends in .py": {"plugin": "cup.yaml"},
        "ended with code 3": {"plugin": "ends.py"},
        "no agent 'edg' in plugin edge.py; did you mean 'edge'?": {"agent": "edg"},
        "index: expected an integer, got 'x'": {"index": "x"},
        "no heuristic 'owm' of connect-four in that plugin; did you mean 'own'?": {"heuristic": "owm"},
        "expected process or sandbox, got 'none'": {"isolation": "none"},
        "leave one of them out": {"version": "git:HEAD"},
    }
    said = faults(cup("random", *[{**OWN, **more} for more in expected.values()]))
    for place, message in enumerate(expected, 1):
        (fault,) = [one for one in said if f"agents[{place}]" in one]
        assert message in fault


def test_a_worker_is_given_the_description_of_a_plugin_and_does_not_load_it_again(
    cup: Callable[..., str], load: Callable[..., Spec], tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    (tmp_path / "edge.py").write_text(EDGE.format(more="") + f"open({str(marks)!r}, 'a').write('loaded ')\n")
    spec = load(cup(OWN, "random"))
    again = reload_spec(spec.document, spec.plugins, spec.seed, shared=spec.shared)
    assert [seat.identity for seat in again.boards[0].seats] == [seat.identity for seat in spec.boards[0].seats]
    assert marks.read_text() == "loaded "
    reload_spec(spec.document, spec.plugins, spec.seed)
    assert marks.read_text() == "loaded loaded "
