"""A fault counts in the match in which its cause lies: the process of an agent brings none from an earlier match."""

import gc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena import Limits
from arena.api.match import Forfeit, Match, Position, Program, Seat
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_games.tic_tac_toe import TicTacToe
from arena_isolation.agent_host import AgentHost
from arena_isolation.agent_process import AgentLost
from arena_isolation.remote import RemotePlayer, RemotePlayers

LOST = AgentLost("memory", "used more than its limit of 400 MiB")
FAILED = {"type": "failed", "kind": "memory", "message": "MemoryError"}
READY = {"type": "ready"}
MOVE = {"type": "action", "action": "1"}


class Scripted:
    """A process whose answers are given. An answer that is an error is raised, and ends it."""

    observes = confined = shares_limits = has_played = out_of_cpu = False
    abandoned = 0.0

    def __init__(self, answers: list[Any]) -> None:
        self.answers = iter(answers)
        self.alive = True
        self.deals: set[str] = set()
        self.prepared: dict[Any, Any] = {}

    def join(self, pool: object) -> None: ...

    def rest(self) -> None: ...

    def prepare(self, folder: object) -> None: ...

    def begin(self) -> None:
        self.has_played = True

    def processors(self) -> tuple[float, float]:
        return 0.0, 0.0

    def end(self) -> None:
        self.alive = False

    def ask(self, request: bytes, *_: object, **__: object) -> Any:
        answer = next(self.answers)
        if isinstance(answer, AgentLost):
            self.end()
            raise answer
        return answer


def make_pool(*processes: list[Any]) -> RemotePlayers:
    """A pool that starts processes with these answers, one after the other."""
    coming = iter(processes)
    start: Any = lambda *_: Scripted(next(coming))  # noqa: E731
    return RemotePlayers(start)


def play(pool: RemotePlayers, *, decides: bool = True) -> str | None:
    """Play a match in which the agent decides once or not at all. Return the reason of its fault."""
    program = Program("random", {}, None, (), "/")
    seat = Seat("a", lambda: None, False, None, Limits(memory_mb=400), "", isolation="process", program=program)  # type: ignore[arg-type,return-value]
    game = TicTacToe()
    state = game.initial(None)  # type: ignore[arg-type]
    player = RemotePlayer(Match("0", game, Position("", state, ""), (seat, seat), 1), 0, pool, ())
    try:
        player.make_agent()
        if decides:
            player.choose(state, game.actions(state))
    except Forfeit as forfeit:
        return forfeit.ending.reason
    finally:
        player.leave()
    return None


@pytest.fixture(autouse=True)
def _no_compiled_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_isolation.remote.search_engines", tuple)


def test_a_process_without_memory_does_not_play_the_next_match() -> None:
    pool = make_pool([READY, FAILED, LOST], [READY])
    assert play(pool) == "memory"
    assert play(pool, decides=False) is None
    assert pool.started == 2


@pytest.mark.parametrize("late", [LOST, AgentLost("crash", "its process ended with code 3"), FAILED])
def test_a_fault_from_an_earlier_match_does_not_count_in_a_later_one(late: object) -> None:
    """When the next match starts, the memory is measured, or the end of the process is noticed."""
    pool = make_pool([READY, MOVE, late], [READY])
    assert play(pool) is None
    assert play(pool, decides=False) is None
    assert pool.started == 2


@pytest.mark.parametrize("answer", [LOST, FAILED])
def test_a_fault_in_a_new_process_counts(answer: object) -> None:
    """An agent may also use too much memory when it is created."""
    pool = make_pool([READY, MOVE, LOST], [answer])
    assert play(pool) is None
    assert play(pool) == "memory"


def test_a_process_is_kept_after_an_exception() -> None:
    pool = make_pool([READY, {**FAILED, "kind": "exception"}, READY])
    assert (play(pool), play(pool, decides=False), pool.started) == ("exception", None, 1)


@pytest.fixture
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


HOARDERS = '''
"""Agents that hold much memory at the end of a match."""
from arena import Agent, hookimpl

held = []

class Cyclic(Agent):
    """Refers to itself, so only a collection frees it."""

    name = "cyclic"

    def __init__(self, *, megabytes: int = 0) -> None:
        self.megabytes, self.me = megabytes, self
        held.append(__import__("weakref").ref(self))

    def choose(self, game, state, search):
        self.data = bytearray(self.megabytes << 20)
        return game.actions(state)[0]

class Raiser(Cyclic):
    """Raises an exception, which refers to the frame with the memory."""

    name = "raiser"

    def choose(self, game, state, search):
        data = bytearray(self.megabytes << 20)
        raise ValueError(len(data))

class Hog(Agent):
    """Takes all memory."""

    name = "hog"

    def choose(self, game, state, search):
        data = []
        while True:
            data.append(bytearray(10**7))

class Cheat(Agent):
    """Plays an illegal action."""

    name = "cheat"

    def choose(self, game, state, search):
        return 100

@hookimpl
def arena_agents():
    return [Cyclic, Raiser, Hog, Cheat]
'''


@pytest.mark.usefixtures("thawed")
@pytest.mark.parametrize("name", ["cyclic", "raiser"])
def test_the_agent_of_a_match_is_freed_before_the_next_one_is_created(name: str, tmp_path: Path) -> None:
    (file := tmp_path / "hoarders.py").write_text(HOARDERS)
    host = AgentHost(lambda loading: None)
    start = {
        "type": "start", "game": "tic-tac-toe", "parameters": {}, "agent": name, "options": {}, "heuristic": None,
        "plugins": [str(file)], "installed": ["builtin-games"], "limits": {}, "streams": {"seat": 1},
    }  # fmt: skip
    position = TicTacToe().format_state(TicTacToe().initial(None))  # type: ignore[arg-type]
    gc.disable()
    try:
        for _ in range(3):
            answer = host.answer(start)
            assert isinstance(answer, dict)
            assert answer["type"] == "ready", answer
            host.answer({"type": "choose", "position": position, "stream": 1, "played": []})
        held = type(host._seat.decider.agent).choose.__globals__["held"]  # type: ignore[union-attr]
        assert [one() is not None for one in held] == [False, False, True]
    finally:
        gc.enable()


def play_spec(tmp_path: Path, *agents: object) -> list[tuple[int | None, str]]:
    """Play three rounds. Return for each match the entry at fault and the ending."""
    (file := tmp_path / "hoarders.py").write_text(HOARDERS)
    values: dict[str, Any] = {
        "game": "tic-tac-toe", "rounds": 3, "seed": 1, "plugins": [str(file)], "isolation": "process",
        "limits": {"memory_mb": 400}, "agents": list(agents),
    }  # fmt: skip
    spec = load_spec(values)
    with closing(MatchRunner(spec)) as stage:
        records = [stage.play(scheduled) for scheduled in Schedule(spec).take(100)]
    return [(one.seat, one.termination) for one in records]


@pytest.mark.process
def test_memory_of_a_match_is_freed_before_the_next(tmp_path: Path) -> None:
    """Each match uses 230 MB of 400 MB."""
    holder = {"agent": "cyclic", "megabytes": 230}
    ends = play_spec(tmp_path, holder, {"agent": "raiser", "megabytes": 230})
    assert sorted(ends, key=str) == [(0, "exception")] * 3 + [(1, "exception")] * 3


@pytest.mark.process
def test_the_memory_of_an_agent_does_not_count_if_the_match_ended_before_it_decided(tmp_path: Path) -> None:
    """Each match ends with the first decision, which either uses too much memory or is illegal."""
    ends = play_spec(tmp_path, "cheat", "hog")
    assert sorted(ends, key=str) == [(0, "illegal-action")] * 3 + [(0, "memory")] * 3
