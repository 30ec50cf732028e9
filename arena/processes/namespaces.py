"""Tells whether agents in processes of their own have PID namespaces here, out of which no other process can be reached."""

import subprocess
import sys
from functools import cache

from arena.processes.child import LAUNCHER

SHARED = (
    "no PID namespace can be made here, so agents in processes of their own could signal others: a match whose worker was "
    "killed twice is void where such an agent plays. Allow user namespaces to keep them apart"
)


@cache
def namespaces_work() -> bool:
    """True if the launcher can put a family of processes into a PID namespace: then the program is its second process."""
    command = [sys.executable, "-I", "-S", str(LAUNCHER), "0", "apart", "", "sh", "-c", "echo $$"]
    return subprocess.run(command, capture_output=True, check=False).stdout == b"2\n"  # noqa: S603 - our own
