"""The sandbox refuses system calls that no player needs, and no others."""

import ctypes
import os
import re
from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena.match.record import Record
from arena.store import Store
from arena_isolation.system_calls import DENIED
from tests.other_user import run_as_other_user

AGENTS = """
import ctypes, fcntl, os, socket, subprocess, sys, threading
from arena import Agent, hookimpl

libc = ctypes.CDLL(None, use_errno=True)
ARM = os.uname().machine == "aarch64"

def call(number, *arguments):
    ctypes.set_errno(0)
    return libc.syscall(number, *arguments), ctypes.get_errno()

class First(Agent):
    name = "honest"

    def choose(self, game, state, search):
        self.attempt()
        return game.actions(state)[0]

    def attempt(self):
        import numpy
        assert float(numpy.linalg.norm(numpy.ones((4, 4)) @ numpy.ones((4, 4)))) == 16.0
        found = []
        threads = [threading.Thread(target=found.append, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [0, 1, 2, 3]
        assert os.cpu_count() == os.sysconf("SC_NPROCESSORS_CONF") >= len(os.sched_getaffinity(0))
        assert os.sysconf("SC_PHYS_PAGES") > os.sysconf("SC_AVPHYS_PAGES") > 0
        assert subprocess.run(["echo", "here"], capture_output=True).stdout == b"here\\n"
        import asyncio
        async def wait():
            return await (await asyncio.create_subprocess_exec("false")).wait()
        assert asyncio.run(wait()) == 1
        if (child := os.fork()) == 0:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

        first, second = socket.socketpair()
        first.send(b"x")
        assert second.recv(1) == b"x"
        first.close()
        second.close()
        import sqlite3
        with sqlite3.connect("/tmp/book.db") as book:
            book.execute("CREATE TABLE IF NOT EXISTS book (state TEXT, action TEXT)")
            book.execute("INSERT INTO book VALUES ('a', 'b')")
        assert book.execute("SELECT count(*) FROM book").fetchone()[0] > 0
        book.close()

        import array, shutil, termios
        shutil.copy2(__file__, "/tmp/copy.py")  # it also sets the times
        assert open("/tmp/copy.py").read() == open(__file__).read()
        assert os.pathconf("/tmp", "PC_NAME_MAX") == 255
        ends = os.pipe()
        os.write(ends[1], b"four")
        waiting = array.array("i", [0])
        fcntl.ioctl(ends[0], termios.FIONREAD, waiting)
        assert waiting[0] == 4 and not os.isatty(0)
        assert fcntl.fcntl(ends[0], 1032) >= 4096  # F_GETPIPE_SZ
        for end in (*ends, fcntl.fcntl(ends[0], fcntl.F_DUPFD_CLOEXEC, 0)):
            os.close(end)

def tries(attempt):
    "What an attempt is refused with, if it is."
    try:
        attempt()
    except OSError as error:
        return error.errno
    return 0

def locked(kind):
    "Whether this process holds a lock, as the kernel tells it."
    for attempt in range(20):  # while others lock and unlock, a line may be missing
        with open("/proc/locks") as locks:
            if any(line.split()[1:5:3] == [kind, str(os.getpid())] for line in locks):
                return True
    return False

class Neighbour(First):
    name = "neighbour"

    def attempt(self):
        "Wants to be heard by whoever can read the same file, or to make arena wait for it."
        import arena, signal, struct
        signal.signal(signal.SIGIO, signal.SIG_IGN)  # a notification that is granted would end this process
        file = open(arena.__file__)
        lease = struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 1, 0)
        found = {
            "lease": tries(lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)),
            "notify": tries(lambda: fcntl.fcntl(os.open(os.path.dirname(arena.__file__), os.O_RDONLY), fcntl.F_NOTIFY, 1)),
            "flock": tries(lambda: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)) or locked("FLOCK"),
            "lock": tries(lambda: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)) or locked("POSIX"),
            "look": tries(lambda: fcntl.fcntl(file, fcntl.F_GETLK, lease)),
            "inotify": call(26 if ARM else 294, 0)[1],
            "old": call(26 if ARM else 253, 0)[1],
            "nowait": tries(lambda: os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT)),
            "flags": tries(lambda: os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_HIPRI)),
            "resident": call(232 if ARM else 27, 0, 0, None)[1],
            "cached": call(451, -1, 0, 0, 0)[1],
            "dropped": call(223 if ARM else 221, -1, 0, 0, 4)[1],  # the kernel itself would refuse this descriptor
            "vsock": tries(lambda: socket.socket(40, socket.SOCK_STREAM).close()),
            "inet": tries(lambda: socket.socket().close()),
            "netlink": tries(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()),
            "process": tries(lambda: os.close(os.pidfd_open(os.getpid()))),
            "peer": tries(lambda: socket.socketpair()[0].getsockopt(socket.SOL_SOCKET, 77)),
        }
        raise RuntimeError(" ".join(f"{name} {errno}" for name, errno in found.items()))

class Marker(First):
    name = "marker"

    def attempt(self):
        "Leaves a message for whoever opens the same file or asks for the same file system: on a read-only mount, too."
        import arena
        def touched():
            before = os.stat("/dev/null").st_mtime_ns
            os.utime("/dev/null")
            return os.stat("/dev/null").st_mtime_ns != before
        file = open(arena.__file__)
        found = {
            "hint": tries(lambda: fcntl.fcntl(file, 1035, bytes(8))),  # F_GET_RW_HINT
            "leave": tries(lambda: fcntl.fcntl(file, 1036, bytes(8))),
            "delegate": tries(lambda: fcntl.fcntl(file, 1039, bytes(8))),
            "version": tries(lambda: fcntl.ioctl(file, 0x80087601, bytes(8))),  # FS_IOC_GETVERSION
            "block": tries(lambda: fcntl.ioctl(file, 2, bytes(4))),  # FIGETBSZ, which every file answers
            "space": tries(lambda: os.statvfs("/usr/bin")),
            "open": tries(lambda: os.fstatvfs(file.fileno())),
            "old": 38 if ARM else call(136, os.stat(arena.__file__).st_dev, ctypes.create_string_buffer(64))[1],
        }
        words = " ".join(f"{name} {errno}" for name, errno in found.items())
        raise RuntimeError(f"{words} touched {touched()}")

class Counter(First):
    name = "counter"

    def attempt(self):
        "Looks for a number in /proc that counts what other programs do: it changes while this process does little."
        import time
        def read(path):
            try:
                with open(path, "rb") as file:
                    return file.read(4096)
            except OSError as error:
                return error.errno
        paths = []
        for top, folders, files in os.walk("/proc"):
            if top == "/proc":  # without processes, and without the log of the kernel and all of its memory
                folders[:] = [name for name in folders if not name.isdigit() and name not in ("self", "thread-self")]
                files = sorted({*files} - {"kmsg", "kcore"})
            paths += [path for name in files if not os.path.islink(path := os.path.join(top, name))]
        before = {path: read(path) for path in paths}
        held = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]
        children = [subprocess.Popen(["sleep", "9"]) for _ in range(3)]
        time.sleep(0.1)
        own = {"/proc/sys/kernel/random/uuid", "/proc/sys/kernel/ns_last_pid"}  # the second belongs to the namespace
        changed = sorted(path for path in paths if path not in own and read(path) != before[path])
        for child in children:
            child.kill()
            child.wait()
        for descriptor in held:
            os.close(descriptor)
        slots = call(0 if ARM else 206, 1, ctypes.byref(ctypes.c_ulong(0)))[1]
        terminal = tries(lambda: os.close(os.open("/dev/ptmx", os.O_RDWR)))
        raise RuntimeError(f"slots {slots} terminal {terminal} changed {changed}")

def touch(number):
    "Maps one page of this file, which both seats can read, and reads it."
    size = os.sysconf("SC_PAGE_SIZE")
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    place = libc.mmap(None, size, 1, 1, os.open(__file__, os.O_RDONLY), number * size)
    ctypes.c_ubyte.from_address(place).value
    return place // size

class Speaker(First):
    name = "speaker"

    def attempt(self):
        "Leaves a message in the pages that it maps while it is stopped."
        for number, bit in enumerate(MESSAGE):
            if bit == "1":
                touch(number + 1)

class Listener(First):
    name = "listener"

    def attempt(self):
        "Reads the message of the other seat: whether it alone maps a page."
        bits, shares = "", ""
        with open("/proc/self/pagemap", "rb", buffering=0) as pages:
            for number in range(len(MESSAGE)):
                page = touch(number + 1)
                bits += "01"[not int.from_bytes(os.pread(pages.fileno(), 8, page * 8), "little") >> 56 & 1]
                lines = iter(open("/proc/self/smaps").read().splitlines())
                start = f"{page * os.sysconf('SC_PAGE_SIZE'):x}-"
                next(line for line in lines if line.lstrip("0").startswith(start))
                share = next(line for line in lines if line.startswith("Pss:"))
                shares += "01"[int(share.split()[1]) < os.sysconf("SC_PAGE_SIZE") >> 10]
        raise RuntimeError(f"pagemap {bits} smaps {shares}")

class Root(First):
    name = "root"

    def attempt(self):
        "Opens what sets up the kernel, where it changes nothing, and says who it is."
        paths = ["/proc/sys/kernel/core_pattern", "/proc/sys/fs/lease-break-time", "/proc/sys/kernel/ns_last_pid", "/proc/mtrr"]
        found = [tries(lambda: os.close(os.open(path, os.O_WRONLY))) != 0 for path in paths]
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        rights = {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
        raise RuntimeError(f"kept out {all(found)} rights {rights} user {os.getuid()} {os.getgid()} {os.getgroups()}")

class Locksmith(First):
    name = "locksmith"

    def attempt(self):
        user = call(219 if ARM else 250, 0, -4, 1)  # keyctl: the id of the keyring of the user
        added = call(217 if ARM else 248, b"user", b"arena-test", b"secret", 6, -3)  # into the keyring of the session
        spaces = call(97 if ARM else 272, 0x00020000)[1]
        clone = call(220 if ARM else 56, 0x10000000 | 17, 0, 0, 0, 0)
        if clone[0] == 0:
            os._exit(0)
        other = (-1, 1) if ARM else call(0x40000000 | 39)  # getpid of x32
        raise RuntimeError(f"keys {user[1]} {added[1]} namespaces {spaces} {clone[1]} x32 {other[1]}")

class Hoarder(First):
    name = "hoarder"

    def attempt(self):
        "Makes memory that stays when no process has it: a segment that is never attached, semaphores, a queue of each kind."
        flags = 0o1600  # IPC_CREAT, for its user alone
        shmget, semget, msgget, mq_open = (194, 190, 186, 180) if ARM else (29, 64, 68, 240)
        made = [call(shmget, 0, 1 << 30, flags), call(semget, 0, 1, flags), call(msgget, 0, flags)]
        made += [call(mq_open, b"q", 0o102, 0o600, None)]
        raise RuntimeError("memory " + " ".join(str(errno) for _, errno in made))

class Usurper(First):
    name = "usurper"

    def attempt(self):
        "Ends process 1 or takes its place, to do what the filter of its own process refuses."
        with open("/proc/1/status") as status:
            facts = dict(line.split(":", 1) for line in status)
        with open("/proc/1/stat") as stat:
            group = int(stat.read().rpartition(")")[2].split()[2])
        os.kill(1, 9)
        try:
            with open("/proc/1/maps") as maps, open("/proc/1/mem", "r+b", buffering=0) as memory:
                for line in [line for line in maps if "r-xp" in line]:
                    first, last = [int(one, 16) for one in line.split()[0].split("-")]
                    memory.seek(first)
                    memory.write(bytes(last - first))
        except OSError:
            pass  # some kernels refuse this
        names = ("Seccomp", "NoNewPrivs", "CapEff", "CapPrm", "CapBnd")
        found = [str(int(facts[name], 16)) for name in names]
        raise RuntimeError(f"filter and rights {' '.join(found)} group {group == os.getpgrp()}")

@hookimpl
def arena_agents():
    return [First, Counter, Hoarder, Listener, Locksmith, Marker, Neighbour, Root, Speaker, Usurper]

MESSAGE = "0110100110010110"
"""
MESSAGE = "0110100110010110"


def first_match(folder: Path, agent: str, isolation: str) -> Record:
    (folder / "keys.py").write_text(AGENTS)
    entry = {"agent": agent, "plugin": str(folder / "keys.py"), "isolation": isolation}
    spec: dict[str, Any] = {"game": {"name": "tic-tac-toe", "rows": 1, "columns": 2, "in_a_row": 2}, "rounds": 1}
    return run({**spec, "agents": [entry, {"agent": "random", "isolation": "none"}]}).records[0]


@pytest.mark.promise(hole="system", isolation="sandbox")
def test_keys_and_namespaces_are_refused_in_the_sandbox(bubblewrap: str, tmp_path: Path) -> None:
    record = first_match(tmp_path, "locksmith", "sandbox")
    assert (record.termination, record.labels[record.seat or 0]) == ("exception", "locksmith")
    assert "keys 1 1 namespaces 1 1 x32 1" in str(record.message)


@pytest.mark.promise(hole="memory", isolation="sandbox")
def test_memory_that_belongs_to_no_process_is_refused_in_the_sandbox(bubblewrap: str, tmp_path: Path) -> None:
    assert "memory 1 1 1 1" in str(first_match(tmp_path, "hoarder", "sandbox").message)


@pytest.mark.promise(hole="channel", isolation="sandbox")
def test_shared_files_cannot_carry_messages(bubblewrap: str, tmp_path: Path) -> None:
    """Locks, leases, notifications, reads of resident pages, and socket families without network namespaces are refused."""
    record = first_match(tmp_path, "neighbour", "sandbox")
    words = str(record.message)
    assert "lease 1 notify 1 flock False lock False look 1 inotify 1 old 1 nowait 95 flags 95 resident 1 cached 1" in words
    assert "dropped 0 vsock 97 inet 97 netlink 97 process 38 peer 92" in words
    open_to_all = str(first_match(tmp_path, "neighbour", "process").message)
    assert "flock True lock True" in open_to_all
    assert "process 0" in open_to_all
    assert "dropped 9" in open_to_all, "a process of its own can, so that it is no fault of the attempt"


@pytest.mark.promise(hole="channel", isolation="sandbox", holds=False)
def test_mapped_pages_of_a_shared_file_can_carry_a_message(bubblewrap: str, tmp_path: Path) -> None:
    """The kernel shows in `/proc/self` whether another process maps the same page."""
    file = tmp_path / "keys.py"
    file.write_text(AGENTS + f"# {'x' * 100}\n" * (20 * os.sysconf("SC_PAGE_SIZE") // 103))
    seats = [{"agent": name, "plugin": str(file), "isolation": "sandbox"} for name in ("speaker", "listener")]
    game = {"name": "tic-tac-toe", "rows": 1, "columns": 3, "in_a_row": 3}
    records = run({"game": game, "rounds": 1, "agents": seats}).records
    words = str(next(record.message for record in records if record.labels[0] == "speaker"))
    assert f"pagemap {MESSAGE} smaps {MESSAGE}" in words


@pytest.mark.promise(hole="channel", isolation="sandbox")
def test_files_of_a_read_only_mount_cannot_keep_messages(bubblewrap: str, tmp_path: Path) -> None:
    """Hints in inodes, times of device nodes and counts of free blocks are not available. A process without a sandbox can use all
    of them.
    """
    words = str(first_match(tmp_path, "marker", "sandbox").message)
    assert "hint 1 leave 1 delegate 1 version 25 block 25 space 38 open 38 old 38 touched False" in words
    words = str(first_match(tmp_path, "marker", "process").message)
    assert "hint 0 " in words
    assert "block 0 space 0 open 0" in words
    assert "touched True" in words


@pytest.mark.promise(hole="channel", isolation="sandbox")
def test_proc_shows_no_statistics_of_the_machine(bubblewrap: str, tmp_path: Path) -> None:
    """An agent cannot use a terminal or asynchronous reads, either. A process without a sandbox can."""
    assert "slots 1 terminal 2 changed []" in str(first_match(tmp_path, "counter", "sandbox").message)
    words = str(first_match(tmp_path, "counter", "process").message)
    assert "slots 0 terminal 0" in words
    assert "/proc/sys/fs/file-nr" in words


@pytest.mark.promise(hole="settings", isolation="sandbox")
def test_an_agent_is_not_root_in_the_sandbox(bubblewrap: str, tmp_path: Path) -> None:
    words = str(first_match(tmp_path, "root", "sandbox").message)
    found = re.search(r"kept out True rights \{0\} user (\d+) (\d+)", words)
    assert found is not None, words
    user, group = int(found[1]), int(found[2])
    if os.getuid() != 0:
        assert (user, group) == (os.getuid(), os.getgid())
    else:
        assert user == group
        assert 2_000_000_000 <= user < 2_147_352_576, "no system gives these ids to its users"
        assert "kept out False" in str(first_match(tmp_path, "root", "process").message)
        assert f"user {user} {user} []" in words


@pytest.mark.promise(hole="system", isolation="sandbox")
@pytest.mark.promise(hole="memory", isolation="sandbox")
@pytest.mark.promise(hole="channel", isolation="sandbox")
@pytest.mark.promise(hole="settings", isolation="sandbox")
def test_the_sandbox_of_an_ordinary_user_refuses_the_same_system_calls(bubblewrap: str, tmp_path: Path) -> None:
    """The user 65534 owns everything in this sandbox, even its process 1. This process is under the same filter, has no rights,
    and is stopped with the agent, because it belongs to the same group.
    """
    (tmp_path / "keys.py").write_text(AGENTS)
    names = {
        "locksmith": "keys 1 1 namespaces 1 1 x32 1",
        "hoarder": "memory 1 1 1 1",
        "neighbour": "lease 1 notify 1 flock False lock False look 1 inotify 1 old 1 nowait 95 flags 95 resident 1 cached 1",
        "marker": "hint 1 leave 1 delegate 1 version 25 block 25 space 38 open 38 old 38 touched False",
        "counter": "slots 1 terminal 2 changed []",
        "root": "kept out True rights {0} user 65534 65534",
        "usurper": "filter and rights 2 1 0 0 0 group True",
    }
    entries = [{"agent": name, "plugin": "keys.py", "isolation": "sandbox"} for name in names]
    game = {"name": "tic-tac-toe", "rows": 1, "columns": 2, "in_a_row": 2}
    against = {"format": "gauntlet", "agents": [{"agent": "random", "isolation": "none"}, *entries]}
    done = run_as_other_user(tmp_path, {"game": game, "rounds": 1, "seed": 0, **against})
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "cup.db") as store:
        said = {record.labels[record.seat]: str(record.message) for record, _ in store.records() if record.seat is not None}
    assert said.keys() == names.keys()
    for name, words in names.items():
        assert words in said[name], said[name]


def test_a_process_without_a_sandbox_has_a_keyring_of_its_own(bubblewrap: str, tmp_path: Path) -> None:
    """The agent adds a key to it, which is not in the keyring of this session."""
    call, keyctl = ctypes.CDLL(None).syscall, DENIED["keyctl"][os.uname().machine == "aarch64"]
    if call(keyctl, 1, None) < 0:
        pytest.skip("no keyring can be made here")
    message = str(first_match(tmp_path, "locksmith", "process").message)
    assert "keys 0 0" in message
    assert call(keyctl, 10, -3, b"user", b"arena-test", 0) == -1  # it searches the keyring of this session


def test_an_honest_agent_can_use_numpy_threads_and_programs(bubblewrap: str, tmp_path: Path) -> None:
    record = first_match(tmp_path, "honest", "sandbox")
    assert (record.termination, record.message) == ("normal", None)
