"""Loaded by the workers of `local:N`. Ctrl-C in the terminal reaches them, too, but only the coordinator handles it."""

import signal


def dask_setup(worker: object) -> None:
    """Ignore the user's interrupt; Dask calls this in the main thread of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
