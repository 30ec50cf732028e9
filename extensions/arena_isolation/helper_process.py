"""Helper processes. A helper loads plugins and answers requests. If a plugin crashes, the helper ends, and its parent continues.

A request is a line of JSON, and so is its answer. The parent starts a module of arena as a `Helper` and sends requests. The
module calls `serve` with a function that answers one request. The processes of agents use `serve` too, but not `Helper`, because
the agent protocol has other messages besides requests and answers.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

from arena.api.processes import PythonProcess
from arena.clock import perf_counter
from arena_isolation.child import LOOK_SECONDS, ChildLost, ChildProcess

HELLO = "hello"
"""A request that `serve` itself answers, to show that the process is ready."""
OWN_PATH = "ARENA_OWN_PATH"
"""The environment variable with the import path for the code of an entry, separated as in PYTHONPATH; see `use_own_path`."""
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False).encode


class Helper(ChildProcess):
    """A process that runs `python -m MODULE WORD...` in the working folder, within limits, and answers requests.

        helper = Helper("arena_check.second_process", ["my_plugin.py"], longest=1 << 20)
        answer = helper.ask(["game", "nim"], seconds=10)
        helper.end()

    The limits are those of ChildProcess.
    """

    def __init__(
        self,
        module: str,
        words: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        *,
        memory: int = 0,
        longest: int,
        look: float = LOOK_SECONDS,
        check: Callable[[], None] | None = None,
    ) -> None:
        command = [sys.executable, "-P", "-m", module, *words]
        variables = {**PythonProcess.environment(), **(environment or {})}
        super().__init__(command, os.getcwd(), memory, variables, longest=longest, look=look, check=check)  # noqa: PTH109

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until the process has loaded its plugins and answers. Raises ChildLost on timeout."""
        self.ask(HELLO, seconds)

    def ask(self, request: Any, seconds: float) -> Any:
        """Return the answer to a request. Raises ChildLost on timeout."""
        end = perf_counter() + seconds
        self.post(request, end)
        return self.answer(end)

    def post(self, request: Any, end: float) -> None:
        """Send a request; call `answer` later for the answer. Raises ChildLost if the process does not read the request by the
        time `end`.
        """
        self.send(pack(request), end)

    def answer(self, end: float) -> Any:
        """Return the answer to the oldest open request. Raises ChildLost if there is none by the time `end`."""
        try:
            return json.loads(self.receive(end))
        except (ValueError, RecursionError):
            raise ChildLost("garbled") from None


def pack(message: Any) -> bytes:
    """Return a message as a line of JSON. Raises ValueError or TypeError if it cannot be encoded."""
    return _encode(message).encode() + b"\n"


def use_own_path() -> None:
    """Import from now on as the code of the entry needs it, if the process of an entry has a path of its own.

    Python must not know this path while it starts. It would import `sitecustomize` and `usercustomize` from it, which would run
    before arena and need no import in the code of the entry.
    """
    given = os.environ.pop(OWN_PATH, None)
    if given is not None:
        own, others = given.split(os.pathsep), os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:] = [*own, *[entry for entry in sys.path if entry not in own and entry not in others]]
        os.environ["PYTHONPATH"] = given  # for processes that the agent starts


def serve(answer: Callable[[Any], Any], requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more.

    `answer` returns a message, the bytes of a line, or None for a request that needs no answer.
    """
    for line in requests:
        request = json.loads(line)
        reply = HELLO if request == HELLO else answer(request)
        if reply is not None:
            replies.write(reply if isinstance(reply, bytes) else pack(reply))
            replies.flush()
