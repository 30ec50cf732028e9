"""Memory in files without names, crowds of children between turns, and daemons."""

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena.match.record import Record
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_isolation.agent_start import namespaces_work
from arena_isolation.child import measure_usage
from arena_isolation.control_group import new_group, own_folders
from tests.eventually import eventually

pytestmark = pytest.mark.load
AGENTS = """
import ctypes, os, socket, sys, time
from arena import Agent, hookimpl

class Frugal(Agent):
    name = "frugal"

    def choose(self, game, state, search):
        self.take()
        time.sleep(0.3)
        return game.actions(state)[0]

    def take(self):
        try:
            self.file = os.memfd_create("small")
        except OSError:  # nothing would count it here
            self.file = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
        os.write(self.file, bytes(20 << 20))

class Hoarder(Frugal):
    name = "hoarder"

    def take(self):
        self.file = os.memfd_create("large")
        for _ in range(700):
            os.write(self.file, bytes(1 << 20))

class Crowd(Frugal):
    name = "crowd"

    def choose(self, game, state, search):
        if len(game.actions(state)) < 9:
            time.sleep(20)  # it is found out sooner
        return super().choose(game, state, search)

    def take(self):
        if os.fork() == 0:  # it makes them when the turn is over
            os.setsid()
            time.sleep(0.4)
            for _ in range(300):
                if os.fork() == 0:
                    time.sleep(600)
                    os._exit(0)
            os._exit(0)

class Summoner(Frugal):
    name = "summoner"

    def __init__(self, *, word: str = ""):
        self.word = word

    def take(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)", self.word], {})
            os._exit(0)
        os.wait()

class Scribbler(Frugal):
    name = "scribbler"

    def take(self):
        for number in range(80):  # as much as fits into both
            with open(f"/{'tmp' if number < 64 else 'dev/shm'}/{number}", "wb") as file:
                try:
                    file.write(bytes(1 << 20))
                except OSError:
                    continue  # the other folder is not full

class Namer(Frugal):
    name = "namer"

    def take(self):
        for number in range(300000):
            os.mkdir(f"/tmp/{number}")

class Sharer(Frugal):
    name = "sharer"

    def take(self):
        libc = ctypes.CDLL(None)
        libc.shmget.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_int]
        libc.shmat.restype = ctypes.c_void_p
        libc.shmdt.argtypes = [ctypes.c_void_p]
        libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
        if hasattr(self, "taken"):
            return
        self.taken = taken = 0
        while taken < 400:
            segment = libc.shmget(0, 10_000_001, 0o1600)
            if segment < 0:
                break
            taken += 10
            where = libc.shmat(segment, None, 0)
            libc.memset(where, 1, 10_000_001)
            libc.shmdt(where)
        if not 100 < taken < 200:
            raise RuntimeError(f"{taken} MB in segments")

def fill(descriptor):
    os.set_blocking(descriptor, False)
    try:
        while True:
            os.write(descriptor, bytes(60000))
    except BlockingIOError:
        return

class Talker(Frugal):
    name = "talker"

    def take(self):
        self.kept = []
        for _ in range(6):  # a process in a sandbox may have 256 open files
            if os.fork() == 0:
                for _ in range(100):
                    self.kept += socket.socketpair()
                    self.kept[-1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
                    fill(self.kept[-1].fileno())
                time.sleep(600)

class Whisperer(Frugal):
    name = "whisperer"

    def take(self):
        self.kept = [socket.socketpair() for _ in range(20)]
        for pair in self.kept:
            pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 << 20)
            fill(pair[0].fileno())

class Plumber(Frugal):
    name = "plumber"

    def take(self):
        for _ in range(19):
            if os.fork() == 0:
                for _ in range(100):
                    _, end = os.pipe()
                    fill(end)
                time.sleep(600)

class Mapper(Frugal):
    name = "mapper"

    def take(self):
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        many, read, private_anonymous_unreserved, small_pages = 50_000, 1, 0x4022, 15
        place = libc.mmap(None, many << 21, read, private_anonymous_unreserved, -1, 0)
        libc.madvise(place, many << 21, small_pages)
        for number in range(many):  # the same empty page each time, with a page table of its own
            ctypes.c_char.from_address(place + (number << 21)).value

class Hider(Frugal):
    name = "hider"

    def __init__(self, *, way: str = ""):
        self.way, self.hidden = way, []

    def take(self):
        for _ in range(80):
            getattr(self, self.way)(5 << 20)

    def map_shared(self, size, file=-1):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        place = libc.mmap(None, size, 3, 1 if file >= 0 else 0x21, file, 0)
        if place == 2**64 - 1:
            raise OSError(ctypes.get_errno(), "mmap")
        self.hidden.append((libc, place, size))

    def closed(self, size):  # mapped and not open: no page of it is in any page table
        file = os.memfd_create("closed")
        os.posix_fallocate(file, 0, size)
        self.map_shared(size, file)
        os.close(file)

    def sent(self, size):  # open only in a message that nobody has read
        import array
        file = os.memfd_create("sent")
        os.posix_fallocate(file, 0, size)
        ends = socket.socketpair()
        ends[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
        self.hidden.append(ends)
        os.close(file)

    def dropped(self, size, file=-1):  # written, and taken out of the page table
        self.map_shared(size, file)
        libc, place, size = self.hidden[-1]
        ctypes.memset(place, 1, size)
        libc.madvise(place, size, 4)

    def zeros(self, size):
        with open("/dev/zero", "r+b", buffering=0) as file:
            self.dropped(size, file.fileno())

    def apart(self, size):  # a thread takes the open files of its process for itself
        if ctypes.CDLL(None, use_errno=True).syscall(436, 1 << 20, 1 << 20, 2):
            raise OSError(ctypes.get_errno(), "close_range")

class Splitter(Frugal):
    name = "splitter"

    def __init__(self, *, mappings: int = 60_000):
        self.mappings = mappings

    def take(self):
        many, self.mappings = self.mappings, 0  # once
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        private_anonymous_unreserved = 0x4022
        place = libc.mmap(None, many << 12, 0, private_anonymous_unreserved, -1, 0)
        for number in range(0, many, 2):  # every other page may be read
            if libc.mprotect(place + (number << 12), 4096, 1):
                raise OSError(number)
        for _ in range(15 if many else 0):
            if os.fork() == 0:
                time.sleep(600)

class Typist(Frugal):
    name = "typist"

    def take(self):
        os.openpty()

@hookimpl
def arena_agents():
    small = [Frugal, Hoarder, Crowd, Summoner, Scribbler, Namer, Sharer]
    return [*small, Talker, Whisperer, Plumber, Mapper, Hider, Splitter, Typist]
"""
ISOLATIONS = ["process", "sandbox"]


@pytest.fixture
def plays(tmp_path: Path) -> Any:
    """Play one match of an agent of this file, which begins, and return its record."""
    (tmp_path / "hungry.py").write_text(AGENTS)

    def plays(isolation: str, **entry: Any) -> Record:
        agent = {"plugin": "hungry.py", "isolation": isolation, "limits": {"memory_mb": 150}, **entry}
        values = {"game": "tic-tac-toe", "rounds": 1, "agents": [agent, {"agent": "random", "isolation": "none"}]}
        values |= {"limits": {"moves": 3}, "pondering": True}
        (tmp_path / "cup.yaml").write_text(json.dumps(values))
        spec = load_spec(tmp_path / "cup.yaml")
        with closing(MatchRunner(spec)) as runner:
            return runner.play(Schedule(spec).take(1)[0])

    return plays


@pytest.fixture(autouse=True)
def _nothing_left() -> Any:
    """No folder of a control group stays that this process has made."""
    yield
    for folder in own_folders().values():
        assert not list(folder.glob(f"arena-{os.getpid()}-*"))


@pytest.mark.promise(hole="memory", isolation=("process", "sandbox"))
@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize(("agent", "ending"), [("hoarder", "memory"), ("crowd", "crash"), ("frugal", "move-limit")])
def test_using_too_much_memory_loses(agent: str, ending: str, isolation: str, plays: Any) -> None:
    """The cases are 700 MB that no process maps, and 300 children between turns. 20 MB are allowed."""
    record = plays(isolation, agent=agent)
    assert record.termination == ending, record.message
    assert record.seat == (None if ending == "move-limit" else 0)


@pytest.mark.promise(hole="memory", isolation=("process", "sandbox"))
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_daemon_does_not_outlive_the_run(isolation: str, plays: Any) -> None:
    """It has left its session, its parent and its environment."""
    word = f"daemon-{os.getpid()}-{isolation}"
    assert plays(isolation, agent="summoner", word=word).termination == "move-limit"
    eventually(lambda: not alive(word))


@pytest.mark.promise(hole="memory", isolation="sandbox")
@pytest.mark.parametrize("agent", ["scribbler", "namer", "talker", "plumber", "mapper"])
def test_memory_that_no_process_maps_is_counted(agent: str, plays: Any, bubblewrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases are 80 MB of closed files, many folders, messages in sockets and pipes, and 200 MB of page tables. Python adds 10
    to 35 MB, since it shares pages with the other processes of the machine.
    """
    monkeypatch.setattr("arena_isolation.agent_start.new_group", lambda *_: None)
    record = plays("sandbox", agent=agent, limits={"memory_mb": 80})
    assert (record.termination, record.seat) == ("memory", 0), record.message


@pytest.mark.promise(hole="memory", isolation=("process", "sandbox"))
@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize(("mappings", "ending"), [(60_000, "memory"), (1_000, "move-limit")])
def test_mappings_are_counted(
    mappings: int, ending: str, isolation: str, plays: Any, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Sixteen processes have 60,000 mappings each without any page. The kernel needs about 200 MB for them. Sixteen processes
    with as many mappings as large libraries make are not at fault.
    """
    if isolation == "sandbox":
        request.getfixturevalue("bubblewrap")
    monkeypatch.setattr("arena_isolation.agent_start.new_group", lambda *_: None)
    record = plays(isolation, agent="splitter", mappings=mappings)
    assert (record.termination, record.seat) == (ending, 0 if ending == "memory" else None), record.message


@pytest.mark.promise(hole="memory", isolation="sandbox")
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("way", ["closed", "sent", "dropped", "zeros", "apart"])
def test_hidden_memory_is_refused_or_counted(
    way: str, grouped: bool, plays: Any, bubblewrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """400 MB are in no open file and in no page table."""
    if not grouped:
        monkeypatch.setattr("arena_isolation.agent_start.new_group", lambda *_: None)
    elif not counts_memory():
        pytest.skip("no controller of memory can be had here")
    record = plays("sandbox", agent="hider", way=way, limits={"memory_mb": 100})
    if grouped and way == "apart":
        assert record.termination == "move-limit", record.message
    else:
        assert (record.termination, record.seat) == ("memory" if grouped else "exception", 0), record.message
        assert grouped or "Errno" in str(record.message), record.message


@pytest.mark.promise(hole="memory", isolation="process", holds=False)
def test_hidden_memory_is_not_counted_for_a_process(plays: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_isolation.agent_start.new_group", lambda *_: None)
    record = plays("process", agent="hider", way="closed", limits={"memory_mb": 100})
    assert record.termination == "move-limit", record.message


def counts_memory() -> bool:
    """Return whether a control group with a limit of memory can be made here."""
    group = new_group(64 << 20)
    if group is None:
        return False
    limited = group.limited("memory")
    group.remove()
    return limited


@pytest.mark.promise(hole="memory", isolation="sandbox")
def test_socket_buffers_keep_their_size(plays: Any, bubblewrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """20 sockets request 16 MB each and keep 208 KiB. Terminals cannot be opened."""
    monkeypatch.setattr("arena_isolation.agent_start.new_group", lambda *_: None)
    assert plays("sandbox", agent="whisperer", limits={"memory_mb": 100}).termination == "move-limit"
    record = plays("sandbox", agent="typist")
    assert (record.termination, record.seat) == ("exception", 0)
    assert "No such file or directory" in str(record.message)


@pytest.mark.promise(hole="memory", isolation="process")
def test_segments_without_a_process_are_limited(plays: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test uses detached System V segments."""
    monkeypatch.setattr("arena_isolation.agent_start.new_group", lambda *_: None)  # it would count them
    assert namespaces_work()
    record = plays("process", agent="sharer")
    assert record.termination == "move-limit", record.message
    assert "10000001" not in Path("/proc/sysvipc/shm").read_text()


def alive(word: str) -> list[int]:
    return [one.pid for one in psutil.process_iter(["cmdline"]) if (one.info["cmdline"] or [""])[-1] == word]


def test_memory_in_files_is_counted_without_a_group() -> None:
    """The memory is in a file without a name that no process maps. Its owner has two descriptors of it."""
    before = measure_usage(os.getpid()).memory
    descriptor = os.memfd_create("counted")
    second = os.dup(descriptor)
    try:
        os.write(descriptor, bytes(64 << 20))
        grown = measure_usage(os.getpid()).memory - before
    finally:
        os.close(descriptor)
        os.close(second)
    assert 60 << 20 < grown < 100 << 20


def test_a_group_keeps_its_limits() -> None:
    """The limits are written to the files of the kernel, and are removed with the group."""
    group = new_group(64 << 20, 32)
    if group is None or not group.limited("memory"):
        pytest.skip("no controller of memory can be had here")
    try:
        folders = [entrance.parent for entrance in group.entrances]
        found = [path.read_text().strip() for folder in folders for path in folder.glob("memory.*") if path.name in LIMITS]
        assert str(64 << 20) in found
        assert not group.met_limit("memory")
        assert all(folder.parent in own_folders().values() for folder in folders)
    finally:
        group.remove()
    assert not any(folder.exists() for folder in folders)


LIMITS = ("memory.max", "memory.limit_in_bytes")
