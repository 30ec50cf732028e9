"""Control groups of Linux: one for each agent with all that it starts, which then stands still, is killed or counted as a whole.

A process cannot leave its group without the right to write into another, and what it starts is in the group from the beginning:
no search finds a family as surely. A group is made below the one that this process is in, never elsewhere; that takes rights
which users often lack, so every caller needs another way. Version 2 freezes, kills and counts without any controller.
"""

import atexit
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep

from arena.processes.process_tree import remove_leftovers

CONTROLLED = {
    "memory": (("memory.max", "memory.events"), ("memory.limit_in_bytes", "memory.oom_control"), "oom_kill"),
    "pids": (("pids.max", "pids.events"), ("pids.max", "pids.events"), "max"),
}
"""By controller: its files for a limit and for what came of it, in version 2 and in version 1, and the word that counts there."""
UNIFIED = ""
"""The name of version 2 among the hierarchies; those of version 1 have the names of their controllers."""
REMOVAL_SECONDS = 2.0
"""Seconds for the last process of a group to be gone."""
_NAME = re.compile(r"arena-(\d+)-[0-9a-f]+")


class ControlGroup:
    """The control group of one agent process and of everything that it starts."""

    def __init__(self, folder: Path) -> None:
        """Make it, as a folder of version 2; OSError where that is not allowed."""
        folder.mkdir()
        self.folder = folder
        self._open: list[int] = []
        self._beside: list[Path] = []
        """Its folders in hierarchies of version 1."""
        self._events: dict[str, int] = {}
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
        """The files into which a process writes 0 to come in."""
        return [folder / "cgroup.procs" for folder in (self.folder, *self._beside)]

    def limit(self, controller: str, most: int) -> None:
        """Have the kernel keep it within so many bytes (`memory`) or processes (`pids`), where it has a controller for that."""
        second, first, _ = CONTROLLED[controller]
        above = own_folders().get(controller)
        folder, (file, events) = (self.folder, second) if above is None else (above / self.folder.name, first)
        with suppress(OSError):
            if above is not None:
                folder.mkdir()
                self._beside.append(folder)
            (folder / file).write_text(str(most))
            self._events[controller] = self._open_file(folder / events, os.O_RDONLY)
        if controller == "memory":  # nor by swap, where these files are there
            for file, value in (("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", most)):
                with suppress(OSError):
                    (folder / file).write_text(str(value))

    def limited(self, controller: str) -> bool:
        """True if the kernel keeps a limit, so that nobody else need look."""
        return controller in self._events

    def met_limit(self, controller: str) -> bool:
        """True if it has met its limit: a process was killed for the memory, or could not be started."""
        if controller not in self._events:
            return False
        words = os.pread(self._events[controller], 512, 0).decode().split()
        return int(dict(zip(words[::2], words[1::2], strict=False)).get(CONTROLLED[controller][2], 0)) > 0

    def pids(self) -> list[int]:
        """The processes in it, those outside the namespace of this process left out."""
        return self._read_ids("cgroup.procs")

    def threads(self) -> list[int]:
        """Their threads."""
        return self._read_ids("cgroup.threads")

    def size(self, turn: float) -> int:
        """The number of threads in it, after a turn of so many seconds."""
        return len(self.threads())

    def _read_ids(self, name: str) -> list[int]:
        try:
            return [int(number) for number in (self.folder / name).read_text().split() if number != "0"]
        except OSError:
            return []

    def freeze(self) -> None:
        """Let all of it stand still, now and what comes in later; it can be killed nevertheless."""
        os.pwrite(self._freezer, b"1", 0)

    def thaw(self) -> None:
        """Let it go on."""
        os.pwrite(self._freezer, b"0", 0)

    def cpu_seconds(self) -> float:
        """The processor time that all of it has used so far, ended processes included."""
        return int(os.pread(self._usage, 64, 0).split(None, 2)[1]) / 1e6  # the first line is `usage_usec N`

    def kill(self) -> None:
        """Kill every process in it at once, frozen or not, and what they start meanwhile."""
        with suppress(OSError):  # Linux before 5.14 has no such file
            (self.folder / "cgroup.kill").write_text("1")

    def remove(self) -> None:
        """Remove it, as soon as the killed processes are gone."""
        while self._open:
            os.close(self._open.pop())
        self._events.clear()
        for folder in (self.folder, *self._beside):
            _remove_folder(folder, REMOVAL_SECONDS)


def new_group(memory: int = 0, processes: int = 0) -> ControlGroup | None:
    """Make a group below that of this process; None where none may be made, or where it would not do all that is promised.

    It may have so many bytes and processes, where the kernel can be told; 0 is no limit.
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
    """Remove the groups that other processes of arena have made and left behind, since they were killed, with all in them."""
    for folder in own_folders().values():
        for group, maker in _groups(folder):
            if maker in makers:
                with suppress(OSError):
                    (group / "cgroup.kill").write_text("1")
                _remove_folder(group, REMOVAL_SECONDS)


@cache
def own_folders() -> Mapping[str, Path]:
    """The folder of the group that this process is in, for each hierarchy: UNIFIED, or a controller of version 1."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        within = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:  # not on Linux
        return {}
    paths = {name: path for _, names, path in within for name in names.split(",")}
    return {name: folder for mount in mounts for name, folder in _find_folders(mount, paths).items() if folder.is_dir()}


def _find_folders(mount: str, paths: Mapping[str, str]) -> dict[str, Path]:
    """Where the groups of this process are below one mount, which may show a part of a hierarchy alone."""
    place, _, kind = mount.partition(" - ")
    root, point = place.split(" ")[3:5]
    system, _, options = kind.split(" ", 2)
    names = {"cgroup2": [UNIFIED], "cgroup": options.split(",")}.get(system, [])
    found = {}
    for name in names:
        with suppress(KeyError, ValueError):
            found[name] = Path(_unescape(point), Path(paths[name]).relative_to(_unescape(root)))
    return found


def _unescape(path: str) -> str:
    return re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), path)


def _groups(folder: Path) -> list[tuple[Path, int]]:
    """The groups of agents below one, each with the process that made it."""
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
        except OSError:  # somebody is in it still
            if monotonic() >= until:
                return
            sleep(0.001)


@cache
def _clean_at_exit(own: int) -> None:
    """Remove what runs have left that were killed, and at its own end what this process leaves."""
    for folder in own_folders().values():
        for group, maker in _groups(folder):
            if not os.path.exists(f"/proc/{maker}"):  # noqa: PTH110
                _remove_folder(group, 0.0)
    atexit.register(lambda: remove_groups([own]) if os.getpid() == own else None)


remove_leftovers.append(remove_groups)
