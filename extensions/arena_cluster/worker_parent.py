"""Runs between a node and a worker, as the parent of the worker: `worker_parent.py PARENT MEMORY bound|free`.

An agent that plays in the process of the worker could harm the parent of that process. So the parent is not the Dask worker, but
this program, which ends in the same way as the worker. The Dask worker, which is the parent of this program, only sees that a
worker process has ended. This program is run by its path and imports very little, because it runs for every worker process.
"""

import os
import resource
import signal
import sys
import time

POLL_SECONDS = 0.05
"""Seconds between two checks for the end of the worker and of the parent."""


def main() -> None:
    """Start the worker, wait until the worker or the parent ends, and end in the same way."""
    parent, memory = int(sys.argv[1]), sys.argv[2]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # this process ends like the worker, but without a core dump of its own
    command = [sys.executable, "-P", "-m", "arena.workers.worker", str(os.getpid()), memory, "bound"]
    worker = os.posix_spawn(command[0], command, os.environ)
    os.close(int(memory))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)  # only the worker may hold the pipes, so that they end with it
    while os.getppid() == parent:
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:
                if -code not in (signal.SIGKILL, signal.SIGSTOP):
                    signal.signal(-code, signal.SIG_DFL)
                os.kill(os.getpid(), -code)
            os._exit(code if code >= 0 else 128 - code)
        time.sleep(POLL_SECONDS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
