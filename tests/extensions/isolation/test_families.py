"""A process is ended with everything that it started, whatever that has done to get away."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

import psutil
import pytest

from arena.processes.process_tree import ProcessTree, end_trees
from arena_isolation.child import ChildProcess
from tests.eventually import DEADLINE_SECONDS, eventually

pytestmark = pytest.mark.process

LEADER = """
import os, signal, sys, time

def born():
    open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()

def child(deed, *environment):
    if os.fork() == 0:
        deed()
        if environment:
            code = "import time; time.sleep(600)"
            os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code], environment[0])
        time.sleep(600)
        os._exit(0)

def at_home():
    born()

def away():
    os.setsid()
    born()

def orphaned():
    os.setsid()
    if os.fork():
        os._exit(0)
    born()

def stopped():
    away()
    os.kill(os.getpid(), signal.SIGSTOP)

def parent():
    away()
    child(away, {})

{way}
time.sleep(600)
"""
WAYS = {
    "in its group": ("child(at_home)", 1),
    "in a session of its own": ("child(away)", 1),
    "without a parent": ("child(orphaned)", 1),
    "without its environment": ("child(away, {})", 1),
    "without its environment, below one without": ("child(parent, {})", 2),
    "stopped": ("child(stopped)", 1),
    "many": ("for _ in range(12): child(at_home); child(away); child(orphaned)", 36),
}
End = Callable[[], None]


def as_an_agent(command: list[str]) -> End:
    """A program as agents run: its end is complete."""
    return ChildProcess(command, "/", 0, os.environ).end


def as_a_worker(command: list[str]) -> End:
    """A process as workers run, of which several are ended at a time."""
    value = token_hex(8)
    started = [
        subprocess.Popen(
            command, env={**os.environ, ProcessTree.OF_WORKER: value, ProcessTree.OF_AGENT: "0-none"}, start_new_session=True
        )
        for _ in range(2)
    ]

    def end() -> None:
        end_trees([ProcessTree(one.pid, ProcessTree.OF_WORKER, value) for one in started])
        for one in started:
            one.wait(DEADLINE_SECONDS)

    return end


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("start", "times"), [(as_an_agent, 1), (as_a_worker, 2)])
def test_all_processes_started_by_a_process_are_ended(
    tmp_path: Path, start: Callable[[list[str]], End], times: int, way: str
) -> None:
    """They are gone or about to end when the function returns."""
    code, number = WAYS[way]
    end = start([sys.executable, "-I", "-S", "-c", LEADER.replace("{way}", code), str(tmp_path)])
    eventually(lambda: len(list(tmp_path.iterdir())) >= number * times)
    born = [int(file.name) for file in tmp_path.iterdir()]
    end()
    assert len(born) == number * times
    eventually(lambda: not list(filter(living, born)))  # one that was killed may take a moment


def living(pid: int) -> bool:
    """Return whether a process is running. A process that has ended stays a zombie until its parent waits for it."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_other_processes_are_not_ended(tmp_path: Path) -> None:
    """Processes of another tree, and unrelated processes, continue to run."""
    others = [
        subprocess.Popen(["sleep", "600"], env={**os.environ, ProcessTree.OF_WORKER: "another"}, start_new_session=own)
        for own in (True, False)
    ]
    as_an_agent(["sleep", "600"])()
    as_a_worker(["sleep", "600"])()
    assert [other.poll() for other in others] == [None, None]
    end_trees([ProcessTree(others[0].pid, ProcessTree.OF_WORKER, "another")])
    assert [other.wait(DEADLINE_SECONDS) for other in others] == [-9, -9]  # the second by its mark


def test_an_orphan_with_a_long_environment_is_ended(tmp_path: Path) -> None:
    """Only the beginning of an environment is read. It contains the mark, because children inherit the order of the variables."""
    many = {f"VARIABLE_{number}": "x" * 10_000 for number in range(100)}
    command = [sys.executable, "-I", "-S", "-c", LEADER.replace("{way}", WAYS["without a parent"][0]), str(tmp_path)]
    started = ChildProcess(command, "/", 0, {**many, **os.environ})
    eventually(lambda: any(tmp_path.iterdir()))
    (born,) = [int(file.name) for file in tmp_path.iterdir()]
    assert born in started.tree.find_members()
    started.end()
    eventually(lambda: not living(born))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_an_orphan_of_an_unrelated_user_does_not_belong_to_a_tree() -> None:
    """Its environment is not read, although root could. A child of the tree belongs to it, whoever owns it."""
    with subprocess.Popen(["sleep", "600"], env={ProcessTree.OF_WORKER: "a"}, start_new_session=True) as leader:
        tree = ProcessTree(leader.pid, ProcessTree.OF_WORKER, "a")
        with subprocess.Popen(["sleep", "600"], env={ProcessTree.OF_WORKER: "a"}, user=23456, group=23456) as other:
            assert tree.find_members() == set()
            with subprocess.Popen(["sleep", "600"], env={ProcessTree.OF_WORKER: "a"}) as own:
                assert tree.find_members() == {own.pid}
                own.kill()
            below = ProcessTree(os.getpid(), ProcessTree.OF_WORKER, "none")
            assert other.pid in below.find_members()
            other.kill()
        leader.kill()
