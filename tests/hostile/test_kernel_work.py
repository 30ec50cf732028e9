"""The kernel works on for an agent that is stopped. The agent is charged for this."""

import os
from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena.match.player import Forfeit
from arena_isolation import agent_pool
from arena_isolation.agent_pool import AgentProcesses
from tests.hostile.conftest import stop_agents_by
from tests.hostile.test_shared_limits import FakeProcess
from tests.players import PLAYERS

PLUGIN = """
import ctypes, os, time
from arena import Agent, hookimpl

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
BYTES, PRIVATE_ANONYMOUS_UNRESERVED, SMALL_PAGES, POPULATE_READ = 8 << 30, 0x4022, 15, 22

class Honest(Agent):
    "Has a busy child, too, but the kernel has nothing to do for it."
    name = "honest"
    begin = None
    def choose(self, game, state, search):
        if self.begin is None:
            begun, self.begin = os.pipe()
            if os.fork() == 0:
                os.read(begun, 1)
                while True:
                    self.work()
            os.write(self.begin, b"x")
            time.sleep(0.05)  # the call has begun
        return game.actions(state)[0]
    def work(self):
        pass

class Burner(Honest):
    "One system call maps the same empty page two million times."
    name = "burner"
    def work(self):
        place = libc.mmap(None, BYTES, 1, PRIVATE_ANONYMOUS_UNRESERVED, -1, 0)
        libc.madvise(place, BYTES, SMALL_PAGES)
        libc.madvise(place, BYTES, POPULATE_READ)

@hookimpl
def arena_agents():
    return [Burner, Honest]
"""


@pytest.mark.process
@pytest.mark.promise(hole="clock", isolation=("process", "sandbox"))
@pytest.mark.parametrize("way", ["group", "signals"])
@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_work_of_the_kernel_for_a_stopped_agent_is_a_fault_of_this_agent(
    isolation: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A busy child that the kernel can stop at once is not a fault."""
    if isolation == "sandbox":
        request.getfixturevalue("bubblewrap")
    if tuple(map(int, os.uname().release.split(".")[:2])) < (5, 14):
        pytest.skip("this kernel has no MADV_POPULATE_READ")
    stop_agents_by(way, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work.py").write_text(PLUGIN)
    sleeper = {"agent": "sleeper", "seconds": 0.2, "plugin": str(PLAYERS), "isolation": isolation}
    for name in ("burner", "honest"):
        entries: list[dict[str, Any]] = [{"agent": name, "plugin": "work.py", "isolation": isolation}, sleeper]
        game = {"name": "tic-tac-toe", "rows": 1, "columns": 4, "in_a_row": 4}
        for record in run({"game": game, "rounds": 1, "limits": {"seconds": 5}, "agents": entries}).records:
            if name == "honest":
                assert record.termination == "normal", record
            else:
                assert (record.termination, record.labels[record.seat or 0]) == ("timeout", "burner"), record
                assert "computed during another agent's turn" in str(record.message)


class BusyProcess(FakeProcess):
    """A stopped process for which the kernel works."""

    def __init__(self, *, busy: bool) -> None:
        super().__init__(set())
        self._busy = busy

    def disturbs(self) -> str | None:
        """Return the words of a process that works."""
        return "works" if self._busy else None


@pytest.mark.parametrize(("busy", "idle", "expected"), [(True, False, 1), (False, True, 0), (False, False, 0)])
def test_a_stopped_agent_of_the_match_loses_if_it_delays_another(
    busy: bool, idle: bool, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent of another match is ended. The match is not void, because that agent may be an accomplice of the slow one."""
    monkeypatch.setattr(agent_pool, "find_used_up", lambda: None)
    pool = AgentProcesses()
    slow, other, beside = BusyProcess(busy=False), BusyProcess(busy=busy), BusyProcess(busy=idle)
    pool.playing = {slow: 0, other: 1}  # type: ignore[dict-item]
    pool._idle["beside"] = [beside]  # type: ignore[list-item]
    found = pool.find_blame(Forfeit("timeout", 0, "too slow"), slow)  # type: ignore[arg-type]
    assert (found.ending.reason, found.ending.seat) == ("timeout", expected)
    assert beside.alive != idle
    crash = Forfeit("crash", 0, "ended")
    assert pool.find_blame(crash, slow) is crash  # type: ignore[arg-type]
