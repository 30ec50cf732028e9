"""The end of what an agent prints, in a file that stays small whatever is printed, by however many processes."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from arena_isolation.agent_log import KEPT_BYTES, AgentLog, end_of_log
from arena_isolation.stderr import StderrRelay
from tests.eventually import DEADLINE_SECONDS, eventually

WRITES = """
import sys
from pathlib import Path
from arena_isolation.agent_log import AgentLog
log = AgentLog(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    log.add(f"{sys.argv[2]} {number}\\n".encode())
"""
FLOOD = "import os\ntry:\n    while True: os.write(2, b'\\x1b' * 65536)\nexcept OSError: pass"


def _write(path: Path, count: int) -> list[str]:
    """Have two processes write at the same time, and return the lines of the log."""
    path.touch()
    writers = [subprocess.Popen([sys.executable, "-c", WRITES, str(path), name, str(count)]) for name in "ab"]
    assert [one.wait(DEADLINE_SECONDS) for one in writers] == [0, 0]
    return end_of_log(path).splitlines()


@pytest.mark.process
def test_the_log_contains_the_whole_output_of_two_processes(tmp_path: Path) -> None:
    """No line is broken, the lines of each process are in order, and a line with the time comes first."""
    lines = _write(tmp_path / "log", 500)
    for name in "ab":
        assert [line for line in lines if line.startswith(name)] == [f"{name} {number}" for number in range(500)]
    assert sum(line.startswith("-- 20") and line.endswith(" UTC") for line in lines) == len(lines) - 1000 == 2


@pytest.mark.process
def test_the_end_of_a_long_log_is_kept(tmp_path: Path) -> None:
    """The last lines of each process are kept without gaps, in a file of at most twice this size."""
    lines = _write(tmp_path / "log", 5000)
    assert (tmp_path / "log").stat().st_size <= 2 * KEPT_BYTES
    assert KEPT_BYTES - 20 <= len("\n".join(lines)) <= KEPT_BYTES
    for name in "ab":
        own = [int(line.partition(" ")[2]) for line in lines if line.startswith(name)]
        assert own == list(range(5000 - len(own), 5000)) or not own
    assert {lines[-1]} <= {"a 4999", "b 4999"}


def test_pieces_of_output_are_joined_and_each_match_starts_a_new_line(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    log = AgentLog(tmp_path / "log")
    for piece in (b"one ", b"two \xff"):
        log.add(piece)
    log.begin()
    log.add(b"three")
    time_of, said, again, last = end_of_log(tmp_path / "log").splitlines()
    assert (said, last) == ("one two \N{REPLACEMENT CHARACTER}", "three")
    assert time_of[:3] == again[:3] == "-- "


def test_no_log_is_created_unless_it_is_requested(tmp_path: Path) -> None:
    AgentLog(tmp_path / "log").add(b"text")
    assert (list(tmp_path.iterdir()), end_of_log(tmp_path / "log")) == ([], "")


@pytest.mark.load
def test_a_large_output_of_an_agent_costs_arena_little_time_and_disk_space(tmp_path: Path) -> None:
    """The agent writes terminal escape codes for two seconds as fast as it can. Arena uses at most a tenth of a core, and a
    small file.
    """
    log = tmp_path / "log"
    log.touch()
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        flood = subprocess.Popen([sys.executable, "-c", FLOOD], stderr=writing)
        os.close(writing)
        relay = StderrRelay(pipe, "loud", AgentLog(log))
        eventually(lambda: log.stat().st_size)
        clock = time.pthread_getcpuclockid(
            next(one.ident for one in threading.enumerate() if one.name == "chatter" and one.ident)
        )
        shares = []
        for _ in range(4):
            began, used = time.monotonic(), time.clock_gettime(clock)
            time.sleep(0.5)
            shares.append((time.clock_gettime(clock) - used) / (time.monotonic() - began))
        flood.kill()
        flood.wait()
        relay.end(10)
    assert min(shares) < 0.1, "a machine that does other work too makes some half seconds dearer"
    assert log.stat().st_size <= 2 * KEPT_BYTES
    assert set(end_of_log(log).replace("\\x1b", "").strip()) <= set("\\x1b"), "each is an escape"
