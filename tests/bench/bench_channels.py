"""How fast two seats in sandboxes can communicate over channels that no sandbox closes: the load of a shared processor, a futex
in a shared file, counters of the kernel, and the mapped pages and unread pages of a shared file. The last three keep a message
until the next turn.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from math import log2
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from arena_isolation.agent_start import prove_once
from arena_isolation.sandbox import enclose, environment
from arena_isolation.system_calls import filter_pipe

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

LOAD = """
import os, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
begin, slot, bits = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
speaks = bits[0] != "?"
while time.monotonic() < begin:
    time.sleep(0.001)
for number, bit in enumerate(bits):
    end, work = begin + (number + 1) * slot, 0
    if speaks and bit == "0":
        time.sleep(max(0, end - time.monotonic()))
    while time.monotonic() < end:
        work += 1
    if not speaks:
        print(work)
"""
FUTEX = """
import ctypes, mmap, os, sys, time
until, speaks = float(sys.argv[1]) + float(sys.argv[2]), sys.argv[3] == "1"
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
place = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, os.open("/usr/bin/env", os.O_RDONLY), 0)
value, number = ctypes.c_uint.from_address(place).value, {"x86_64": 202, "aarch64": 98}[os.uname().machine]
wait = ctypes.create_string_buffer((0).to_bytes(8, "little") + (10_000_000).to_bytes(8, "little"))
heard = 0
while time.monotonic() < until:
    if speaks:
        heard += libc.syscall(number, ctypes.c_void_p(place), 1, 1, None, None, 0)
    else:
        heard += libc.syscall(number, ctypes.c_void_p(place), 0, value, wait, None, 0) == 0
print(heard)
"""
PIPES = """
import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for line in sys.stdin:
    for _ in range(1 if line == "?\\n" else int(line)):
        ends = os.pipe()
        number = os.fstat(ends[0]).st_ino
        os.close(ends[0]), os.close(ends[1])
    print(number, flush=True)
"""
THREADS = """
import ctypes, sys, threading
libc, info, held = ctypes.CDLL(None), (ctypes.c_ushort * 56)(), []
for line in sys.stdin:
    if line == "?\\n":
        libc.sysinfo(info)
        print(info[40], flush=True)  # the number of threads on the machine
        continue
    for event, thread in held:
        event.set()
        thread.join()
    held = [(event := threading.Event(), threading.Thread(target=event.wait, daemon=True)) for _ in range(int(line))]
    for _, thread in held:
        thread.start()
    print("done", flush=True)
"""
PAGES = """
import mmap, os, sys, time
stride, bits = int(sys.argv[2]), sys.argv[3]
pages = mmap.mmap(os.open("large", os.O_RDONLY), 0, prot=mmap.PROT_READ)
pages.madvise(mmap.MADV_RANDOM)
for number, bit in enumerate(bits):
    if bit == "0":
        continue
    began = time.perf_counter()
    pages[number * stride]
    if bit == "?":
        print(int(1e9 * (time.perf_counter() - began)))
print(0)
"""
MAPPED = """
import ctypes, os, sys
libc, size = ctypes.CDLL(None), os.sysconf("SC_PAGE_SIZE")
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
file, pages, held = os.open("large", os.O_RDONLY), open("/proc/self/pagemap", "rb", buffering=0), []
def touch(number):
    place = libc.mmap(None, size, 1, 1, file, number * size)  # a mapping of one page, so that no other page is mapped with it
    ctypes.c_ubyte.from_address(place).value
    return place
for line in sys.stdin:
    for place in held:
        libc.munmap(place, size)
    held, bits = [], line.strip()
    if bits[0] != "?":
        held = [touch(number) for number, bit in enumerate(bits) if bit == "1"]
        print("done", flush=True)
        continue
    heard = ""
    for number in range(len(bits)):
        place = touch(number)
        heard += "01"[not int.from_bytes(os.pread(pages.fileno(), 8, place // size * 8), "little") >> 56 & 1]
        libc.munmap(place, size)
    print(heard, flush=True)
"""
COUNTERS = {"numbers of pipes": (PIPES, 1024, 16), "number of threads": (THREADS, 16, 12)}
"""Counters of the kernel. For each, the program, the number of words that a seat can send, and the step of the counter for each
word.
"""
TURNS = 40
MAPPED_BITS = 4096
STRIDE_BYTES = 256 << 10
"""The distance between two pages that carry a bit. Reading one page must not also read the next one."""
SLOTS_SECONDS = (0.005, 0.01, 0.02, 0.05)
BITS = 150
BEGIN_SECONDS = 2.0
"""The time in seconds within which both sandboxes have started."""


def together(program: str, arguments: Sequence[Sequence[str]], folder: Path, readable: Sequence[Path] = ()) -> list[list[int]]:
    """Run one program several times at once, each time in its own sandbox and with its own arguments. Return the numbers that
    each of them prints.
    """
    (folder / "program.py").write_text(program)
    begin = str(time.monotonic() + BEGIN_SECONDS)
    started = []
    for words in arguments:
        with filter_pipe(frozen=True, metered=True) as calls:
            command = enclose(
                [sys.executable, "-I", "-S", "program.py", begin, *words],
                readable=readable,
                folder=folder,
                calls=calls,
                metered=True,
            )
            own = environment(os.environ)
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own, cwd=folder, pass_fds=[calls]))
    return [json.loads(f"[{','.join(one.communicate(timeout=60)[0].split())}]") for one in started]


class Talker:
    """A program in a sandbox that answers each line that it is given."""

    def __init__(self, program: str, folder: Path, readable: Sequence[Path] = ()) -> None:
        (folder / "talker.py").write_text(program)
        with filter_pipe(frozen=True, metered=True) as calls:
            words = [sys.executable, "-I", "-S", "talker.py"]
            command = enclose(words, readable=readable, folder=folder, calls=calls, metered=True)
            own, pipe = environment(os.environ), subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=own, cwd=folder, pass_fds=[calls])

    def ask(self, line: object) -> str:
        """Send a line, and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def end(self) -> None:
        """Wait until the program ends."""
        self._process.communicate(timeout=60)


def bits_a_second(sent: str, heard: Sequence[int], slot: float) -> float:
    """Return the capacity of a symmetric binary channel (Shannon 1948), with the threshold that makes the fewest errors."""
    wrong = min(
        sum((work < bound) != (bit == "1") for bit, work in zip(sent, heard, strict=True)) for bound in [*heard, max(heard) + 1]
    )
    error = min(max(wrong / len(sent), 1 / len(sent)), 0.5)
    return (1 + error * log2(error) + (1 - error) * log2(1 - error)) / slot


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that sandboxes can read."""
    if not shutil.which("bwrap"):
        pytest.skip("there is no bubblewrap")
    prove_once()
    return tmp_path


def test_the_load_of_a_processor(bench: "Bench", folder: Path) -> None:
    """In each time slot, one seat computes or sleeps, and the other seat counts how much it can compute on the same core."""
    rates = {}
    for slot in SLOTS_SECONDS:
        sent = "".join(Random(1).choices("01", k=BITS))
        _, heard = together(LOAD, [[str(slot), sent], [str(slot), "?" * BITS]], folder)
        rates[slot] = bits_a_second(sent, heard, slot)
    best = max(rates, key=lambda slot: rates[slot])
    bench.at_most(1000, "channel by the load of a processor", rates[best], "bit/s", slot=f"{best * 1000:.0f} ms")


@pytest.mark.parametrize("name", COUNTERS)
def test_counters_of_the_kernel(bench: "Bench", folder: Path, name: str) -> None:
    """One seat moves a counter and waits. During its turn, the other seat reads by how much the counter has moved."""
    program, levels, step = COUNTERS[name]
    speaker, listener = Talker(program, folder), Talker(program, folder)
    total = name == "numbers of pipes"  # this counter never goes back
    wrong, draw, last = 0, Random(1), 0
    for _ in range(TURNS):
        base = int(listener.ask("?")) - (0 if total else last * step)
        last = draw.randrange(1, levels)
        speaker.ask(last * step)
        wrong += round((int(listener.ask("?")) - base) / step) != last
    for one in (speaker, listener):
        one.end()
    error = min(max(wrong / TURNS, 1e-9), 1 - 1 / levels)
    rate = log2(levels) + (1 - error) * log2(1 - error) + error * log2(error / (levels - 1))
    bench.at_most(16, f"channel by the {name}", rate, "bit/turn")


def test_pages_that_another_seat_maps(bench: "Bench", folder: Path) -> None:
    """One seat maps some pages of a file. During its turn, the other seat asks the kernel which pages another process maps."""
    (folder / "large").write_bytes(os.urandom(MAPPED_BITS * os.sysconf("SC_PAGE_SIZE")))
    speaker, listener = (Talker(MAPPED, folder, [folder / "large"]) for _ in range(2))
    rates, took = [], []
    for number in range(TURNS):
        sent = "".join(Random(number).choices("01", k=MAPPED_BITS))
        began = time.perf_counter()
        speaker.ask(sent)
        heard = listener.ask("?" * MAPPED_BITS)
        took.append(time.perf_counter() - began)
        rates.append(MAPPED_BITS * bits_a_second(sent, [int(bit == "0") for bit in heard], 1.0))
    for one in (speaker, listener):
        one.end()
    seconds = f"{sorted(took)[TURNS // 2]:.2f} s"
    bench.at_most(MAPPED_BITS, "channel by pages that another seat maps", min(rates), "bit/turn", turn=seconds)


def test_pages_that_no_process_has_read(bench: "Bench", folder: Path) -> None:
    """One seat reads some pages of a file for the first time. The other seat can then read these pages faster. Each page can
    carry one bit, only once.
    """
    sent = "".join(Random(1).choices("01", k=BITS))
    with (folder / "large").open("wb") as file:
        for _ in range(BITS):
            file.write(os.urandom(STRIDE_BYTES))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # remove the pages from the cache
    together(PAGES, [[str(STRIDE_BYTES), sent]], folder, [folder / "large"])
    (heard,) = together(PAGES, [[str(STRIDE_BYTES), "?" * BITS]], folder, [folder / "large"])
    rate = bits_a_second(sent, heard[:-1], 1.0)
    bench.at_most(1, "channel by pages that nobody has read", rate, "bit/page")


def test_a_futex_in_a_file_of_the_system(bench: "Bench", folder: Path) -> None:
    """One seat wakes the other one, which waits for it. Each time, this sends one bit."""
    spoken, heard = together(FUTEX, [["1", "1"], ["1", "0"]], folder)
    bench.at_most(1_000_000, "channel by a futex in a shared file", min(spoken[0], heard[0]), "bit/s")
