"""Records that are in order in themselves, and against the rules."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.cluster import wire
from arena.cluster.audit import Audit
from arena.match.record import Record
from arena.match.replay import against_rules, steps
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule, Scheduled
from arena.spec import Spec, load_spec
from tests.arena.cluster.standin import Standin
from tests.arena.cluster.test_coordinator import played

TOURNAMENTS = Path(__file__).parents[3] / "tournaments"
TWO: list[Any] = ["random", "greedy"]


class Patient(Audit):
    """Judges everything, however long it takes."""

    def fault(self, played: Any, records: Any) -> str | None:
        self._spent = 0.0
        return super().fault(played, records)


def first(spec: Spec, wanted: Callable[[Record], bool] = bool) -> tuple[Scheduled, Record]:
    """A match of a spec that has been played, and its record."""
    stage = MatchRunner(spec)
    for scheduled in Schedule(spec).take(200):
        record = stage.play(scheduled)
        if wanted(record):
            return scheduled, record
    raise AssertionError("no match of that kind")


HONEST: list[dict[str, Any]] = [
    {"game": "tic-tac-toe", "agents": TWO},
    {"game": "tic-tac-toe", "agents": TWO, "openings": {"plies": 3}},
    {"game": "connect-four", "agents": TWO, "limits": {"moves": 9}},
    {"game": "connect-four", "agents": TWO},
    {"game": "othello", "agents": TWO},
    {
        "game": "connect-four",
        "agents": [{"agent": "alpha-beta", "depth": 2}, {"agent": "alpha-beta", "depth": 3}],
        "openings": {"plies": 6},
        "adjudicate": {"draw": {"after": 6, "moves": 2, "value": 0.3}, "resign": {"moves": 1, "value": 0.9}},
    },
    {"game": "sliding-tiles", "agents": ["random", "greedy", "a-star", {"agent": "dfs", "depth": 8}], "limits": {"moves": 30}},
    {"game": "n-queens", "agents": ["hill-climb", "dfs", "random", "min-conflicts", {"agent": "dfs", "label": "b"}]},
    {"game": {"name": "n-queens", "n": 3}, "agents": ["hill-climb", "dfs", "random"]},
    {"game": "sudoku", "agents": ["random", "dfs"], "limits": {"nodes": 2000}},
    {"game": "tic-tac-toe", "positions": ["x.o/.../...", "x.o/x.o/..."], "agents": TWO},
]


@pytest.mark.parametrize("document", HONEST, ids=lambda document: str(document["game"]))
def test_whatever_is_played_here_is_within_the_rules(document: dict[str, Any]) -> None:
    """Games, walks, paths and answers; solved, stuck, given up, at the move limit."""
    spec = load_spec({"rounds": 3, **document} if "positions" not in document else document)
    stage, audit = MatchRunner(spec), Patient(spec)
    plan = Schedule(spec).take(500)
    records = [stage.play(one) for one in plan]
    for one, record in zip(plan, records, strict=True):
        assert audit.fault([one], [record]) is None
    assert audit.judged == len(plan)


VILLAINS = '''
from arena import Agent, Path, Puzzle, hookimpl

class Thrower(Agent):
    """Raises at its second turn."""
    name = "thrower"
    def choose(self, game, state, search):
        if bin(state[0]).count("1") == 1:
            raise ValueError("not today")
        return game.actions(state)[0]

class Lost(Agent):
    """A path that leads nowhere."""
    name = "lost"
    def solve(self, game, state, search):
        return Path(list(game.actions(state))[:1])

class Detour(Agent):
    """Passes through the goal and comes back to it."""
    name = "detour"
    def solve(self, game, state, search):
        return Path([1, 2, 2])

class Line(Puzzle):
    """Points on a line, the goal is 1, in states that no text brings back."""
    name = "line"
    class Point:
        def __init__(self, at): self.at = at
        def __eq__(self, other): return self.at == other.at
        def __hash__(self): return self.at
    def initial(self, rng): return self.Point(0)
    def actions(self, state): return [1, 2] if state.at < 9 else []
    def result(self, state, action): return self.Point(state.at + 1 if action == 1 else 3 - state.at if state.at else 0)
    def is_goal(self, state): return state.at == 1
    def format_state(self, state): return f"point {state.at}"

@hookimpl
def arena_agents():
    return [Thrower, Lost, Detour]

@hookimpl
def arena_games():
    return [Line]
'''


@pytest.mark.parametrize(
    ("game", "agents"),
    [("tic-tac-toe", ["thrower", "random"]), ("sliding-tiles", ["lost", "random"]), ("line", ["detour", "random", "greedy"])],
)
def test_faults_are_no_breach(game: str, agents: list[str], tmp_path: Path) -> None:
    """An agent's exception, a wrong path; a game of which no notation can be read, and a path that passes through its goal."""
    (tmp_path / "v.py").write_text(VILLAINS)
    spec = load_spec({"game": game, "rounds": 3, "agents": agents, "plugins": [str(tmp_path / "v.py")], "limits": {"moves": 50}})
    stage, audit, actions = MatchRunner(spec), Patient(spec), []
    for one in Schedule(spec).take(500):
        record = stage.play(one)
        assert audit.fault([one], [record]) is None
        actions.append((record.termination, *record.actions))
    assert audit.judged == len(actions)
    assert {"line": ("normal", "1", "2", "2"), "tic-tac-toe": ("exception",)}.get(game, ("illegal-action",)) in [
        one if game == "line" else one[:1] for one in actions
    ]


def _wins_sooner(record: Record) -> Record:
    return record._replace(actions=record.actions[:-1], moves=len(record.actions) - 1, decisions=record.decisions[:-1])


def _twice(record: Record) -> Record:
    return record._replace(actions=(*record.actions[:-1], record.actions[0]))


def _goes_on(record: Record) -> Record:
    decisions = (*record.decisions, record.decisions[0])
    return record._replace(actions=(*record.actions, record.actions[0]), moves=len(record.actions) + 1, decisions=decisions)


def _swapped(record: Record) -> Record:
    return record._replace(returns=record.returns[::-1])


def _elsewhere(record: Record) -> Record:
    return record._replace(position="x.o/.../...")


def _limit(record: Record) -> Record:
    return record._replace(termination="move-limit", returns=(0.0, 0.0))


@pytest.mark.parametrize(
    ("forge", "expected"),
    [
        (_wins_sooner, "the game is not over after the last action"),
        (_twice, r"action \d: '\d' is not legal"),
        (_goes_on, r"action \d: '\d' comes after the end"),
        (_swapped, r"returns: recorded \(.*\), by the rules \("),
        (_elsewhere, "position: recorded 'x.o/.../...', by the spec '.../.../...'"),
        (_limit, r"termination: recorded move-limit after \d of 1000 moves"),
    ],
)
def test_a_game_that_cannot_have_been(forge: Callable[[Record], Record], expected: str) -> None:
    """Each of these gets past the checks of types and ranges, and not past the rules."""
    spec = load_spec({"game": "tic-tac-toe", "rounds": 30, "agents": TWO})
    scheduled, record = first(spec, lambda record: record.returns[0] != 0.0)
    forged, reader = forge(record), wire.Reader(spec)
    ids = reader.identities([scheduled])
    assert reader.read(wire.answer([forged], 0.1), [scheduled], ids).records == [forged]
    fault = Patient(spec).fault([scheduled], [forged])
    assert fault is not None
    assert fault.startswith(f"match {record.id}: ")
    assert re.search(expected, fault)


def test_a_game_that_was_won_with_the_last_move_that_was_allowed() -> None:
    """It is no draw by the limit."""
    spec = load_spec({"game": "tic-tac-toe", "rounds": 60, "agents": TWO, "limits": {"moves": 5}})
    scheduled, record = first(spec, lambda record: record.termination == "normal" and len(record.actions) == 5)
    fault = Patient(spec).fault([scheduled], [_limit(record)])
    assert fault == f"match {record.id}: the game is over after the last action"


@pytest.mark.parametrize(
    ("document", "changes", "expected"),
    [
        ({"game": "sliding-tiles", "agents": ["a-star", "random"]}, {"cost": 1.0}, r"cost: recorded 1.0, by the rules \d+"),
        ({"game": "sliding-tiles", "agents": ["a-star", "random"]}, {"actions": (), "moves": 0, "cost": 0.0}, "is no goal"),
        ({"game": "sliding-tiles", "agents": ["a-star", "random"]}, {"answer": "1 2 3 / 4 5 6 / 7 8 ."}, "the path matters"),
        ({"game": "sliding-tiles", "agents": ["a-star", "random"]},
         {"termination": "stuck", "solved": False, "returns": (0.0,)}, "the puzzle is not stuck"),
        ({"game": "n-queens", "agents": ["dfs", "hill-climb"]}, {"answer": "1 2 3 4 5 6 7 8"}, "solved: recorded True, by the"),
        ({"game": "n-queens", "agents": ["dfs", "hill-climb"]}, {"answer": "eight"}, "answer: 'eight' cannot be read"),
    ],
)  # fmt: skip
def test_an_attempt_that_cannot_have_been(document: dict[str, Any], changes: dict[str, Any], expected: str) -> None:
    """Solutions that are none, or cost something else."""
    spec = load_spec({"rounds": 40, **document})
    scheduled, record = first(
        spec, lambda record: bool(record.solved and len(record.actions) > 1 if record.cost is not None else record.solved)
    )
    fault = Patient(spec).fault([scheduled], [record._replace(**changes)])
    assert fault is not None
    assert re.search(expected, fault), fault


def test_a_notation_that_reads_more_than_is_legal(tmp_path: Path) -> None:
    """The list of legal actions decides, and not what can be read."""
    lax = "    def parse_action(self, state, text): return int(text)\n    def format_state"
    (tmp_path / "v.py").write_text(VILLAINS.replace("    def format_state", lax))
    spec = load_spec({"game": "line", "rounds": 1, "agents": ["detour", "random"], "plugins": [str(tmp_path / "v.py")]})
    scheduled, record = first(spec, lambda record: record.labels == ("detour",))
    assert Patient(spec).fault([scheduled], [record]) is None
    fault = Patient(spec).fault([scheduled], [record._replace(actions=("1", "7", "2"))])
    assert fault == f"match {record.id}: action 2: '7' is not legal"


def test_a_path_through_the_goal_can_be_replayed(tmp_path: Path) -> None:
    """By `arena replay`, too: the path counts as a whole."""
    (tmp_path / "v.py").write_text(VILLAINS.replace('return f"point {state.at}"', "return str(state.at)").replace(
        "    def format_state", "    def parse_state(self, text): return self.Point(int(text))\n    def format_state"
    ))  # fmt: skip
    spec = load_spec({"game": "line", "rounds": 1, "agents": ["detour", "random"], "plugins": [str(tmp_path / "v.py")]})
    _, record = first(spec, lambda record: record.labels == ("detour",))
    puzzle = spec.boards[0].game
    gone = list(steps(puzzle, record))
    assert [step.state.at for step in gone] == [0, 1, 2, 1]
    assert against_rules(puzzle, record, gone[0], gone[-1]) == []


def test_a_forger_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its matches are played by the others, and those that were believed are counted."""
    monkeypatch.setattr("arena.cluster.audit.SHARE", 1.0)  # so that everything is judged
    spec = load_spec({"game": "tic-tac-toe", "rounds": 30, "agents": TWO})
    stage = MatchRunner(spec)
    honest = {one.number: stage.play(one).timeless() for one in Schedule(spec).take(1000)}
    engine = Standin(spec, ["bad", "good"])
    number = 0

    def forge(order: Any) -> bytes:
        nonlocal number
        number += 1
        if order.parcel is None and number < 2:
            return wire.wants_parcel()
        records = [stage.play(one) for one in order.matches]
        if number > 4:
            records[-1] = records[-1]._replace(actions=(*records[-1].actions[:-1], records[-1].actions[0]))
        return wire.answer(records, 0.5 * len(records))

    engine.answers["bad"] = forge
    said: list[str] = []
    assert played(spec, engine, said) == honest
    assert len(said) == 1
    assert said[0].startswith("bad is refused: sent what the rules do not allow: match ")
    assert "of its matches were taken before)" in said[0]


def test_the_rules_take_a_fifth_of_the_time_at_most() -> None:
    """What is beyond is believed."""
    spec = load_spec({"game": "connect-four", "rounds": 200, "agents": TWO})
    stage = MatchRunner(spec)
    plan = Schedule(spec).take(400)
    records = [stage.play(one) for one in plan]
    audit = Audit(spec)
    assert audit.fault(plan, records) is None
    assert 0 < audit.judged < len(plan)
    audit._began -= 1000.0
    before = audit.judged
    assert audit.fault(plan, records) is None
    assert audit.judged == before + len(plan)
