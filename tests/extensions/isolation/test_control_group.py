"""A control group holds an agent with all that it starts: it stands still, is counted and killed as a whole, and is removed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import create_autospec

import pytest

from arena_isolation import control_group
from arena_isolation.agent_start import AgentChild
from arena_isolation.child import ChildLost
from arena_isolation.control_group import ControlGroup, new_group, own_folders, remove_groups
from tests.eventually import DEADLINE_SECONDS

FAMILY = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        while True: pass
print(flush=True)
time.sleep(99)
"""
"""Two children that leave the session and never rest."""


@pytest.fixture
def group() -> Iterator[ControlGroup]:
    made = new_group()
    if made is None:
        pytest.skip("a control group cannot be created here")
    yield made
    made.kill()
    made.remove()


@pytest.fixture
def family(group: ControlGroup, tmp_path: Path) -> Iterator[AgentChild]:
    child = AgentChild([sys.executable, "-c", FAMILY], str(tmp_path), 0, {}, group=group)
    try:
        child.receive(time.perf_counter() + DEADLINE_SECONDS)
        yield child
    finally:
        child.end()


def ticks(pids: list[int]) -> int:
    """Processor time of processes, as /proc tells it."""
    return sum(sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])) for pid in pids)


@pytest.mark.process
def test_a_frozen_process_tree_stops_and_continues(group: ControlGroup, family: AgentChild) -> None:
    """The control group and /proc agree that no process runs, even children that have left the session."""
    assert len(group.pids()) == 3
    assert family.pid in group.pids()
    group.freeze()
    time.sleep(0.05)
    before, used = ticks(group.pids()), group.cpu_seconds()
    time.sleep(0.3)
    assert (ticks(group.pids()), group.cpu_seconds()) == (before, used)
    group.thaw()
    time.sleep(0.3)
    assert ticks(group.pids()) > before
    assert group.cpu_seconds() > used


@pytest.mark.process
def test_a_process_tree_ends_with_its_leader_even_if_frozen(group: ControlGroup, family: AgentChild) -> None:
    """Processes that left the session and the environment are killed, and the group is removed."""
    pids = group.pids()
    group.freeze()
    family.end()
    assert not group.folder.exists()
    assert not any(Path(f"/proc/{pid}/stat").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text() for pid in pids)


@pytest.mark.process
def test_a_process_that_the_kernel_kills_counts_as_out_of_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its pipe is closed before its memory use is measured, so only its control group knows the reason."""
    monkeypatch.setattr(AgentChild, "_look_at_usage", lambda self: None)
    group = create_autospec(ControlGroup, instance=True, entrances=[])
    group.met_limit.side_effect = ["memory"].__contains__
    group.pids.return_value = []
    child = AgentChild([sys.executable, "-c", ""], str(tmp_path), 0, {}, group=group)
    try:
        with pytest.raises(ChildLost) as lost:
            child.receive(time.perf_counter() + DEADLINE_SECONDS)
    finally:
        child.end()
    assert lost.value.why == "memory"


def test_a_group_is_created_below_the_group_of_this_process(group: ControlGroup) -> None:
    """A run must not change any other part of the hierarchy."""
    own = next(line for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    assert str(group.folder.parent).endswith(own[3:].rstrip("/"))


@pytest.mark.parametrize(
    ("mount", "path", "expected"),
    [
        ("30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw", "/user.slice/a.sc", "/sys/fs/cgroup/user.slice/a.sc"),
        ("42 41 0:38 / /sys/fs/cgroup/unified\\040x rw - cgroup2 cgroup2 rw", "/", "/sys/fs/cgroup/unified x"),
        ("99 98 0:26 /docker/f00 /sys/fs/cgroup ro - cgroup2 cgroup rw", "/docker/f00/inner", "/sys/fs/cgroup/inner"),
        ("99 98 0:26 /docker/f00 /sys/fs/cgroup ro - cgroup2 cgroup rw", "/elsewhere", None),
        ("31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755", "/", None),
    ],
)  # fmt: skip
def test_the_group_of_a_process_is_found_from_the_mounts(mount: str, path: str, expected: str | None) -> None:
    """The lines come from systemd, Docker and a hybrid system. A mount that does not show the group is ignored."""
    found = control_group._find_folders(mount, {"": path})
    assert found == ({} if expected is None else {"": Path(expected)})


def test_without_a_hierarchy_or_rights_there_is_no_group(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The caller gets None, and no folder is left. A normal folder has no file for freezing."""
    monkeypatch.setattr(control_group, "own_folders", lambda: {"": tmp_path})
    assert new_group() is None
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(control_group, "own_folders", dict)
    assert new_group() is None


HOLDER = """
import sys, time
from arena_isolation.agent_start import AgentChild
from arena_isolation.child import ChildLost
from arena_isolation.control_group import new_group
child = AgentChild([sys.executable, "-c", "import time; print(flush=True); time.sleep(99)"], "/", 0, {}, group=new_group())
child.receive(time.perf_counter() + 60)
print(flush=True)
time.sleep(99)
"""


def test_a_mount_whose_name_is_not_utf_8_hides_no_group(tmp_path: Path) -> None:
    """An ordinary user can mount a file system at such a path. Only "\\n" ends a line of the kernel's table."""
    table = tmp_path / "mountinfo"
    odd = b"90 27 0:65 / /home/user/m\xff\xc2\x85x rw - fuse.sshfs sshfs rw"
    table.write_bytes(odd + b"\n30 27 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n")
    lines = control_group._read_lines(table)
    assert [os.fsencode(line) for line in lines] == [odd, b"30 27 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw"]
    assert [control_group._find_folders(line, {"": "/arena"}) for line in lines] == [{}, {"": Path("/sys/fs/cgroup/arena")}]


@pytest.mark.process
def test_groups_of_a_killed_process_are_removed(group: ControlGroup) -> None:
    """The parent removes the groups of a killed worker with all processes in them."""
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        made = [path for path in group.folder.parent.iterdir() if path.name.startswith(f"arena-{holder.pid}-")]
        assert len(made) == 1
        os.kill(holder.pid, signal.SIGKILL)
    remove_groups([holder.pid])
    assert not made[0].exists()
    assert own_folders()
