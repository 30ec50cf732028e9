"""An agent in a process of its own does not leave its control group, even if root runs arena."""

from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena_isolation.agent_start import groups_admit, namespaces_work
from tests.hostile.conftest import stop_agents_by

PLUGIN = """
import ctypes, os
from arena import Agent, hookimpl

libc = ctypes.CDLL(None, use_errno=True)
REMOUNT_BIND, DETACH, NEW_MOUNTS, NEW_USER = 32 | 4096, 2, 0x00020000, 0x10000000
ATTACH, DETACHED = 16, 17

def mounts():
    "The mounts of control groups."
    lines = [line.split() for line in open("/proc/self/mountinfo")]
    return [words[4] for words in lines if words[words.index("-") + 1] in ("cgroup", "cgroup2")]

def groups():
    return sorted(open("/proc/self/cgroup").read().splitlines())

def leave():
    "Writes this process into the root of each hierarchy. Returns the number of files that it can open."
    opened = 0
    for mount in mounts():
        try:
            with open(f"{mount}/cgroup.procs", "w") as file:
                opened += 1
                file.write("0")
        except OSError:
            pass
    return opened

def remount():
    return sum(libc.mount(None, mount.encode(), None, REMOUNT_BIND, None) == 0 for mount in mounts())

def in_child(attempt):
    "The answer of an attempt in another process."
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, str(attempt()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(read, 100).decode()

def in_namespace():
    if libc.unshare(NEW_USER | NEW_MOUNTS):
        return "none"
    return f"{remount()} {leave()} {sum(libc.umount2(mount.encode(), DETACH) == 0 for mount in mounts())}"

def reach():
    "Attaches to the first process of the namespace, or opens its memory: it could mount for this one."
    attached = libc.ptrace(ATTACH, 1, None, None) == 0
    if attached:
        os.waitpid(1, 0x40000000)  # __WALL
        libc.ptrace(DETACHED, 1, None, None)
    try:
        os.close(os.open("/proc/1/mem", os.O_RDWR))
    except OSError:
        return int(attached)
    return 2 + attached

def first_rights():
    with open("/proc/1/status") as status:
        return sum(int(line.split()[1], 16) for line in status if line.startswith(("CapPrm", "CapEff", "CapInh")))

class Leaver(Agent):
    name = "leaver"
    def choose(self, game, state, search):
        before = groups()
        found = [leave(), remount(), leave(), in_child(in_namespace), reach(), first_rights()]
        raise RuntimeError(f"found {found} same {groups() == before} arena {any('/arena-' in line for line in before)}")

class Honest(Agent):
    "Reads what its group is allowed, as some runtimes do."
    name = "honest"
    def choose(self, game, state, search):
        for mount in mounts():
            os.listdir(mount)
        if (child := os.fork()) == 0:
            libc.ptrace(0, 0, None, None)  # lets its parent trace it, as debuggers do
            os.kill(os.getpid(), 19)
            os._exit(0)
        assert os.WIFSTOPPED(os.waitpid(child, 0)[1]) and libc.ptrace(DETACHED, child, None, None) == 0
        os.waitpid(child, 0)
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Leaver, Honest]
"""


@pytest.mark.process
@pytest.mark.promise(hole="clock", isolation="process")
def test_an_agent_cannot_leave_its_control_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot leave the group by creating a user namespace or through the first process of its namespace, either."""
    stop_agents_by("group", monkeypatch)
    if not (groups_admit() and namespaces_work()):
        pytest.skip("no group can be entered here, or no namespace made")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leave.py").write_text(PLUGIN)
    agents: list[dict[str, Any]] = [
        {"agent": name, "plugin": "leave.py", "isolation": "process"} for name in ("leaver", "honest")
    ]
    for record in run({"game": "tic-tac-toe", "rounds": 1, "limits": {"seconds": 30}, "agents": agents}).records:
        assert record.labels[record.seat or 0] == "leaver", record
        words = str(record.message)
        assert (
            "found [0, 0, 0, '0 0 0', 0, 0] same True arena True" in words
            or "found [0, 0, 0, 'none', 0, 0] same True arena True" in words
        )
