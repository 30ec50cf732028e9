"""How fast two seats in sandboxes can speak by what no sandbox hides: a processor that both use, and a futex in a shared file."""

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
SLOTS_SECONDS = (0.005, 0.01, 0.02, 0.05)
BITS = 150
BEGIN_SECONDS = 2.0
"""Seconds in which both sandboxes are there."""


def together(program: str, arguments: Sequence[Sequence[str]], folder: Path) -> list[list[int]]:
    """What two programs print that run at the same time, each in a sandbox of its own."""
    (folder / "program.py").write_text(program)
    begin = str(time.monotonic() + BEGIN_SECONDS)
    started = []
    for words in arguments:
        with filter_pipe() as calls:
            command = enclose([sys.executable, "-I", "-S", "program.py", begin, *words], folder=folder, calls=calls)
            own = environment(os.environ)
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own, cwd=folder, pass_fds=[calls]))
    return [json.loads(f"[{','.join(one.communicate(timeout=60)[0].split())}]") for one in started]


def bits_a_second(sent: str, heard: Sequence[int], slot: float) -> float:
    """The capacity of a symmetric binary channel (Shannon 1948), with the threshold that errs least."""
    wrong = min(
        sum((work < bound) != (bit == "1") for bit, work in zip(sent, heard, strict=True)) for bound in [*heard, max(heard) + 1]
    )
    error = min(max(wrong / len(sent), 1 / len(sent)), 0.5)
    return (1 + error * log2(error) + (1 - error) * log2(1 - error)) / slot


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that sandboxes can read."""
    if not shutil.which("bwrap"):
        pytest.skip("there is no bubblewrap")
    prove_once()
    return tmp_path


def test_the_load_of_a_processor(bench: "Bench", folder: Path) -> None:
    """One seat computes or sleeps, slot by slot, and the other counts how far it comes on the same core."""
    rates = {}
    for slot in SLOTS_SECONDS:
        sent = "".join(Random(1).choices("01", k=BITS))
        _, heard = together(LOAD, [[str(slot), sent], [str(slot), "?" * BITS]], folder)
        rates[slot] = bits_a_second(sent, heard, slot)
    best = max(rates, key=lambda slot: rates[slot])
    bench.at_most(1000, "channel by the load of a processor", rates[best], "bit/s", slot=f"{best * 1000:.0f} ms")


def test_a_futex_in_a_file_of_the_system(bench: "Bench", folder: Path) -> None:
    """One seat wakes, the other waits to be woken: a bit each time."""
    spoken, heard = together(FUTEX, [["1", "1"], ["1", "0"]], folder)
    bench.at_most(1_000_000, "channel by a futex in a shared file", min(spoken[0], heard[0]), "bit/s")
