"""No signal of the kernel continues a process of a stopped agent when another of its processes dies."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from arena.clock import perf_counter
from arena_isolation.agent_start import AgentChild
from arena_isolation.sandbox import enclose, environment
from arena_isolation.stopped_family import StoppedFamily
from arena_isolation.system_calls import filter_pipe, group_filter, open_pipe
from tests.eventually import eventually

pytestmark = [pytest.mark.process, pytest.mark.promise(hole="clock", isolation=("process", "sandbox"))]
PROGRAM = '''
"""Starts a process called "victim" whose death continues another, and tells when anything was continued."""
import ctypes, fcntl, json, os, signal, struct, sys, time

libc = ctypes.CDLL(None, use_errno=True)
CONT, DEATH, NAME, F_SETSIG, CLONE = signal.SIGCONT, 1, 15, 10, 56 if os.uname().machine == "x86_64" else 220
told, tell = os.pipe()
begun, begin = os.pipe()
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(CONT, lambda *_: os.write(tell, struct.pack("d", time.monotonic())))

def run():
    os.write(begin, b"x")
    while True: time.sleep(0.01)

def victim():
    signal.signal(CONT, signal.SIG_DFL)
    libc.prctl(NAME, b"victim", 0, 0, 0)
    run()

def parent():
    if os.fork() == 0:
        if os.fork() == 0:
            libc.prctl(DEATH, CONT, 0, 0, 0)
            run()
        victim()
    return 2

def child():
    if os.fork() == 0:
        made = libc.syscall(CLONE, CONT, 0, 0, 0, 0)
        if made < 0: made = os.fork()
        victim() if made == 0 else run()
    return 2

def file():
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        victim()
    os.close(writer)
    if os.fork() == 0:
        try: fcntl.fcntl(reader, F_SETSIG, CONT)
        except OSError: pass
        fcntl.fcntl(reader, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
        run()
    return 2

def terminal():
    try: master, slave = os.openpty()
    except OSError: master = slave = None
    if os.fork() == 0:
        if slave is not None: os.close(slave)
        victim()
    if master is not None:
        os.close(os.open(os.ttyname(slave), os.O_RDWR))  # it becomes the terminal of a leader without one
        fcntl.ioctl(slave, 0x540E, 0) if os.getsid(0) == os.getpid() else None
        os.close(master)
    return 1

def group():
    if os.fork() == 0:
        os.setpgid(0, 0)
        if os.fork() == 0: run()
        victim()
    return 2

started = {one.__name__: one for one in (parent, child, file, terminal, group)}[sys.argv[1]]()
while started: started -= len(os.read(begun, 1))
print("ready", flush=True)
sys.stdin.readline()
os.set_blocking(told, False)
try: marks = os.read(told, 1 << 12)
except BlockingIOError: marks = b""
print(json.dumps([one for one, in struct.iter_unpack("d", marks)]), flush=True)
'''
WAYS = ["parent", "child", "file", "terminal", "group"]


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    """Processes are stopped only once here, so that one that is continued has time to tell."""
    monkeypatch.setattr(StoppedFamily, "look", lambda _: None)
    with ExitStack() as stack:
        yield stack


def times_of(way: str, stack: ExitStack, folder: Path, isolation: str, *, filtered: bool = True) -> list[float]:
    """Return when a process of an agent was continued while the agent was stopped."""
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-I", "-S", str(folder / "program.py"), way]
    if isolation == "sandbox":
        inside = stack.enter_context(filter_pipe(frozen=not filtered, metered=True))
        command = enclose(command, folder=folder, calls=inside, metered=True)
        child = AgentChild(command, str(folder), 0, environment(os.environ), descriptors=[inside])
    else:
        program = group_filter() if filtered else None
        calls = None if program is None else stack.enter_context(open_pipe(program))
        child = AgentChild(command, str(folder), 0, os.environ, apart=True, calls=calls)
    stack.callback(child.end)
    assert child.receive(None) == b"ready"
    child.rest()
    below = psutil.Process(child.pid).children(recursive=True)
    eventually(lambda: {one.status() for one in below} == {psutil.STATUS_STOPPED})
    began = perf_counter()
    [victim] = [one for one in below if one.name() == "victim"]
    victim.send_signal(signal.SIGKILL)
    time.sleep(0.3)
    ended = perf_counter()
    child.wake()
    time.sleep(0.1)
    child.send(b"\n", None)
    return [moment for moment in json.loads(child.receive(None)) if began < moment < ended]


@pytest.fixture(params=["process", "sandbox"])
def isolation(request: pytest.FixtureRequest) -> str:
    if request.param == "sandbox":
        request.getfixturevalue("bubblewrap")
    return str(request.param)


@pytest.mark.parametrize("way", WAYS)
def test_a_stopped_process_is_not_continued_by_the_end_of_another_process(
    way: str, isolation: str, stack: ExitStack, tmp_path: Path
) -> None:
    """The end of a process sends signals to its children, its parent, readers of a pipe, and the session of a terminal."""
    assert times_of(way, stack, tmp_path, isolation) == []


@pytest.mark.parametrize("way", ["parent", "child", "file"])
def test_without_the_filter_a_stopped_process_is_continued_by_the_end_of_another(
    way: str, isolation: str, stack: ExitStack, tmp_path: Path
) -> None:
    """This shows that the test above would detect such a signal."""
    assert times_of(way, stack, tmp_path, isolation, filtered=False) != []
