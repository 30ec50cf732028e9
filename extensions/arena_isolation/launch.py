"""Runs another program within limits: `python -I -S launch.py MEMORY_BYTES FAMILY ENTRANCES FILTER PROGRAM ARGUMENT...`.

MEMORY_BYTES is 0 for no limit. ENTRANCES are the files of the control groups to enter, one per line. FILTER is the descriptor of
a filter of system calls (seccomp), or empty. If FAMILY is `free`, the
program replaces this process. If it is `apart`, the program runs as a child. If possible, a PID namespace is created in which the
program is the second process and has separate shared memory segments. A process in the namespace can neither see nor signal a
process outside. All processes in the namespace end with its first process, which ends with this one. Without a namespace, this
process adopts orphaned descendants of the program, and ends them when the program has ended. This process ends with the exit code
of the program.

This is a separate program and not a `preexec_fn`, because Python code between fork and exec can deadlock on locks that other
threads of the parent hold. It imports very little, because it runs for every agent process. It is run by its path, because with
`-I -S` Python finds no package.
"""

import os
import resource
import struct
import sys

MAX_OPEN_FILES = 4096
"""Maximum number of open files of a process. arena looks at all of them, and each may hold memory."""
DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
ADOPT_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER."""
SET_FILTER, FILTER_MODE, NO_NEW_RIGHTS = 22, 2, 38
"""PR_SET_SECCOMP with SECCOMP_MODE_FILTER, and PR_SET_NO_NEW_PRIVS."""
SIGKILL, SIGTERM = 9, 15
KEYCTL, JOIN_SESSION_KEYRING = {"x86_64": 250, "aarch64": 219}, 1
"""The number of keyctl(2) on each architecture, and the operation."""
NEW_MOUNTS, NEW_SEGMENTS, NEW_USER, NEW_PIDS = 0x00020000, 0x08000000, 0x10000000, 0x20000000
"""CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER and CLONE_NEWPID of unshare(2)."""
SLAVE_MOUNTS = 0x4000 | 0x80000
"""MS_REC and MS_SLAVE of mount(2), so that mounts inside are not visible outside."""
RESTRICTED_MOUNT = 2 | 4 | 8
"""MS_NOSUID, MS_NODEV and MS_NOEXEC."""
READ_ONLY = 1 | 32 | 4096
"""MS_RDONLY, MS_REMOUNT and MS_BIND."""
DROP_FROM_BOUNDS, SYS_PTRACE, SYS_ADMIN = 24, 19, 21
"""PR_CAPBSET_DROP, and the capabilities to change any other process and to mount: CAP_SYS_PTRACE, CAP_SYS_ADMIN."""
DUMPABLE = 4
"""PR_SET_DUMPABLE."""
CAPABILITY_VERSION = 0x20080522
"""_LINUX_CAPABILITY_VERSION_3 of capset(2)."""


def main() -> None:
    """Set the limits and start the program, either in place of this process or as a child."""
    memory, family, entrances, calls, command = int(sys.argv[1]), sys.argv[2], sys.argv[3].splitlines(), sys.argv[4], sys.argv[5:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = MAX_OPEN_FILES if most == resource.RLIM_INFINITY else min(most, MAX_OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    if sys.platform == "linux":
        for entrance in entrances:
            _try_to_write(entrance, "0")  # if this fails, the parent notices that no process has entered
        # When the machine runs out of memory, the kernel kills agents before arena or anything else.
        _try_to_write("/proc/self/oom_score_adj", "1000")
        # An empty keyring replaces the keyring of the user's session.
        number = KEYCTL.get(os.uname().machine)
        if number is not None:
            import ctypes

            ctypes.CDLL(None).syscall(number, JOIN_SESSION_KEYRING, None)
        if family == "apart":
            _go_apart(memory)
        else:
            _control(DIE_WITH_PARENT, SIGKILL)
    if memory:
        # RLIMIT_DATA counts private writable memory. RLIMIT_AS would also count addresses that are only reserved, and Java, Go
        # and sanitizers reserve gigabytes that they never use.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    if calls:
        _filter_calls(int(calls))
    try:
        os.execvp(command[0], command)  # the limits and the signal at the death of the parent stay in force
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def _filter_calls(descriptor: int) -> None:
    """Let the kernel apply a filter to the system calls of this process and of all that it starts, if it has such filters."""
    import ctypes

    program = os.read(descriptor, 1 << 16)
    os.close(descriptor)
    instructions = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("H6xQ", len(program) // 8, ctypes.addressof(instructions))
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong]
    if prctl(SET_FILTER, FILTER_MODE, header, 0, 0) != 0:  # only root may filter programs that gain rights by being started
        prctl(NO_NEW_RIGHTS, 1, None, 0, 0)
        prctl(SET_FILTER, FILTER_MODE, header, 0, 0)


def _try_to_write(path: str, text: str) -> None:
    """Write into a system file if that is allowed."""
    try:
        _write(path, text)
    except OSError:
        return


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - pathlib takes longer to import than all of this
        file.write(text)


def _control(option: int, value: int) -> None:
    """Call prctl(2). With DIE_WITH_PARENT, Linux sends a signal to the process when the thread that started it ends, even if that
    thread is killed.
    """
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _go_apart(memory: int) -> None:
    """Fork, and return only in the process that will become the program. The original process waits for that process and then
    ends.

    `memory` limits the shared memory segments of the program in bytes, if possible; 0 means no limit.
    """
    if _unshare():
        _control(DIE_WITH_PARENT, SIGKILL)
        told, tell = os.pipe()
        if first := os.fork():
            os.dup2(told, 0)
            os.closerange(1, tell + 1)  # only the program may hold its input and output
            os.waitpid(first, 0)
            _end_as(int(os.read(0, 8) or -SIGKILL))
        _begin_namespace()
        if memory:
            _try_to_write("/proc/sys/kernel/shmall", str(memory // os.sysconf("SC_PAGE_SIZE")))
        # The program does not lead its session, because Linux continues the leader of a session when its terminal is closed. It
        # is in the group of its parent, because Linux continues a group that loses its last parent within the session.
        os.setsid()
        if program := os.fork():
            import ctypes
            import signal

            # This process is under no filter, so the program must not be able to act through it.
            ctypes.CDLL(None).capset(struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24))
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # like other signals that the program sends to its group
            os.dup2(tell, 0)
            os.closerange(1, tell + 1)
            os.write(0, b"%d" % _reap(program))
            os._exit(0)
    else:
        import signal

        def end_all(signum: int, frame: object) -> None:
            _end_below()
            os._exit(1)

        _control(ADOPT_ORPHANS, 1)
        _control(DIE_WITH_PARENT, SIGTERM)
        if program := os.fork():
            signal.signal(signal.SIGTERM, end_all)
            os.closerange(0, 3)
            code = _reap(program)
            _end_below()
            _end_as(code)
        _control(DIE_WITH_PARENT, SIGKILL)
        os.setsid()


def _unshare() -> bool:
    """Unshare namespaces, and return True if the next child begins a PID namespace. If the rights do not suffice, a user
    namespace is created, too.
    """
    import ctypes

    libc, user, group = ctypes.CDLL(None), os.geteuid(), os.getegid()
    apart = NEW_PIDS | NEW_MOUNTS | NEW_SEGMENTS  # unused segments disappear with their namespace
    if libc.unshare(apart) == 0:
        return True
    if libc.unshare(apart | NEW_USER) != 0:
        return False
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    return True


def _begin_namespace() -> None:
    """Make the new namespace end when the parent of this process ends. This process is the first one in the namespace. Show only
    processes of the namespace in /proc.

    If a container hides parts of /proc, no other /proc can be mounted. Then processes outside are visible, but cannot be reached.
    The files of control groups become read-only, so that the program cannot leave its group. Root could change that, so the
    program does not get the right to mount. Nor does it get the right to change any process: with that right, it could act
    through this process, which is not dumpable and so protected from all others.
    """
    import ctypes

    _control(DIE_WITH_PARENT, SIGKILL)
    libc = ctypes.CDLL(None)
    libc.mount(b"none", b"/", None, SLAVE_MOUNTS, None)
    libc.mount(b"proc", b"/proc", b"proc", RESTRICTED_MOUNT, None)
    with open("/proc/self/mountinfo", "rb") as mounts:  # noqa: PTH123
        for line in mounts:
            words = line.split()
            if words[words.index(b"-") + 1] in (b"cgroup", b"cgroup2"):
                libc.mount(None, words[4], None, READ_ONLY | RESTRICTED_MOUNT, None)
    for right in (SYS_ADMIN, SYS_PTRACE):
        _control(DROP_FROM_BOUNDS, right)
    _control(DUMPABLE, 0)


def _reap(program: int) -> int:
    """Return the exit code of a program (negative for a signal). Meanwhile, reap orphaned processes."""
    while True:
        pid, status = os.wait()
        if pid == program:
            return os.waitstatus_to_exitcode(status)


def _end_below() -> None:
    """Kill all children. This process then adopts their children and kills them too, until there are none left."""
    try:
        while True:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123
                for pid in file.read().split():
                    os.kill(int(pid), SIGKILL)
            os.wait()
    except (ChildProcessError, FileNotFoundError):
        return


def _end_as(code: int) -> None:
    """End this process with an exit code or, if the code is negative, by that signal."""
    if code < 0:
        import signal

        if -code != SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
