"""The worker's end of a run in several processes: `python -m arena.worker`, batches in on stdin, records out on stdout.

Both ends are arena itself, on one machine and of one version, so they speak pickle. What agents print goes to stderr.
"""

import os
import pickle
import sys
import threading
from time import sleep
from typing import IO, Any

from arena.errors import ArenaError, describe
from arena.schedule import Stage
from arena.spec import reload_spec

READY = "ready"


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Read a recipe, then batches, and answer each with its records; end with the end of the input."""
    try:
        stage = Stage(reload_spec(*pickle.load(requests)))  # noqa: S301 - from our own parent
    except ArenaError as error:
        send(replies, str(error))
        return
    except Exception as error:
        send(replies, describe(error))
        return
    send(replies, READY)
    while True:
        try:
            batch = pickle.load(requests)  # noqa: S301 - as above
        except EOFError:
            return
        send(replies, [stage.play(scheduled) for scheduled in batch])


def send(stream: IO[bytes], value: Any) -> None:
    """Write one value."""
    pickle.dump(value, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> None:
    """Serve the parent process, with stdin and stdout out of reach of agents."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # an agent that reads finds nothing, and not the next batch
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    try:
        serve(requests, replies)
    except BrokenPipeError:  # the parent is gone, and with it whoever wanted the records
        os._exit(1)


def _end_with(parent: int) -> None:
    """End this process when its parent has ended without a word."""
    while os.getppid() == parent:
        sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main()
