"""Compiles modules in a separate process during play. When the code is ready, decisions are interrupted and start again with
compiled code.
"""

import atexit
import base64
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Protocol

from arena.api.processes import PythonProcess
from arena.clock import sleep
from arena.compiled import NotCompilable
from arena_compiled import cache
from arena_compiled.module import Module

MAX_COMPILE_SECONDS = 60.0
"""Timeout in seconds for one module, including the wait for another process that compiles the same module."""
LOOK_SECONDS = 0.1
"""Seconds between two checks of running decisions."""
MISSING = "numba is not installed (pip install 'numba>=0.62')"


@dataclass(eq=False)
class Compilation:
    """One module (the rules of a game and the loop of a search) that is being compiled, or waits for its turn."""

    key: str
    module: Module
    done: bool = field(default=False, init=False)
    failure: NotCompilable | None = field(default=None, init=False)
    """The reason why there is no code; None if there is code or the compilation is still pending."""


_compilations: dict[str, Compilation] = {}
_queue: SimpleQueue[Compilation] = SimpleQueue()
_running: subprocess.Popen[bytes] | None = None
_compiler: threading.Thread | None = None


def request_code(module: Module, key: str) -> Compilation:
    """Request the compilation of a module, and return its state. Modules are compiled one after the other, each only once in this
    process, and stored in the cache.
    """
    global _compiler  # noqa: PLW0603 - one thread per process, started when needed
    found = _compilations.get(key)
    if found is None:
        found = _compilations[key] = Compilation(key, module)
        _queue.put(found)
        if _compiler is None:
            atexit.register(end_compiler)
            _compiler = threading.Thread(target=_compile_requested, name="compiler", daemon=True)
            _compiler.start()
    return found


def end_compiler() -> None:
    """End the compiling process if there is one, without waiting for it."""
    if _running is not None:
        _running.kill()


def _compile_requested() -> None:
    while True:
        compilation = _queue.get()
        try:
            _compile(compilation.module, compilation.key)
        except NotCompilable as failure:
            compilation.failure = failure
        except Exception as error:  # such as too little memory to start a process
            compilation.failure = NotCompilable(f"compiling failed: {error}")
        compilation.done = True


def _compile(module: Module, key: str) -> None:
    """Compile a module in a separate process. Raises NotCompilable on failure or timeout."""
    global _running  # noqa: PLW0603 - see `end_compiler`
    overdue = threading.Event()
    request = json.dumps({"key": key, "text": module.text, "kinds": module.kinds}).encode() + b"\n"
    command = [sys.executable, "-m", "arena_compiled.compile_process"]
    pipe, environment = subprocess.PIPE, PythonProcess.environment()
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment) as child:  # noqa: S603 - our own
        _running = child
        assert child.stdin is not None
        assert child.stdout is not None

        def end_overdue() -> None:
            overdue.set()
            child.kill()

        late = threading.Timer(MAX_COMPILE_SECONDS, end_overdue)
        late.daemon = True
        late.start()
        try:
            with suppress(BrokenPipeError):
                child.stdin.write(request)
                child.stdin.flush()
            reply = child.stdout.read()  # stdin stays open, because its end tells the child that this process is gone
        finally:
            late.cancel()
            _running = None
    try:
        answer: dict[str, Any] = json.loads(reply)
    except ValueError:
        code = child.returncode
        ending = f"was ended by {PythonProcess.signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        reason = f"compiling took over {MAX_COMPILE_SECONDS:g} s" if overdue.is_set() else f"the compiler {ending}"
        raise NotCompilable(reason) from None
    if "refused" in answer:
        failure = NotCompilable(answer["refused"])
        failure.lines = tuple(answer["lines"])
        raise failure
    cache.keep(key, answer["symbol"], base64.b64decode(answer["code"]))


class Watched(Protocol):
    """A running decision."""

    def look(self) -> None:
        """Interrupt the decision if necessary. This is called from another thread."""


_watched: dict[Watched, None] = {}
_watcher: threading.Thread | None = None


def watch(decision: Watched) -> None:
    """Check a decision from time to time until `unwatch`."""
    global _watcher  # noqa: PLW0603 - one thread per process, started when needed
    _watched[decision] = None
    if _watcher is None:
        _watcher = threading.Thread(target=_look_at_watched, name="compiled-searches", daemon=True)
        _watcher.start()


def unwatch(decision: Watched) -> None:
    """Stop checking a decision."""
    _watched.pop(decision, None)


def _look_at_watched() -> None:
    while True:
        sleep(LOOK_SECONDS)
        for decision in list(_watched):
            decision.look()


def _forget_threads() -> None:
    """Reset the state after a fork, because the child process has no threads."""
    global _compiler, _watcher, _running  # noqa: PLW0603 - as above
    _compiler = _watcher = _running = None
    _compilations.clear()
    _watched.clear()


os.register_at_fork(after_in_child=_forget_threads)
