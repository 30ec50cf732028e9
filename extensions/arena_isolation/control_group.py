"""Control groups of Linux. Each agent and its children get one group, so that they can be frozen, killed or counted together.

A process cannot leave its group without the right to write into another group, and its children are in the group from the start.
So a group contains all children of an agent more reliably than any search could find them. A group is created only below the
group of this process. Users often lack the rights for this, so every caller needs a fallback. In version 2 of control groups,
processes can be frozen, killed and counted without any controller.
"""

import atexit
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from secrets import token_hex

from arena.api.processes import ProcessTree
from arena.clock import monotonic, sleep

CONTROLLED = {
    "memory": (("memory.max", "memory.events"), ("memory.limit_in_bytes", "memory.oom_control"), "oom_kill"),
    "pids": (("pids.max", "pids.events"), ("pids.max", "pids.events"), "max"),
}
"""For each controller and for versions 2 and 1: the file for the limit, the file with the events, and the event that shows that
the limit was hit.
"""
UNIFIED = ""
"""The key for the hierarchy of version 2. The key for a hierarchy of version 1 is the name of its controller."""
REMOVAL_SECONDS = 2.0
"""Seconds to wait for the last process of a group to end."""
_NAME = re.compile(r"arena-(\d+)-[0-9a-f]+")


class ControlGroup:
    """The control group of one agent process and every process that it starts."""

    def __init__(self, folder: Path) -> None:
        """Create the group as a folder in the hierarchy of version 2. Raises OSError if that is not allowed."""
        folder.mkdir()
        self.folder = folder
        self._open: list[int] = []
        self._beside: list[Path] = []
        """The folders of the group in hierarchies of version 1."""
        self._events: dict[str, int] = {}
        self._used_at_stop = 0.0
        try:
            self._freezer = self._open_file(folder / "cgroup.freeze", os.O_WRONLY)
            self._usage = self._open_file(folder / "cpu.stat", os.O_RDONLY)
        except OSError:
            self.remove()
            raise

    def _open_file(self, file: Path, flags: int) -> int:
        descriptor = os.open(file, flags)
        self._open.append(descriptor)
        return descriptor

    @property
    def entrances(self) -> list[Path]:
        """Files into which a process writes 0 to enter the group."""
        return [folder / "cgroup.procs" for folder in (self.folder, *self._beside)]

    def limit(self, controller: str, most: int) -> None:
        """Let the kernel limit the group to `most` bytes (`memory`) or processes (`pids`), if the controller is available."""
        second, first, _ = CONTROLLED[controller]
        above = own_folders().get(controller)
        folder, (file, events) = (self.folder, second) if above is None else (above / self.folder.name, first)
        with suppress(OSError):
            if above is not None:
                folder.mkdir()
                self._beside.append(folder)
            (folder / file).write_text(str(most))
            self._events[controller] = self._open_file(folder / events, os.O_RDONLY)
        if controller == "memory":  # swap is limited too, if these files exist
            for file, value in (("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", most)):
                with suppress(OSError):
                    (folder / file).write_text(str(value))

    def limited(self, controller: str) -> bool:
        """Return True if the kernel enforces a limit, so that no other check is needed."""
        return controller in self._events

    def met_limit(self, controller: str) -> bool:
        """Return True if the group has hit its limit, so that a process was killed for its memory or could not be started."""
        if controller not in self._events:
            return False
        words = os.pread(self._events[controller], 512, 0).decode().split()
        return int(dict(zip(words[::2], words[1::2], strict=False)).get(CONTROLLED[controller][2], 0)) > 0

    def pids(self) -> list[int]:
        """Return the processes of the group, except processes outside the namespace of this process."""
        return self._read_ids("cgroup.procs")

    def threads(self) -> list[int]:
        """Return the threads of all processes in the group."""
        return self._read_ids("cgroup.threads")

    def size(self, turn: float) -> int:
        """Return the number of threads in the group. `turn` is not used; `StoppedFamily.size` needs it."""
        return len(self.threads())

    def _read_ids(self, name: str) -> list[int]:
        try:
            return [int(number) for number in (self.folder / name).read_text().split() if number != "0"]
        except OSError:
            return []

    def freeze(self) -> None:
        """Freeze all processes in the group, and processes that enter it later. A frozen group can still be killed.

        A process that is in a long system call is frozen only at the end of this call.
        """
        os.pwrite(self._freezer, b"1", 0)
        self._used_at_stop = self.cpu_seconds()

    def used(self) -> float:
        """Return the seconds of processor time that the group has used since `freeze`."""
        return self.cpu_seconds() - self._used_at_stop

    def thaw(self) -> float:
        """Let the processes in the group continue. Return the seconds of processor time that they have used since `freeze`."""
        used = self.used()
        os.pwrite(self._freezer, b"0", 0)
        return used

    def cpu_seconds(self) -> float:
        """Return the CPU time that the group has used so far, including processes that have ended."""
        return int(os.pread(self._usage, 64, 0).split(None, 2)[1]) / 1e6  # the first line is `usage_usec N`

    def kill(self) -> None:
        """Kill all processes in the group at once, frozen or not, including new ones."""
        with suppress(OSError):  # Linux before 5.14 has no such file
            (self.folder / "cgroup.kill").write_text("1")

    def remove(self) -> None:
        """Remove the group when the killed processes are gone."""
        while self._open:
            os.close(self._open.pop())
        self._events.clear()
        for folder in (self.folder, *self._beside):
            _remove_folder(folder, REMOVAL_SECONDS)


def new_group(memory: int = 0, processes: int = 0) -> ControlGroup | None:
    """Return a new group below the group of this process; None if this is not allowed or a file of the group cannot be opened.

    `memory` and `processes` are the limits of the group, if the kernel can enforce them; 0 means no limit.
    """
    parent = own_folders().get(UNIFIED)
    if parent is None:
        return None
    _clean_at_exit(os.getpid())
    try:
        group = ControlGroup(parent / f"arena-{os.getpid()}-{token_hex(6)}")
    except OSError:
        return None
    for controller, most in (("memory", memory), ("pids", processes)):
        if most:
            group.limit(controller, most)
    return group


def remove_groups(makers: Collection[int]) -> None:
    """Remove the groups that the processes `makers` of arena have left behind, with all processes in these groups."""
    for folder in own_folders().values():
        for group, maker in _groups(folder):
            if maker in makers:
                with suppress(OSError):
                    (group / "cgroup.kill").write_text("1")
                _remove_folder(group, REMOVAL_SECONDS)


@cache
def own_folders() -> Mapping[str, Path]:
    """Return the folder of this process's group in each hierarchy. A key is UNIFIED or the name of a controller of version 1."""
    try:
        mounts, groups = _read_lines(Path("/proc/self/mountinfo")), _read_lines(Path("/proc/self/cgroup"))
    except OSError:  # not on Linux
        return {}
    within = [line.split(":", 2) for line in groups]
    paths = {name: path for _, names, path in within for name in names.split(",")}
    return {name: folder for mount in mounts for name, folder in _find_folders(mount, paths).items() if folder.is_dir()}


def _read_lines(file: Path) -> list[str]:
    """Return the lines of a file of the kernel. Paths in it may have any bytes and any line separator except a newline."""
    return os.fsdecode(file.read_bytes()).rstrip("\n").split("\n")


def _find_folders(mount: str, paths: Mapping[str, str]) -> dict[str, Path]:
    """Return the folders of the groups of this process below one mount, which may show only a part of a hierarchy."""
    place, _, kind = mount.partition(" - ")
    root, point = [re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), path) for path in place.split(" ")[3:5]]
    system, _, options = kind.split(" ", 2)
    names = {"cgroup2": [UNIFIED], "cgroup": options.split(",")}.get(system, [])
    found = {}
    for name in names:
        with suppress(KeyError, ValueError):
            found[name] = Path(point, Path(paths[name]).relative_to(root))
    return found


def _groups(folder: Path) -> list[tuple[Path, int]]:
    """Return the groups of agents below a folder, each with the id of the arena process that created it."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - the names are wanted
    except OSError:
        return []
    return [(folder / name, int(made[1])) for name in names if (made := _NAME.fullmatch(name))]


def _remove_folder(folder: Path, patience: float) -> None:
    until = monotonic() + patience
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:  # still in use
            if monotonic() >= until:
                return
            sleep(0.001)


@cache
def _clean_at_exit(own: int) -> None:
    """Remove the groups that killed runs have left behind. When this process ends, remove its own groups, too."""
    for folder in own_folders().values():
        for group, maker in _groups(folder):
            if not os.path.exists(f"/proc/{maker}"):  # noqa: PTH110
                _remove_folder(group, 0.0)
    atexit.register(lambda: remove_groups([own]) if os.getpid() == own else None)


ProcessTree.remove_leftovers.append(remove_groups)
