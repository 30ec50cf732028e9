"""Processes claim environments that take long to read, or that fill the memory of whoever reads them."""

import os
import tracemalloc
from pathlib import Path
from statistics import median

import pytest

from tests.extensions.isolation.conftest import played
from tests.hostile.conftest import stop_agents_by
from tests.players import PLAYERS

PLUGIN = """
import ctypes, mmap, os, struct, sys, time
from arena import Agent, hookimpl

libc = ctypes.CDLL(None)
libc.mmap.restype = libc.sbrk.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
SET_MM, MAP = 35, 14

def swell(size):
    "Points the environment of this process at zeros, which take no memory."
    words = open("/proc/self/stat").read().rpartition(")")[2].split()
    code, stack, data = words[23:25], words[25:26], [*words[42:45]]
    zeros = libc.mmap(None, size, 1, 0x4022, -1, 0)
    first = [int(word) for word in (*code, *data)]
    rest = [libc.sbrk(0), int(stack[0]), *map(int, words[45:47]), zeros, zeros + size]
    plan = struct.pack("<11QQIi", *first, *rest, 0, 0, -1)
    return libc.prctl(SET_MM, MAP, plan, len(plan), 0)

class Swollen(Agent):
    "Its depth says whether the kernel let it swell."
    name = "swollen"
    granted = None
    def choose(self, game, state, search):
        if self.granted is None:
            self.granted = swell(SIZE) == 0
        time.sleep(0.03)
        action = next(iter(game.actions(state)))
        search.report(action, depth=int(self.granted))
        return action

class Hoarder(Agent):
    "Has 12 children with many variables. The depth tells for how many microseconds another child ran after an answer."
    name = "hoarder"
    shared = None
    def choose(self, game, state, search):
        if self.shared is None:
            self.begin()
        worked = struct.unpack_from("d", self.shared, 8)[0]
        struct.pack_into("qd", self.shared, 0, 0, 0.0)
        time.sleep(0.03)
        action = next(iter(game.actions(state)))
        search.report(action, depth=int(1e6 * worked))
        struct.pack_into("q", self.shared, 0, 1)
        return action
    def begin(self):
        shared = os.open("/dev/shm/worked", os.O_CREAT | os.O_RDWR)
        os.ftruncate(shared, 16)
        self.shared = mmap.mmap(shared, 16)
        if os.fork() == 0:
            last = time.perf_counter()
            while True:
                now = time.perf_counter()
                if struct.unpack_from("q", self.shared, 0)[0] and now - last < 0.001:
                    struct.pack_into("d", self.shared, 8, struct.unpack_from("d", self.shared, 8)[0] + now - last)
                last = now
        words = (ctypes.c_char_p * 3)(b"sleep", b"600", None)
        variables = (ctypes.c_char_p * 100001)(*[b"%x=" % number for number in range(100000)], None)
        for _ in range(12):
            if os.fork() == 0:
                libc.execve(b"/bin/sleep", words, variables)
                os._exit(1)
        time.sleep(0.3)

@hookimpl
def arena_agents():
    return [Swollen, Hoarder]
"""
CLAIMED_BYTES, READ_BYTES = 60 << 20, 24 << 20
"""What a process claims, and less than what it would take to hold that once."""


@pytest.mark.process
@pytest.mark.promise(hole="memory", isolation=("process", "sandbox"))
@pytest.mark.parametrize(("isolation", "granted"), [("process", 1), ("sandbox", 0)])
def test_a_claimed_environment_does_not_fill_the_memory_of_arena(
    isolation: str, granted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A sandbox refuses the call. Without one, the call succeeds, and arena reads only the beginning."""
    if isolation == "sandbox":
        request.getfixturevalue("bubblewrap")
    stop_agents_by("signals", monkeypatch)
    plugin = tmp_path / "swollen.py"
    plugin.write_text(PLUGIN.replace("SIZE", str(CLAIMED_BYTES)))
    agents = [{"agent": "swollen"}, {"agent": "sleeper", "seconds": 0.15}]
    spec = {"game": "connect-four", "rounds": 1, "isolation": isolation, "limits": {"seconds": 1, "moves": 6}}
    tracemalloc.start()
    try:
        records = played({**spec, "agents": agents, "plugins": [str(plugin), str(PLAYERS)]})
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [record.termination for record in records] == ["move-limit"] * 2, records
    seats = [(record, record.labels.index("swollen")) for record in records]
    assert {move.depth for record, seat in seats for move in record.decisions if move.seat == seat} == {granted}
    assert most < READ_BYTES


@pytest.mark.promise(hole="clock", isolation=("process", "sandbox"))
@pytest.mark.parametrize("isolation", ["process", "sandbox"])
def test_children_with_many_variables_gain_no_time_after_an_answer(
    isolation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """An agent may use 20 ms of processor time before it counts as computing in the turn of another."""
    if isolation == "sandbox":
        request.getfixturevalue("bubblewrap")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("the child and arena need a core each")
    stop_agents_by("signals", monkeypatch)
    plugin = tmp_path / "hoarder.py"
    plugin.write_text(PLUGIN.replace("SIZE", "0").replace("/dev/shm/worked", f"/dev/shm/worked-{os.getpid()}"))
    spec = {"game": "connect-four", "rounds": 1, "isolation": isolation, "limits": {"seconds": 30, "moves": 8}}
    agents = ["hoarder", {"agent": "sleeper", "seconds": 0.1}]
    try:
        records = played({**spec, "agents": agents, "plugins": [str(plugin), str(PLAYERS)]})
    finally:
        Path(f"/dev/shm/worked-{os.getpid()}").unlink(missing_ok=True)
    gains = []
    for record in records:
        moves = [move for move in record.decisions if move.seat == record.labels.index("hoarder")]
        if record.termination != "move-limit":  # the agent was noticed, and lost
            assert "computed during another agent's turn" in str(record.message), record
        else:
            assert len(moves) == 4
        charged = [move.seconds - 0.03 for move in moves]  # until arena has read the answer
        gains += [(after.depth or 0) / 1e6 - paid for paid, after in zip(charged[1:], moves[2:], strict=False)]
    # a hole in the stop shows in every turn; a single turn can be late because arena waited for a processor
    assert median(gains or [0.0]) < 0.02, gains
