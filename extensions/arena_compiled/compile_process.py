"""The process that compiles one module: `python -m arena_compiled.compile_process`, with the request on stdin.

The process ends when its stdin is closed, so it does not outlive the process that started it. Two such processes never compile
the same module at the same time: the second waits until the first releases its lock, and then takes the code from the cache.
"""

import base64
import fcntl
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from arena.api.errors import describe
from arena.api.processes import PythonProcess
from arena.api.store import make_cache_folder
from arena.compiled import NotCompilable
from arena_compiled import cache


@contextmanager
def lock(key: str) -> Iterator[None]:
    """Hold the lock for a module, which is a file in the cache. Without a folder of the user there is no lock.

    When a process is killed, the kernel frees its lock.
    """
    path = cache.folder() / f"{key}.lock"
    held = None
    while held is None and make_cache_folder(path.parent):
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            break
        fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file).st_ino:
                held = file
        if held is None:  # the previous holder has removed the file
            os.close(file)
    try:
        yield
    finally:
        if held is not None:
            path.unlink(missing_ok=True)
            os.close(held)


def main() -> None:
    """Compile the requested module. Answer with the code, or with the reason why there is none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    requests, replies = PythonProcess.take_pipes()
    request = json.loads(requests.readline())
    threading.Thread(target=lambda: requests.read() is None or os._exit(1), daemon=True).start()
    key = request["key"]
    try:
        with lock(key):
            found = cache.read(key)
            if found is None:
                from arena_compiled.compiler import object_code

                found = object_code(request["text"], tuple(request["kinds"]), key)
                cache.write(key, *found)
        answer: dict[str, Any] = {"symbol": found[0], "code": base64.b64encode(found[1]).decode()}
    except NotCompilable as refused:
        answer = {"refused": str(refused), "lines": list(refused.lines)}
    except Exception as error:  # a broken library is treated like a missing one
        answer = {"refused": f"compiling failed: {describe(error)}", "lines": []}
    replies.write(json.dumps(answer).encode())
    replies.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
