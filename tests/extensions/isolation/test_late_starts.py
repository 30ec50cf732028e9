"""An agent does not lose because arena's own host starts slowly, or because a start has to wait for a processor."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from arena import ArenaError, Limits
from arena.api.match import Forfeit, Match, Player, Position, Program, Seat
from arena_games.tic_tac_toe import TicTacToe
from arena_isolation import agent_process
from arena_isolation.agent_pool import AgentProcesses
from arena_isolation.agent_process import LOADING, START, AgentLost, AgentProcess, HostLate
from arena_isolation.child import ChildLost
from arena_isolation.helper_process import pack
from arena_isolation.protocol import VERSION
from arena_isolation.remote import RemotePlayer
from tests.conftest import VirtualClock

PYTHON = Program("random", {}, None, (), "/")
COMMAND = Program("mine", {}, None, (), "/", command=("mine",))
AT_ONCE = (0.0, 0.0)
NEVER = (1e9, 0.0)


class Children:
    """Starts children whose answers each take some seconds, in some of which they have no processor."""

    def __init__(self, time: VirtualClock, *answers: tuple[float, float]) -> None:
        self._time, self._coming = time, iter(answers)
        self.started = 0

    def start(self, *_: object) -> Any:
        """Start a child."""
        self.started += 1
        child = MagicMock()
        child.wake.return_value = child.used_at_rest.return_value = 0.0
        child.read_unasked.return_value = None
        clock = child.measure_from_creation.return_value = child.clock = MagicMock()
        clock.begin.return_value = clock
        clock.used.return_value = 0.0
        clock.stands_in_queue.return_value = False
        asked = SimpleNamespace(at=0.0, takes=0.0)

        def send(*_: object) -> None:
            asked.at = self._time.now
            asked.takes, lack = next(self._coming)
            clock.lack.side_effect = lambda: min(lack, self._time.now - asked.at)

        def receive(end: float, *_: object) -> bytes:
            if asked.at + asked.takes >= end:
                self._time.now = end
                raise ChildLost("late")
            self._time.now = asked.at + asked.takes
            return pack({"type": "hello", "protocol": VERSION, "can": ["choose"]})

        child.send.side_effect, child.receive.side_effect = send, receive
        return child


@pytest.fixture
def begin(clock: VirtualClock, monkeypatch: pytest.MonkeyPatch) -> Any:
    def make(*answers: tuple[float, float]) -> Children:
        children = Children(clock, *answers)
        monkeypatch.setattr(agent_process, "start_agent", children.start)
        return children

    return make


@pytest.mark.parametrize(
    ("answers", "processes", "seconds"),
    [
        ([(14, 0)], 1, 14),
        ([(140, 130)], 1, 140),  # 10 s with a processor
        ([NEVER, (50, 0)], 2, 15 + 50),
        ([NEVER, (160, 101)], 2, 15 + 160),
    ],
)
def test_a_late_host_is_started_once_more(
    begin: Any, clock: VirtualClock, answers: list[tuple[float, float]], processes: int, seconds: float
) -> None:
    children, began = begin(*answers), clock.now
    assert AgentProcess(PYTHON, None, "process").alive
    assert children.started == processes
    assert clock.now - began == pytest.approx(seconds, abs=0.3)  # a pause follows each limit


@pytest.mark.parametrize(("answer", "seconds"), [(NEVER, 15 + 60), ((1e9, 1e9), 150 + 600)])
def test_a_host_that_does_not_answer_is_no_fault_of_the_agent(
    begin: Any, clock: VirtualClock, answer: tuple[float, float], seconds: float
) -> None:
    """The limit is at most ten times as long, as for decisions. The next match tries it again."""
    children, began, pool = begin(*[answer] * 4, AT_ONCE), clock.now, AgentProcesses()
    for tries in (1, 2):
        with pytest.raises(HostLate, match="arena's own process for random has failed to start twice: its hello took longer"):
            pool.take(PYTHON, Limits(), "process")
        assert clock.now - began == pytest.approx(tries * seconds, abs=1)
    assert pool.take(PYTHON, Limits(), "process").alive
    assert children.started == 5


def test_the_first_message_of_a_program_is_its_own(begin: Any) -> None:
    children, pool = begin((20, 20), AT_ONCE), AgentProcesses()
    for _ in range(2):
        with pytest.raises(AgentLost, match="its hello took longer than its limit of 15 s"):
            pool.take(COMMAND, Limits(), "process")
    assert children.started == 1


@pytest.mark.parametrize("what", [START, LOADING])
@pytest.mark.parametrize("program", [PYTHON, COMMAND])
def test_a_start_is_extended_by_the_time_without_a_processor(
    begin: Any, clock: VirtualClock, what: str, program: Program
) -> None:
    """The limit is 10 s. It is at most ten times as long, as for decisions."""
    for answer, waited, well in (((9, 0), 9, True), ((90, 85), 90, True), ((30, 10), 20, False), ((500, 500), 100, False)):
        begin(AT_ONCE, answer)
        process = AgentProcess(program, None, "process")
        process.begin()
        began = clock.now
        if well:
            process.ask(b"", 10.0, what=what)
        else:
            with pytest.raises(AgentLost, match=f"{what} took longer than its limit of 10 s"):
                process.ask(b"", 10.0, what=what)
        assert clock.now - began == pytest.approx(waited, abs=0.3)
        assert process.processors() == (0.0, 0.0), "only decisions count"


@pytest.mark.parametrize("blamed", [0, 1])
def test_a_match_is_void_unless_its_other_agent_disturbs_the_start(begin: Any, blamed: int) -> None:
    begin(NEVER, NEVER)
    pool, game = AgentProcesses(), TicTacToe()
    pool.find_blame = lambda *_: Forfeit("timeout", blamed, "found")  # type: ignore[method-assign]
    seat = Seat("a", lambda: None, False, None, Limits(), "", isolation="process", program=PYTHON)  # type: ignore[arg-type,return-value]
    player: Player = RemotePlayer(Match("0", game, Position("", None, ""), (seat, seat), 1), 0, pool, ())
    if blamed == 0:
        with pytest.raises(ArenaError, match="failed to start twice"):  # the referee makes this a void match
            player.make_agent()
    else:
        with pytest.raises(Forfeit) as found:
            player.make_agent()
        assert found.value.ending.seat == 1
