"""Becomes another program, within limits: `python -I -S launch.py MEMORY_BYTES PROGRAM ARGUMENT...`; 0 bytes are no limit.

A program of its own rather than code between fork and exec, which is not safe where the parent has threads; it imports next to
nothing, since every agent process pays for it. It is run by its path and stands alone.
"""

import os
import resource
import sys

DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
SIGKILL = 9


def main() -> None:
    """Set the limits and start the program in place of this one."""
    memory, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        _die_with_parent()
        _first_to_go()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        # What is allocated, and not the address space, of which some runtimes reserve far more than they ever use.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


def _die_with_parent() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, SIGKILL, 0, 0, 0)


def _first_to_go() -> None:
    """When the machine runs out of memory, the kernel shall take an agent, and nothing else."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - pathlib takes longer to import than all of this
            file.write("1000")
    except OSError:
        pass


if __name__ == "__main__":
    main()
