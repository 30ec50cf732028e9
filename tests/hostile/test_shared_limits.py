"""The kernel has limits for all programs of a user together. No agent loses because another agent has used up a limit."""

import os
from pathlib import Path
from typing import Any

import pytest

from arena import Limits, run
from arena.match.match import Program
from arena.match.player import Forfeit
from arena.match.record import Record
from arena.store import Store
from arena_isolation import agent_pool
from arena_isolation.agent_pool import AgentProcesses, find_used_up
from tests.other_user import run_as_other_user

HOARDERS = ("flying", "nested", "queue")
PLUGIN = """
import array, ctypes, multiprocessing, os, signal, socket, struct, time
from multiprocessing import reduction
from arena import Agent, hookimpl

libc = ctypes.CDLL(None, use_errno=True)

def send(socket_, *descriptors):
    rights = array.array("i", descriptors).tobytes()
    socket_.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])

class Flying(Agent):
    "Keeps as many descriptors in unread messages as it gets."
    name = "flying"
    held = None
    def choose(self, game, state, search):
        if self.held is None:
            self.held = []
            self.hoard()
        return game.actions(state)[0]
    def hoard(self):
        null = os.open("/dev/null", os.O_RDONLY)
        try:
            while len(self.held) < 40:
                self.held.append(self.pair())
                send(self.held[-1][0], *[null] * 250)
        except OSError:
            pass
    def pair(self):
        return socket.socketpair()

class Nested(Flying):
    "The sockets that have these messages are in messages, too, so that no process has them open."
    name = "nested"
    def hoard(self):
        outer = socket.socketpair()
        self.held.append(outer)
        for number in range(8):
            ours, theirs = socket.socketpair()
            send(outer[0], theirs.fileno())
            theirs.close()
            self.held.append(ours)
        super().hoard()
    def pair(self):
        return self.held.pop(1), None

class Queue(Flying):
    "Queues as many signals as it can."
    name = "queue"
    def hoard(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
        info = ctypes.create_string_buffer(128)
        struct.pack_into("iii", info, 0, int(signal.SIGRTMIN), 0, -1)
        number = 138 if os.uname().machine == "aarch64" else 129  # rt_sigqueueinfo
        while libc.syscall(number, os.getpid(), int(signal.SIGRTMIN), info) == 0:
            pass

def receive(connection):
    os.close(reduction.recv_handle(connection))
    connection.send(1)

class Honest(Agent):
    "Gives a descriptor to a process, queues a signal, and watches a pipe."
    name = "honest"
    def choose(self, game, state, search):
        time.sleep(0.1)
        ours, theirs = multiprocessing.Pipe()
        child = multiprocessing.get_context("fork").Process(target=receive, args=(theirs,))
        child.start()
        reduction.send_handle(ours, 0, child.pid)
        ours.recv()
        child.join()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
        os.kill(os.getpid(), signal.SIGRTMIN)
        assert signal.sigtimedwait({signal.SIGRTMIN}, 1) is not None
        return game.actions(state)[0]

class Parting(Flying):
    "Hoards in its last turn, for the matches of others."
    name = "parting"
    def choose(self, game, state, search):
        if len(game.actions(state)) <= 2:
            self.held = []
            self.hoard()
        return game.actions(state)[0]

class Frugal(Flying):
    "Keeps few enough descriptors not to lose."
    name = "frugal"
    def hoard(self):
        self.held.append(self.pair())
        send(self.held[-1][0], *[os.open("/dev/null", os.O_RDONLY)] * 63)

class Sore(Agent):
    "As if it were about to lose: it fails if it finds that the limit is used up."
    name = "sore"
    def choose(self, game, state, search):
        ours, theirs = socket.socketpair()
        for _ in range(8):
            send(ours, 0)
        return game.actions(state)[0]

class User(Agent):
    "Says which user it is, and its limits."
    name = "user"
    def choose(self, game, state, search):
        import resource
        limits = [resource.getrlimit(one) for one in (resource.RLIMIT_NOFILE, resource.RLIMIT_SIGPENDING)]
        raise RuntimeError(f"user {os.getuid()} {os.getgid()} limits {limits}")

@hookimpl
def arena_agents():
    return [Flying, Frugal, Honest, Nested, Parting, Queue, Sore, User]
"""


def values_of(folder: Path, *agents: str, isolation: str = "sandbox") -> dict[str, Any]:
    """The spec of two matches between agents of the plugin."""
    (folder / "limits.py").write_text(PLUGIN)
    entries = [{"agent": name, "plugin": "limits.py", "isolation": isolation} for name in agents]
    game = {"name": "tic-tac-toe", "rows": 1, "columns": 4, "in_a_row": 4}
    return {"game": game, "rounds": 1, "limits": {"seconds": 5}, "agents": entries}


def check_innocent(records: list[Record], hoarder: str) -> None:
    """The honest agent never fails. If a match ends by a fault, the hoarder is at fault."""
    assert len(records) == 2
    for record in records:
        assert record.termination in ("normal", "crash"), record
        assert record.seat is None or record.labels[record.seat] == hoarder, record


@pytest.mark.promise(hole="shared", isolation="sandbox")
@pytest.mark.parametrize("hoarder", HOARDERS)
def test_no_opponent_fails_because_a_limit_is_used_up(
    hoarder: str, bubblewrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If root runs arena, each sandbox has its own user."""
    monkeypatch.chdir(tmp_path)
    check_innocent(list(run(values_of(tmp_path, hoarder, "honest")).records), hoarder)
    assert find_used_up() is None


@pytest.mark.promise(hole="shared", isolation="sandbox")
@pytest.mark.parametrize("hoarder", HOARDERS)
def test_a_run_of_an_unprivileged_user_is_protected(hoarder: str, bubblewrap: str, tmp_path: Path) -> None:
    """All sandboxes share this user. The agent that used up a limit loses."""
    done = run_as_other_user(tmp_path, values_of(tmp_path, hoarder, "honest"))
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "cup.db") as store:
        records = [record for record, _ in store.records()]
    check_innocent(records, hoarder)
    if hoarder != "queue":  # signals are counted in each sandbox alone
        assert {record.termination for record in records} == {"crash"}, records


@pytest.mark.promise(hole="void", isolation="sandbox")
@pytest.mark.parametrize(("friend", "number", "rounds"), [("parting", 1, 2), ("frugal", 5, 1)])
def test_accomplices_cannot_make_a_lost_match_void(
    friend: str, number: int, rounds: int, bubblewrap: str, tmp_path: Path
) -> None:
    """Other entries use up a limit of the user, so that an agent can fail for this reason. Only this agent loses."""
    values = values_of(tmp_path, *[friend] * number, "honest", "sore")
    for place, entry in enumerate(values["agents"]):
        if entry["agent"] == friend:
            entry["label"] = f"{friend} {place}"
    done = run_as_other_user(tmp_path, {**values, "rounds": rounds})
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "cup.db") as store:
        records = [record for record, _ in store.records()]
    at_fault = {record.labels[record.seat] for record in records if record.seat is not None}
    assert "void" not in {record.termination for record in records}, records
    assert "honest" not in at_fault, records


@pytest.mark.process
@pytest.mark.promise(hole="shared", isolation="process")
def test_many_descriptors_in_messages_are_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds without a sandbox, too, although the agent has few open files. If the kernel limits the agents of root, because
    arena lacks CAP_SYS_RESOURCE, the rival may fail first, and must not be blamed.
    """
    monkeypatch.chdir(tmp_path)
    values = values_of(tmp_path, "flying", "honest", isolation="process")
    values["game"]["columns"] = 16  # its processes are listed every quarter of a second
    for record in run(values).records:
        assert (record.termination, record.labels[record.seat or 0]) == ("crash", "flying"), record
        assert record.message in (
            "had more than 64 descriptors in unread messages",
            "used up a resource that all agents share (descriptors in unread messages), so another agent failed",
        )


def test_each_sandbox_has_limits_and_its_own_user_if_root_runs_arena(
    bubblewrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    users = set()
    for _ in range(2):
        words = str(run(values_of(tmp_path, "user", "honest")).records[0].message)
        assert "limits [(256, 256), (256, 256)]" in words
        users.add(words.partition(" limits")[0])
    assert len(users) == (2 if os.geteuid() == 0 else 1)


# --- Who is to blame ------------------------------------------------------------------------------------------------------


class FakeProcess:
    """A process that may hold resources of others until it is ended."""

    alive, shares_limits, confined = True, True, True

    def __init__(self, held: set[object], *, holds: bool = False, seen: bool = True) -> None:
        self._held = held
        self._seen = seen
        if holds:
            held.add(self)

    def hoards(self) -> bool:
        return self in self._held and self._seen

    holds_descriptors = hoards

    def end(self) -> None:
        self.alive = False
        self._held.discard(self)


@pytest.mark.parametrize(
    ("holds", "seen", "expected"),
    [
        ((False, False), True, "own fault"),
        ((True, False), True, "own fault"),
        ((False, True), True, "other seat"),
        ((False, True), False, "named"),  # nothing shows that the other seat and not a program elsewhere has made room
        ((True, True), True, "other seat"),
    ],
)
def test_the_agent_that_uses_up_a_limit_loses(
    holds: tuple[bool, bool], seen: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent also loses if it fails alone."""
    held: set[object] = set()
    monkeypatch.setattr(agent_pool, "find_used_up", lambda: "signals" if held else None)
    monkeypatch.setattr(agent_pool, "RELEASE_SECONDS", 0.0)
    failed, other = (FakeProcess(held, holds=one, seen=seen) for one in holds)
    pool = AgentProcesses()
    pool.playing = {failed: 0, other: 1}  # type: ignore[dict-item]
    fault = Forfeit("exception", 0, "no more signals")
    found = pool.find_blame(fault, failed)  # type: ignore[arg-type]
    if expected == "own fault":
        assert found is fault
        assert other.alive
    elif expected == "other seat":
        assert isinstance(found, Forfeit)
        assert (found.ending.reason, found.ending.seat) == ("crash", 1)
    else:
        assert (found.ending.reason, found.ending.seat) == ("exception", 0)
        assert found.ending.message == "no more signals; at that time, programs outside this match had used up signals"


def test_an_agent_that_fails_loses_if_no_agent_in_its_match_has_used_up_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The match is not void, because its own author may have arranged this. The message names the limit."""
    monkeypatch.setattr(agent_pool, "find_used_up", lambda: "signals")
    monkeypatch.setattr(agent_pool, "RELEASE_SECONDS", 0.0)
    failed = FakeProcess(set())
    pool = AgentProcesses()
    fault = Forfeit("exception", 0, "no more signals", "a traceback")
    for process in (failed, None):
        found = pool.find_blame(fault, process)  # type: ignore[arg-type]
        assert (found.ending.reason, found.ending.seat, found.ending.traceback) == ("exception", 0, "a traceback")
        assert "programs outside this match had used up signals" in str(found.ending.message)
    failed.shares_limits = False
    assert pool.find_blame(fault, failed) is fault  # type: ignore[arg-type]


@pytest.mark.parametrize(("confined", "shares", "kept"), [(True, True, False), (True, False, True), (False, True, True)])
def test_no_idle_process_with_foreign_code_keeps_files_open(confined: bool, shares: bool, kept: bool) -> None:
    """A process with code of the organiser, or with limits of its own, may keep some."""
    process, program = FakeProcess(set(), holds=True), Program("flying", {}, None, (), "")
    process.confined, process.shares_limits = confined, shares
    pool = AgentProcesses()
    pool.give_back(process, program, Limits(), "sandbox")  # type: ignore[arg-type]
    assert process.alive == kept
