"""Becomes another program, within limits: `python -I -S launch.py MEMORY_BYTES FAMILY ENTRANCES PROGRAM ARGUMENT...`.

0 bytes are no limit; ENTRANCES are the files by which control groups are entered, one a line. With `free` as FAMILY the program
takes the place of this process. With `apart` it runs below. If a PID namespace can be made it is the second process of that:
nothing in there can see or signal a process outside, and all end with the first process, which ends with this one. Elsewhere this
process adopts what is orphaned below, and ends it after the program. Its own end is that of the program.

A program of its own rather than `preexec_fn`, whose Python code between fork and exec can deadlock on locks that other threads of
the parent hold. It imports next to nothing, since every agent process pays for it; it is run by its path, since `-I -S` finds no
package.
"""

import os
import resource
import sys

DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
ADOPT_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER."""
SIGKILL, SIGTERM = 9, 15
KEYCTL, JOIN_SESSION_KEYRING = {"x86_64": 250, "aarch64": 219}, 1
"""The number of keyctl(2) by architecture, and its operation."""
NEW_MOUNTS, NEW_USER, NEW_PIDS = 0x00020000, 0x10000000, 0x20000000
"""CLONE_NEWNS, CLONE_NEWUSER and CLONE_NEWPID of unshare(2)."""
SLAVE_MOUNTS = 0x4000 | 0x80000
"""MS_REC and MS_SLAVE of mount(2): what is mounted inside is not seen outside."""
RESTRICTED_MOUNT = 2 | 4 | 8
"""MS_NOSUID, MS_NODEV and MS_NOEXEC."""


def main() -> None:
    """Set the limits and start the program, in place of this one or below it."""
    memory, family, entrances, command = int(sys.argv[1]), sys.argv[2], sys.argv[3].splitlines(), sys.argv[4:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        for entrance in entrances:
            _try_to_write(entrance, "0")  # the parent sees who came in
        # When the machine runs out of memory agents are killed first, before arena or anything else.
        _try_to_write("/proc/self/oom_score_adj", "1000")
        # An empty keyring takes the place of the keys of the user's session.
        number = KEYCTL.get(os.uname().machine)
        if number is not None:
            import ctypes

            ctypes.CDLL(None).syscall(number, JOIN_SESSION_KEYRING, None)
        if family == "apart":
            _go_apart()
        else:
            _control(DIE_WITH_PARENT, SIGKILL)
    if memory:
        # RLIMIT_DATA counts private memory that can be written. RLIMIT_AS counts reserved addresses, too, and Java, Go and
        # sanitizers reserve gigabytes that they never touch.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    try:
        os.execvp(command[0], command)  # the limits, and the wish to die with the parent, outlive it
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def _try_to_write(path: str, text: str) -> None:
    """Write into a file of the system if that is allowed."""
    try:
        _write(path, text)
    except OSError:
        return


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - pathlib takes longer to import than all of this
        file.write(text)


def _control(option: int, value: int) -> None:
    """Call prctl(2). With DIE_WITH_PARENT Linux tells a process when the thread that started it ends, even by a kill."""
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _go_apart() -> None:
    """Return in the process that is to become the program; this one waits for it and ends."""
    if _unshare():
        _control(DIE_WITH_PARENT, SIGKILL)
        told, tell = os.pipe()
        if first := os.fork():
            os.dup2(told, 0)
            os.closerange(1, tell + 1)  # nobody but the program holds its input and output
            os.waitpid(first, 0)
            _end_as(int(os.read(0, 8) or -SIGKILL))
        _begin_namespace()
        if program := os.fork():
            os.dup2(tell, 0)
            os.closerange(1, tell + 1)
            os.write(0, b"%d" % _reap(program))
            os._exit(0)
    else:
        import signal

        _control(ADOPT_ORPHANS, 1)
        _control(DIE_WITH_PARENT, SIGTERM)
        if program := os.fork():
            signal.signal(signal.SIGTERM, _end_all)
            os.closerange(0, 3)
            code = _reap(program)
            _end_below()
            _end_as(code)
        _control(DIE_WITH_PARENT, SIGKILL)
    os.setsid()


def _unshare() -> bool:
    """Return whether the next child begins a PID namespace; without the right to make one, in a user namespace that gives it."""
    import ctypes

    libc, user, group = ctypes.CDLL(None), os.geteuid(), os.getegid()
    if libc.unshare(NEW_PIDS | NEW_MOUNTS) == 0:
        return True
    if libc.unshare(NEW_PIDS | NEW_MOUNTS | NEW_USER) != 0:
        return False
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    return True


def _begin_namespace() -> None:
    """Have the namespace end with the parent of this process, its first one, and show its processes alone in /proc.

    Where containers hide parts of /proc another one cannot be mounted: then the processes outside are seen, out of reach.
    """
    import ctypes

    _control(DIE_WITH_PARENT, SIGKILL)
    libc = ctypes.CDLL(None)
    libc.mount(b"none", b"/", None, SLAVE_MOUNTS, None)
    libc.mount(b"proc", b"/proc", b"proc", RESTRICTED_MOUNT, None)


def _reap(program: int) -> int:
    """The exit code of a program, a negative one for a signal; what is orphaned meanwhile leaves no zombies."""
    while True:
        pid, status = os.wait()
        if pid == program:
            return os.waitstatus_to_exitcode(status)


def _end_below() -> None:
    """Kill all children, and theirs, which become children of this process then, until there are none."""
    try:
        while True:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123
                for pid in file.read().split():
                    os.kill(int(pid), SIGKILL)
            os.wait()
    except (ChildProcessError, FileNotFoundError):
        return


def _end_all(signum: int, frame: object) -> None:
    """End with all that is below."""
    _end_below()
    os._exit(1)


def _end_as(code: int) -> None:
    """End this process with an exit code, or by the signal of a negative one."""
    if code < 0:
        import signal

        if -code != SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
