"""Stands between a node and a worker, as the worker's parent: `worker_parent.py PARENT MEMORY bound|free`.

An agent that plays in the worker's own process may do harm to the parent of that process. Here it hits this program, which
ends like the worker did; the Dask worker above only sees a worker process that has ended. It is run by its path and imports
next to nothing, since every worker process has one.
"""

import os
import resource
import signal
import sys
import time

POLL_SECONDS = 0.05
"""Seconds between two looks for the end of the worker, and of the parent."""


def main() -> None:
    """Start the worker, wait for its end or that of the parent, and end as it did."""
    parent, memory = int(sys.argv[1]), sys.argv[2]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the worker's death is to be copied, not its core
    command = [sys.executable, "-P", "-m", "arena.workers.worker", str(os.getpid()), memory, "bound"]
    worker = os.posix_spawn(command[0], command, os.environ)
    os.close(int(memory))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)  # the pipes are the worker's alone: they end with it
    while os.getppid() == parent:
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            _end_like(status)
        time.sleep(POLL_SECONDS)
    os.killpg(0, signal.SIGKILL)


def _end_like(status: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
