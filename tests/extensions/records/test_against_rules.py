"""Consistent records are compared with the rules, as `arena replay` and `arena check STORE` do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena.api.store import Store
from arena.match.chance_streams import Chance, has_chance
from arena.match.record import Record
from arena.match.replay import Differs, Step
from arena.returns import Returns
from arena.schedule.runner import MatchRunner, positions_of
from arena.schedule.schedule import Schedule, Scheduled
from arena.spec import Spec, load_spec
from arena_cluster import wire
from arena_games.tic_tac_toe import TicTacToe
from arena_records.contradictions import find_impossible_ending
from arena_records.rules import compare_with_rules
from tests.conftest import Arena

TWO: list[Any] = ["random", "greedy"]


def find_breaches(spec: Spec, scheduled: Scheduled, record: Record) -> list[str]:
    """Return the differences between a record and the rules, when played through from the position of its match."""
    board, position = spec.boards[scheduled.board], positions_of(spec)(scheduled)
    repetition = board.positions.repetition(scheduled.pairing.round)
    chance = Chance.of(board.game, position.key, repetition) if has_chance(board.game) else None
    try:
        gone = list(Step.follow(board.game, record, position.state, chance))
    except Differs as differs:
        return [str(differs)]
    moves = board.seats[scheduled.pairing.seats[0]].limits.moves
    return compare_with_rules(board.game, record, gone[0], gone[-1], moves, board.adjudication)


def play_until(spec: Spec, wanted: Callable[[Record], bool] = bool) -> tuple[Scheduled, Record]:
    """Play the matches of a spec until one has the wanted record. Return the match and its record."""
    stage = MatchRunner(spec)
    for scheduled in Schedule(spec).take(200):
        record = stage.play(scheduled)
        if wanted(record):
            return scheduled, record
    raise AssertionError("no match of that kind")


def make_fault(record: Record, reason: Any, seat: int) -> Record:
    """Return a record with the first four moves, and with a fault of the given seat in the fifth decision."""
    used = record.decisions[0]._replace(seat=seat)
    return record._replace(
        actions=record.actions[:4], moves=4, decisions=(*record.decisions[:4], used), termination=reason, seat=seat,
        returns=Returns(TicTacToe()).of_loss(seat), message="made up",
    )  # fmt: skip


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
def test_records_of_a_run_agree_with_the_rules(document: dict[str, Any]) -> None:
    """The games, walks, paths and answers end as solved, stuck, given up or at the move limit."""
    spec = load_spec({"rounds": 3, **document} if "positions" not in document else document)
    stage = MatchRunner(spec)
    for one in Schedule(spec).take(500):
        assert find_breaches(spec, one, stage.play(one)) == []


VILLAINS = '''
from arena import Agent, Path, Puzzle, hookimpl

class Thrower(Agent):
    """An agent that raises an exception in its second turn."""
    name = "thrower"
    def choose(self, game, state, search):
        if bin(state[0]).count("1") == 1:
            raise ValueError("not today")
        return game.actions(state)[0]

class Lost(Agent):
    """An agent that returns a path without a goal."""
    name = "lost"
    def solve(self, game, state, search):
        return Path(list(game.actions(state))[:1])

class Detour(Agent):
    """An agent that passes through the goal and comes back to it."""
    name = "detour"
    def solve(self, game, state, search):
        return Path([1, 2, 2])

class Line(Puzzle):
    """Points on a line with the goal 1; states cannot be parsed from a text."""
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
def test_faults_of_agents_agree_with_the_rules(game: str, agents: list[str], tmp_path: Path) -> None:
    """The records have an exception, a wrong path, and a path through the goal in a game without a parser for states."""
    (tmp_path / "v.py").write_text(VILLAINS)
    spec = load_spec({"game": game, "rounds": 3, "agents": agents, "plugins": [str(tmp_path / "v.py")], "limits": {"moves": 50}})
    stage, actions = MatchRunner(spec), []
    for one in Schedule(spec).take(500):
        record = stage.play(one)
        assert find_breaches(spec, one, record) == []
        actions.append((record.termination, *record.actions))
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


def _limit(record: Record) -> Record:
    return record._replace(termination="move-limit", returns=(0.0, 0.0))


@pytest.mark.parametrize(
    ("forge", "expected"),
    [
        (_wins_sooner, "the game is not over after the last action"),
        (_twice, r"action \d: '\d' is not legal"),
        (_goes_on, r"action \d: '\d' comes after the end"),
        (_swapped, r"returns: recorded \(.*\), but the rules give \("),
        (_limit, r"termination: recorded move-limit after \d of 1000 moves"),
    ],
)
def test_a_forged_record_of_a_game_is_found(forge: Callable[[Record], Record], expected: str) -> None:
    """Each of these records passes the checks of types and ranges, but breaks the rules."""
    spec = load_spec({"game": "tic-tac-toe", "rounds": 30, "agents": TWO})
    scheduled, record = play_until(spec, lambda record: record.returns[0] != 0.0)
    forged, reader = forge(record), wire.Reader(spec)
    ids = reader.identities([scheduled])
    assert reader.read(wire.answer([forged], 0.1), [scheduled], ids).records == [forged]
    assert re.search(expected, find_breaches(spec, scheduled, forged)[0])


def test_a_win_with_the_last_allowed_move_is_not_a_draw() -> None:
    spec = load_spec({"game": "tic-tac-toe", "rounds": 60, "agents": TWO, "limits": {"moves": 5}})
    scheduled, record = play_until(spec, lambda record: record.termination == "normal" and len(record.actions) == 5)
    assert find_breaches(spec, scheduled, _limit(record))[0] == "the game is over after the last action"


@pytest.mark.parametrize(
    ("document", "changes", "expected"),
    [
        ({"game": "sliding-tiles", "agents": ["a-star", "random"]}, {"cost": 1.0}, r"cost: recorded 1.0, but the rules give \d+"),
        ({"game": "sliding-tiles", "agents": ["a-star", "random"]}, {"actions": (), "moves": 0, "cost": 0.0}, "is not a goal"),
        ({"game": "sliding-tiles", "agents": ["a-star", "random"]}, {"answer": "1 2 3 / 4 5 6 / 7 8 ."}, "the path matters"),
        ({"game": "sliding-tiles", "agents": ["a-star", "random"]},
         {"termination": "stuck", "solved": False, "returns": (0.0,)}, "the puzzle is not stuck"),
        ({"game": "n-queens", "agents": ["dfs", "hill-climb"]}, {"answer": "1 2 3 4 5 6 7 8"}, "solved: recorded True, but the"),
        ({"game": "n-queens", "agents": ["dfs", "hill-climb"]}, {"answer": "eight"}, "answer: 'eight' cannot be read"),
    ],
)  # fmt: skip
def test_a_forged_record_of_an_attempt_at_a_puzzle_is_found(
    document: dict[str, Any], changes: dict[str, Any], expected: str
) -> None:
    """The forged solutions are wrong or have another cost."""
    spec = load_spec({"rounds": 40, **document})
    scheduled, record = play_until(
        spec, lambda record: bool(record.solved and len(record.actions) > 1 if record.cost is not None else record.solved)
    )
    assert re.search(expected, find_breaches(spec, scheduled, record._replace(**changes))[0])


def test_a_parsed_action_must_be_legal(tmp_path: Path) -> None:
    """The list of legal actions decides, even if the parser accepts more."""
    lax = "    def parse_action(self, state, text): return int(text)\n    def format_state"
    (tmp_path / "v.py").write_text(VILLAINS.replace("    def format_state", lax))
    spec = load_spec({"game": "line", "rounds": 1, "agents": ["detour", "random"], "plugins": [str(tmp_path / "v.py")]})
    scheduled, record = play_until(spec, lambda record: record.labels == ("detour",))
    assert find_breaches(spec, scheduled, record) == []
    assert find_breaches(spec, scheduled, record._replace(actions=("1", "7", "2"))) == ["action 2: '7' is not legal"]


def test_a_fault_belongs_to_the_seat_to_move() -> None:
    """After four moves of tic-tac-toe seat 0 moves. Each decision belongs to the seat that moved."""
    spec = load_spec({"game": "tic-tac-toe", "rounds": 3, "agents": TWO})
    scheduled, record = play_until(spec)
    swapped = record._replace(decisions=(record.decisions[1], record.decisions[0], *record.decisions[2:]))
    assert find_breaches(spec, scheduled, make_fault(record, "crash", 0)) == []
    assert "a fault of seat 1, but seat 0 was to move" in find_breaches(spec, scheduled, make_fault(record, "crash", 1))[0]
    assert "a decision of seat 1, but seat 0 was to move" in find_breaches(spec, scheduled, swapped)[0]


def test_a_path_through_the_goal_can_be_replayed(tmp_path: Path) -> None:
    """The goal counts only at the end of the path."""
    (tmp_path / "v.py").write_text(VILLAINS.replace('return f"point {state.at}"', "return str(state.at)").replace(
        "    def format_state", "    def parse_state(self, text): return self.Point(int(text))\n    def format_state"
    ))  # fmt: skip
    spec = load_spec({"game": "line", "rounds": 1, "agents": ["detour", "random"], "plugins": [str(tmp_path / "v.py")]})
    _, record = play_until(spec, lambda record: record.labels == ("detour",))
    puzzle = spec.boards[0].game
    gone = list(Step.follow(puzzle, record))
    assert [step.state.at for step in gone] == [0, 1, 2, 1]
    assert compare_with_rules(puzzle, record, gone[0], gone[-1]) == []


@pytest.mark.parametrize(
    ("reason", "decisions", "timed", "apart", "possible"),
    [
        ("timeout", 1, (), (), False),
        ("timeout", 0, (), (), False),
        ("timeout", 1, ("random",), (), True),
        ("timeout", 1, (), ("random",), True),  # its process must start and read its messages
        ("timeout", 1, ("greedy",), ("greedy",), False),
        ("crash", 1, (), (), False),
        ("crash", 0, (), (), True),  # a worker ends with all decisions of its match
        ("crash", 1, (), ("random",), True),
        ("memory", 1, (), (), False),
        ("memory", 1, (), ("random",), True),
        ("exception", 1, (), (), True),
    ],
)
def test_a_timeout_or_crash_is_possible_only_with_a_time_limit_or_a_separate_process(
    reason: Any, decisions: int, timed: tuple[str, ...], apart: tuple[str, ...], possible: bool
) -> None:
    """The fault is that of the agent random, in the first seat."""
    _, record = play_until(load_spec({"game": "tic-tac-toe", "agents": TWO}))
    fault = make_fault(record, reason, record.labels.index("random"))._replace(decisions=record.decisions[:decisions])
    assert (find_impossible_ending(fault, timed, apart) is None) is possible
    if reason == "memory":  # Python raises this error without any limit
        raised = fault._replace(message="MemoryError (mine.py:3)")
        assert find_impossible_ending(raised, timed, apart) is None


def test_check_reports_matches_of_a_store_with_an_impossible_end(tmp_path: Path, invoke: Arena) -> None:
    """The first match ends by a timeout without a time limit, and the second one at a move limit of 5 moves, not of 1,000."""
    run({"game": "tic-tac-toe", "agents": TWO, "rounds": 1}, store=tmp_path / "fair.db")
    with Store.open(tmp_path / "fair.db") as fair, Store.open(tmp_path / "forged.db", write=True) as forged:
        forged.begin(fair.last())
        (one, first), (other, second) = list(fair.records(boards=True))
        assert first is not None
        assert second is not None
        forged.add(first, make_fault(one, "timeout", 0)._replace(decisions=one.decisions[:5]))
        five = other._replace(actions=other.actions[:5], decisions=other.decisions[:5], moves=5)
        forged.add(second, five._replace(termination="move-limit", returns=(0.0, 0.0)))
    assert invoke("check", "fair.db", "--replay", "1").returncode == 0
    done = invoke("check", "forged.db", "--replay", "1")
    assert done.returncode == 1
    assert "termination: timeout is impossible, because seat 0 has neither a time limit nor a process of its own" in done.stdout
    assert "termination: recorded move-limit after 5 of 1000 moves" in done.stdout
