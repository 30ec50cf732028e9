"""Which process plays a match: an idle one of the same program, unless it has played the same deal."""

from typing import Any
from unittest.mock import Mock

import pytest

from arena import Limits
from arena.api.match import Program
from arena_isolation import agent_process
from arena_isolation.agent_pool import MAX_IDLE_PROCESSES, AgentProcesses
from arena_isolation.agent_process import AgentProcess
from arena_isolation.protocol import VERSION

PROGRAM = Program("random", {}, None, (), "/")


class Idle:
    """A process that does nothing."""

    shares_limits = False

    def __init__(self, program: Program, *_: object) -> None:
        self.confined = program.agent.startswith("confined")
        self.deals: set[str] = set()
        self.alive = True

    def join(self, pool: AgentProcesses) -> None:
        pass

    def end(self) -> None:
        self.alive = False


def make_pool() -> AgentProcesses:
    start: Any = Idle
    return AgentProcesses(start)


def play(pool: AgentProcesses, deal: str | None, program: Program = PROGRAM) -> object:
    """Take a process for a match, and give it back. Return it."""
    process = pool.take(program, Limits(), "process", deal)
    pool.give_back(process, program, Limits(), "process")
    return process


def test_a_process_plays_each_deal_at_most_once() -> None:
    """This includes the deal of a match for which the process was not started."""
    pool = make_pool()
    first = play(pool, "1/0")
    assert play(pool, "2/0") is first
    second = play(pool, "2/0")
    assert second is not first
    assert play(pool, "1/0") is second
    assert play(pool, "1/0") not in (first, second)
    assert pool.started == 3


def test_a_confined_process_ends_before_another_process_plays_its_deal() -> None:
    """This holds even if the two processes belong to different entries. A process with code chosen by the organiser is kept."""
    pool = make_pool()
    stranger, other = (play(pool, "1/0", Program(name, {}, None, (), "/")) for name in ("confined a", "random"))
    assert getattr(stranger, "alive") is False  # noqa: B009
    assert play(pool, "2/0", Program("confined a", {}, None, (), "/")) is not stranger
    play(pool, "1/0")
    assert getattr(other, "alive") is True  # noqa: B009


def test_without_hidden_cards_one_process_plays_all_matches() -> None:
    """Two concurrent matches need two processes."""
    pool = make_pool()
    assert len({play(pool, None) for _ in range(5)}) == 1
    assert len({pool.take(PROGRAM, Limits(), "process") for _ in range(2)}) == 2


def test_entries_with_different_memory_limits_do_not_share_a_process() -> None:
    """A process has the memory limit with which it was started."""
    pool = make_pool()
    found = []
    for memory_mb in (64, 1024, None, 64):
        limits = Limits(memory_mb=memory_mb)
        found.append(pool.take(PROGRAM, limits, "process"))
        pool.give_back(found[-1], PROGRAM, limits, "process")
    assert len({*found[:3]}) == 3
    assert found[3] is found[0]


def test_the_process_that_has_been_idle_longest_is_ended() -> None:
    pool = make_pool()
    processes = [play(pool, None, Program(f"agent {number}", {}, None, (), "/")) for number in range(MAX_IDLE_PROCESSES + 2)]
    assert [getattr(one, "alive") for one in processes] == [False, False, *[True] * MAX_IDLE_PROCESSES]  # noqa: B009


def test_each_match_may_print_as_much_as_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit on printed output begins again with each match of a process."""
    started = Mock()
    started.wake.return_value = started.used_at_rest.return_value = 0.0
    started.read_unasked.return_value = None
    started.receive.return_value = b'{"type": "hello", "protocol": %d, "can": ["choose"]}\n' % VERSION
    monkeypatch.setattr(agent_process, "start_agent", lambda *_: started)
    process = AgentProcess(PROGRAM, None, "process")
    for match in range(1, 4):
        process.begin()
        assert started.chatter.again.call_count == match
