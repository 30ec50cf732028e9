"""Tests whether the limits of the kernel for this user are used up: `python -I -S limits_probe.py FILES` prints what is used up.

It prints nothing if there is enough of everything. FILES is the maximum number of open files that an agent has, because the
kernel compares the descriptors in unread messages of the user with the limit of the sender. The script is run by its path, so it
must not import anything from arena.
"""

import array
import ctypes
import os
import resource
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable

CAPABILITY_VERSION, SYS_ADMIN = 0x20080522, 21
"""The version of the structures of capset(2), and the capability to mount: CAP_SYS_ADMIN."""


def main() -> None:
    """Try everything, and print the first thing of which there is nothing left."""
    files = min(int(sys.argv[1]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    drop_right_to_mount()
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
        except OSError:
            print(name)
            return


def drop_right_to_mount() -> None:
    """Give up CAP_SYS_ADMIN, as the launcher does for agents. The kernel limits no descriptors of a process that has it."""
    libc = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets) == 0:
        sets[0] &= ~(1 << SYS_ADMIN)  # of the effective ones
        libc.capset(header, sets)


def send_descriptor() -> None:
    """Have a descriptor in an unread message."""
    first, _second = socket.socketpair()
    first.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [first.fileno()]).tobytes())])


def queue_signal() -> None:
    """Have a signal in the queue of this thread."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    signal.pthread_kill(threading.get_ident(), signal.SIGRTMIN)


def watch_pipe() -> None:
    """Have a pipe watched by epoll."""
    with select.epoll() as watcher:
        watcher.register(os.pipe()[0])


def start_thread() -> None:
    """Start a process, which counts like a thread."""
    if pid := os.fork():
        os.waitpid(pid, 0)
    else:
        os._exit(0)


ATTEMPTS: dict[str, Callable[[], None]] = {
    "descriptors in unread messages": send_descriptor,
    "queued signals": queue_signal,
    "files watched by epoll": watch_pipe,
    "threads": start_thread,
}


if __name__ == "__main__":
    main()
