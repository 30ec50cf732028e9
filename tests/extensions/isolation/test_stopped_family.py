"""The processor time of a stopped family, with processes whose states and clocks the test chooses."""

import os
from types import SimpleNamespace
from typing import Any

import pytest

from arena.clock import perf_counter
from arena_isolation import stopped_family
from arena_isolation.stopped_family import StoppedFamily

LEADER, BUSY, LATE = 1001, 1002, 1003


class Machine:
    """Processes with their states, and the seconds that each has used."""

    def __init__(self) -> None:
        self.states = {LEADER: b"S", BUSY: b"R", LATE: b"R"}
        self.clocks = {LEADER: 1.0, BUSY: 7.0, LATE: 2.0}
        self.leader = LEADER

    def find_members(self) -> set[int]:
        """Return the processes except the leader."""
        return set(self.states) - {LEADER}

    def read_clock(self, clock: int) -> float:
        """Return the time of a process. The number of its clock is that of `clock_getcpuclockid`."""
        if ~(clock >> 3) not in self.clocks:
            raise OSError
        return self.clocks[~(clock >> 3)]

    def end(self, pid: int) -> None:
        """Let a process end that its parent ignores."""
        del self.states[pid], self.clocks[pid]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(stopped_family, "_keeper", SimpleNamespace(add=lambda _: None, remove=lambda _: None))
    monkeypatch.setattr(stopped_family, "_signal", lambda *_: None)
    monkeypatch.setattr(stopped_family, "clock_gettime", machine.read_clock)
    monkeypatch.setattr(stopped_family, "_read_status", lambda pid: (machine.states.get(pid, b""), 0.0))
    monkeypatch.setattr(os, "getpgid", lambda _: LEADER)
    return machine


@pytest.fixture
def family(machine: Machine) -> Any:
    family: Any = StoppedFamily(machine)  # type: ignore[arg-type]
    family.freeze()
    return family


def listed(family: Any) -> None:
    """Look at the family as the keeper does when its listing is due."""
    family._due = perf_counter()
    family.look()


def test_time_between_the_stop_signal_and_the_stop_is_not_counted(machine: Machine, family: Any) -> None:
    """A busy process ran for another 30 ms before it stopped. Another process had not stopped when it was first checked, and
    its 4 ms count.
    """
    machine.clocks |= {BUSY: 7.03, LATE: 2.004}
    machine.states |= {LEADER: b"T", BUSY: b"T"}
    listed(family)
    assert family.used() == pytest.approx(0.004)
    machine.clocks[BUSY] += 0.05  # something has continued it
    assert family.thaw() == pytest.approx(0.054)


@pytest.mark.parametrize(("state", "expected"), [(b"T", 0.0), (b"R", 0.03)])
def test_no_time_is_counted_for_a_stopped_process_that_is_checked_late(
    state: bytes, expected: float, machine: Machine, family: Any
) -> None:
    """The machine is so busy that the other agent's decision ends before the first check."""
    machine.clocks[BUSY] = 7.03
    machine.states = dict.fromkeys(machine.states, b"T") | {BUSY: state}
    assert family.used() == family.thaw() == pytest.approx(expected)


def test_time_of_processes_that_end_one_after_the_other_is_counted(machine: Machine, family: Any) -> None:
    """Nothing else reports their time, because their parent ignores them. Each check finds another ending process with 5 ms."""
    victims = range(2000, 2008)
    machine.clocks |= dict.fromkeys(victims, 3.0)
    machine.states = dict.fromkeys([*machine.states, *victims], b"T")
    listed(family)
    for pid in victims:
        machine.states[pid] = b"R"
        machine.clocks[pid] += 0.005
        family.look()
        machine.end(pid)
    assert family.thaw() == pytest.approx(8 * 0.005)


def test_only_the_time_after_the_stop_is_counted_for_a_process_that_was_ending(machine: Machine, family: Any) -> None:
    """Its whole time is not counted again after it has ended."""
    machine.states |= {LEADER: b"T", BUSY: b"T"}
    machine.clocks[LATE] = 2.003
    listed(family)
    machine.end(LATE)
    listed(family)
    assert family.thaw() == pytest.approx(0.003)


def test_a_listing_at_the_stop_does_not_replace_the_first_check(machine: Machine, family: Any) -> None:
    """After a long turn, processes are listed while they stop. What they use until the first check is not charged. A process that
    this listing has found counts from then on.
    """
    new = 1004
    machine.states[new], machine.clocks[new] = b"R", 5.0
    assert family.size(0.03) == 3
    machine.clocks |= {BUSY: 7.01, LATE: 2.004, new: 5.008}
    machine.states |= {LEADER: b"T", BUSY: b"T"}
    listed(family)
    assert family.used() == pytest.approx(0.004 + 0.008)
