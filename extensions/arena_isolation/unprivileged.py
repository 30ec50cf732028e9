"""Turns root into a user without rights, and sets the limits of a program in a sandbox.

`python -I -S unprivileged.py enter USER PROGRAM ARGUMENT...` creates a user namespace with the ids of the current one, and
becomes the program in it. This program is bubblewrap, which has all rights in that namespace and none outside. `... leave USER
PROGRAM ARGUMENT...` is the first program in the sandbox. It becomes the user with this id, without any right, and then runs the
program within limits. If USER is 0, it stays the user that it is.

Without this script, a process of root would stay root in the sandbox. It would have no capabilities, but it could still write to
files that root owns, such as files in /proc/sys. A user of its own also has its own share of what the kernel gives to each user,
such as descriptors in unread messages. The limits have to be set inside: the kernel compares some of them with the count in the
user namespace, and a limit that is set outside would compare them with the count of all programs of the user. The script is run
by its path, so it must not import anything from arena.
"""

import os
import resource
import stat
import struct
import sys

NOBODY = 65534
"""The number of a user and a group that own nothing. It is used if the machine has no ids from FIRST_USER on."""
FIRST_USER, USERS = 2_000_000_000, 1 << 26
"""The first of the ids from which each sandbox gets one, and their number. No system gives these ids to its users: systemd leaves
the range from 1,879,048,192 to 2,147,352,575 unassigned.
"""
MAX_OPEN_FILES = 256
"""Maximum number of open files of a process in a sandbox. It also limits the descriptors that all sandboxes of a user together
can have in unread messages, so that other programs of the user never reach their limit.
"""
MAX_PENDING_SIGNALS = 256
"""Maximum number of queued signals and timers in a sandbox."""
MAX_THREADS = 4160
"""Maximum number of threads in a sandbox, a few more than the control group of an agent may have."""
OWN_COUNTS = (5, 14)
"""The first version of Linux that counts queued signals and threads in each user namespace, not only for each user."""
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
    user, program = int(sys.argv[2]), sys.argv[3:]
    if sys.argv[1] == "enter":
        enter_namespace(user)
    else:
        if user:
            become(user)
        set_limits(counted_alone=bool(user) or kernel_version() >= OWN_COUNTS)
    try:
        os.execvp(program[0], program)  # noqa: S606 - the caller chose the program
    except OSError as error:
        print(f"{program[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def enter_namespace(user: int) -> None:
    """Continue in a new user namespace that maps every id to itself and does not allow nested ones. Raises OSError if this is not
    allowed. The standard streams are given to `user`.
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
            os.fchown(descriptor, user, user)  # so that the program can open /dev/stdout


def become(user: int) -> None:
    """Give up all rights for good, and become another user."""
    import ctypes

    libc = ctypes.CDLL(None)
    for capability in range(64):
        libc.prctl(DROP_FROM_BOUNDS, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if libc.capset(struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24)) != 0:  # this drops inherited rights, too
        sys.exit("root privileges cannot be dropped")
    libc.prctl(DIE_WITH_PARENT, SIGKILL, 0, 0, 0)


def set_limits(*, counted_alone: bool) -> None:
    """Limit this program and everything that it starts. `counted_alone` says that the kernel counts the signals and threads of
    the sandbox apart from those of other programs. No program may have a higher priority than others, which some systems allow
    their users.
    """
    limits = {resource.RLIMIT_NOFILE: MAX_OPEN_FILES, resource.RLIMIT_RTPRIO: 0, resource.RLIMIT_NICE: 0}
    if counted_alone:
        limits |= {resource.RLIMIT_SIGPENDING: MAX_PENDING_SIGNALS, resource.RLIMIT_NPROC: MAX_THREADS}
    for limit, most in limits.items():
        allowed = resource.getrlimit(limit)[1]
        value = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(limit, (value, value))


def kernel_version() -> tuple[int, ...]:
    """Return the version of Linux as two numbers."""
    return tuple([int(word) for word in os.uname().release.split(".", 2)[:2]])


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
