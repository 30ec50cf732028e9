"""Becomes another program, within limits: `python -I -S launch.py MEMORY_BYTES ENTRANCES PROGRAM ARGUMENT...`.

0 bytes are no limit; ENTRANCES are the files by which control groups are entered, one a line.

A program of its own rather than `preexec_fn`, whose Python code between fork and exec can deadlock on locks that other threads of
the parent hold. It imports next to nothing, since every agent process pays for it; it is run by its path, since `-I -S` finds no
package.
"""

import os
import resource
import sys

DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
SIGKILL = 9


def main() -> None:
    """Set the limits and start the program in place of this one."""
    memory, entrances, command = int(sys.argv[1]), sys.argv[2].splitlines(), sys.argv[3:]
    if sys.platform == "linux":
        _enter(entrances)
        _die_with_parent()
        _first_to_go()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        # RLIMIT_DATA counts private memory that can be written. RLIMIT_AS counts reserved addresses, too, and Java, Go and
        # sanitizers reserve gigabytes that they never touch.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    try:
        os.execvp(command[0], command)  # the limits, and the wish to die with the parent, outlive it
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


def _enter(entrances: list[str]) -> None:
    """Go into control groups, where that is allowed; the parent sees who came in."""
    for entrance in entrances:
        try:
            with open(entrance, "w") as file:  # noqa: PTH123 - as below
                file.write("0")
        except OSError:
            pass


def _die_with_parent() -> None:
    """Let Linux kill this process when the thread that started it ends: also after a kill of arena no agent goes on."""
    import ctypes

    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, SIGKILL, 0, 0, 0)


def _first_to_go() -> None:
    """Have the kernel kill an agent first, before arena or anything else, when the machine runs out of memory."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - pathlib takes longer to import than all of this
            file.write("1000")
    except OSError:
        pass


if __name__ == "__main__":
    main()
