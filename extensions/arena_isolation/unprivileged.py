"""Turns root into a user without rights. Programs that root starts in a sandbox need this.

`python -I -S unprivileged.py enter PROGRAM ARGUMENT...` creates a user namespace with the ids of the current one, and becomes the
program in it. This program is bubblewrap, which has all rights in that namespace and none outside. `... leave PROGRAM
ARGUMENT...` is the first program in the sandbox. It becomes the user NOBODY, without any right, and then runs the program.

Without this script, a process of root would stay root in the sandbox. It would have no capabilities, but it could still write to
files that root owns, such as files in /proc/sys. The script is run by its path, so it must not import anything from arena.
"""

import os
import stat
import struct
import sys

NOBODY = 65534
"""The number of a user and a group that own nothing."""
NEW_USER = 0x10000000
"""CLONE_NEWUSER of unshare(2)."""
DIE_WITH_PARENT, SIGKILL = 1, 9
"""PR_SET_PDEATHSIG of prctl(2), and its argument."""
CAPABILITY_VERSION = 0x20080522
"""_LINUX_CAPABILITY_VERSION_3 of capset(2)."""
DROP_FROM_BOUNDS = 24
"""PR_CAPBSET_DROP: no program can get a dropped right back."""


def main() -> None:
    """Enter the user namespace, or drop all rights, and become the program."""
    if sys.argv[1] == "enter":
        enter_namespace()
    else:
        become_nobody()
    try:
        os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - the caller chose the program
    except OSError as error:
        print(f"{sys.argv[2]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def enter_namespace() -> None:
    """Continue in a new user namespace that maps every id to itself and does not allow nested ones. Raises OSError if this is not
    allowed.
    """
    import ctypes

    starter = os.getppid()
    maps = {name: own_map(name) for name in ("uid_map", "gid_map")}
    parent = os.getpid()
    ready, begin = os.pipe()
    if not (writer := os.fork()):  # only a process outside may map more than one id
        os.close(begin)
        os.read(ready, 1)
        for name, ranges in maps.items():
            write(f"/proc/{parent}/{name}", "".join(f"{first} {first} {count}\n" for first, _, count in ranges))
        os._exit(0)
    libc = ctypes.CDLL(None, use_errno=True)
    failed = libc.unshare(NEW_USER) != 0 and ctypes.get_errno()
    os.close(begin)
    _, status = os.waitpid(writer, 0)
    os.close(ready)
    if failed or status:
        sys.exit(f"a user namespace with the same ids cannot be created: {os.strerror(failed or 1)}")
    write("/proc/sys/user/max_user_namespaces", "0")
    libc.prctl(DIE_WITH_PARENT, SIGKILL, 0, 0, 0)  # the change of rights has cleared this setting
    if os.getppid() != starter:  # the starter has ended meanwhile
        sys.exit(1)
    for descriptor in range(3):
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            os.fchown(descriptor, NOBODY, NOBODY)  # so that the program can open /dev/stdout


def become_nobody() -> None:
    """Give up all rights for good."""
    import ctypes

    libc = ctypes.CDLL(None)
    for capability in range(64):
        libc.prctl(DROP_FROM_BOUNDS, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    if libc.capset(struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24)) != 0:  # this drops inherited rights, too
        sys.exit("root privileges cannot be dropped")
    libc.prctl(DIE_WITH_PARENT, SIGKILL, 0, 0, 0)


def own_map(name: str) -> list[list[int]]:
    """Return the id ranges in the user namespace of this process: the first id here, the first id outside, and the count."""
    with open(f"/proc/self/{name}") as file:  # noqa: PTH123
        return [[int(word) for word in line.split()] for line in file]


def write(path: str, text: str) -> None:
    """Write a text into a file of the system."""
    with open(path, "w") as file:  # noqa: PTH123
        file.write(text)


if __name__ == "__main__":
    main()
