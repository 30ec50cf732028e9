"""Compiles, during play, the searches of entries that bring their own code. Each compiler is a separate process with the
isolation and the limits of the agent.

The compiler loads the code of the entry, as the process of the agent does. Arena does not trust the answer of the compiler: arena
writes the machine code into a private folder, which is read only by processes that load the same code. The kernel limits the
memory of the compiler, and nothing that it uses counts for the agent.
"""

import base64
import fcntl
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from arena.api.errors import IsolationError
from arena.api.match import Program
from arena.api.search import search_engines
from arena.api.store import write_whole
from arena_isolation import protocol
from arena_isolation.agent_process import AgentLost, AgentProcess
from arena_isolation.agent_start import COMPILING_MODULE
from arena_isolation.child import ChildLost
from arena_isolation.helper_process import pack
from arena_isolation.protocol import Broken
from arena_isolation.sandbox import private_folder
from arena_isolation.versions import version_in

MAX_COMPILE_SECONDS = 60.0
"""Timeout in seconds for a compiler, including the time to load the code of the entry."""
COMPILER_MEMORY_MB = 400
"""MiB that a compiler may use beyond the memory limit of the agent."""
CLOSING_SECONDS = 2.0
"""A compiler that is no longer needed is killed. This is the maximum number of seconds to wait for that."""
LOCK_SECONDS = 0.1
"""Seconds between two attempts to get the lock for the private folder of an entry."""
MAX_FILES = 16
"""Maximum number of files in the answer of a compiler."""
_NAME = re.compile(r"[0-9a-z]{1,64}\.[a-z]{1,16}")


@dataclass(eq=False)
class OwnSearch:
    """The search of an entry with its own code, for one game and heuristic."""

    program: Program
    memory_mb: int | None
    isolation: str
    start: Mapping[str, Any]
    """The request that begins a match, from which the compiler creates the agent."""
    plain_seconds: float = 0.0
    """Seconds of uncompiled decisions."""
    requested: bool = False
    failure: str | None = None
    """The reason why there is no code, if compiling has failed."""
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def has_code(self) -> bool:
        """True if a compiler has compiled the search."""
        return self.done.is_set() and self.failure is None

    @property
    def wanted(self) -> bool:
        """True if the search should be compiled now."""
        return not self.requested and any(engine.compiles_own(self.plain_seconds) for engine in search_engines())


class CompilerProcess(AgentProcess):
    """The process of a compiler. It ends early if `closing` is set."""

    def __init__(self, search: OwnSearch, closing: threading.Event) -> None:
        self._closing = closing
        memory = None if search.memory_mb is None else search.memory_mb + COMPILER_MEMORY_MB
        super().__init__(search.program, memory, search.isolation, COMPILING_MODULE)

    def _look(self) -> None:
        if self._closing.is_set():
            raise ChildLost("late")


class OwnCompiler:
    """Compiles the searches of entries with their own code, one after the other, in a separate thread."""

    def __init__(self) -> None:
        self._searches: dict[str, OwnSearch] = {}
        self._queue: SimpleQueue[OwnSearch | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()

    def search(self, key: str, program: Program, memory_mb: int | None, isolation: str, start: Mapping[str, Any]) -> OwnSearch:
        """Return the search with this key. If it is new, it is created from the other arguments."""
        if key not in self._searches:
            self._searches[key] = OwnSearch(program, memory_mb, isolation, start)
        return self._searches[key]

    def request(self, search: OwnSearch) -> None:
        """Request the code of a search, without waiting for it."""
        search.requested = True
        self._queue.put(search)
        if self._thread is None:
            self._thread = threading.Thread(target=self._compile_requested, name="own-compiler", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the compiler if there is one. Its work is lost."""
        self._closing.set()
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(CLOSING_SECONDS)

    def _compile_requested(self) -> None:
        while (search := self._queue.get()) is not None and not self._closing.is_set():
            try:
                search.failure = self._compile(search)
            except (OSError, IsolationError) as error:  # such as too little memory to start a process, or a full disk
                search.failure = f"compiling failed: {error}"
            search.done.set()

    def _compile(self, search: OwnSearch) -> str | None:
        """Compile a search. Return the reason if this fails."""
        version = version_in(search.program)
        assert version is not None
        folder = private_folder(version.code)
        with self._lock(folder):
            until = perf_counter() + MAX_COMPILE_SECONDS
            try:
                process = CompilerProcess(search, self._closing)
                try:
                    for request in (search.start, {"type": "compile", "private": str(folder)}):
                        answer = process.ask(pack(request), max(0.0, until - perf_counter()))
                        protocol.expect(answer, "ready", "failed", "compiled")
                        if answer["type"] == "failed":
                            return f"compiling failed: {protocol.message_of(answer, 'message')}"
                finally:
                    process.end()
                files, refusal = _read_files(answer), protocol.message_of(answer, "plain")
            except AgentLost as lost:
                late = perf_counter() >= until
                return f"compiling took over {MAX_COMPILE_SECONDS:g} s" if late else f"compiling failed: {lost.message}"
            except Broken as broken:
                return f"compiling failed: {broken}"
            for name, data in files.items():
                write_whole(folder / name, data)
        return refusal

    @contextmanager
    def _lock(self, folder: Path) -> Iterator[None]:
        """Hold the lock for a private folder, so that no two processes compile the same search. Without a writable folder there
        is no lock. When a process is killed, the kernel frees its lock.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = os.open(folder.with_name(f"{folder.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            yield
            return
        try:
            while not self._closing.is_set():
                with suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                self._closing.wait(LOCK_SECONDS)
            yield
        finally:
            os.close(file)


def _read_files(answer: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files in the answer of a compiler. Raises Broken if their names or contents are not as expected."""
    files = answer.get("files", {})
    try:
        if not isinstance(files, dict) or len(files) > MAX_FILES or not all(map(_NAME.fullmatch, files)):
            raise ValueError("their names are not as expected")
        return {name: base64.b64decode(text, validate=True) for name, text in files.items()}
    except (TypeError, ValueError) as error:
        raise Broken(f"files: expected at most {MAX_FILES} files as base64: {error}") from error
