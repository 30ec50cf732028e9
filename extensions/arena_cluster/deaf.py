"""A preload module for the workers of `local:N`. Ctrl-C in the terminal reaches them too, but only the coordinator must handle
it.
"""

import signal


def dask_setup(worker: object) -> None:
    """Ignore the interrupt of the user. Dask calls this in the main thread of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
