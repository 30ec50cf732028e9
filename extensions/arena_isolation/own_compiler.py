"""Compiles, between two matches, the searches of entries that bring their own code. The compiler is a separate process with the
isolation and the limits of the agent.

The compiler loads the code of the entry, as the process of the agent does. So it could think for the agent, and arena runs it
only while no clock of this process runs. Arena does not trust the answer of the compiler: arena writes the machine code into a
private folder, which is read only by processes that could have written it: those of the same program in the same isolation (see
`PluginVersion.origin`). The kernel limits the memory of the compiler, and nothing that it uses counts for the agent.
"""

import base64
import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.api.errors import IsolationError
from arena.api.match import Program
from arena.api.search import search_engines
from arena.api.store import describe_cache_fault, make_cache_folder, write_whole
from arena.clock import perf_counter
from arena_isolation import protocol
from arena_isolation.agent_process import AgentLost, AgentProcess
from arena_isolation.agent_start import COMPILING_MODULE
from arena_isolation.helper_process import pack
from arena_isolation.protocol import Broken
from arena_isolation.sandbox import private_folder
from arena_isolation.versions import version_in

MAX_COMPILE_SECONDS = 60.0
"""Timeout in seconds for a compiler, including the time to load the code of the entry."""
COMPILER_MEMORY_MB = 400
"""MiB that a compiler may use beyond the memory limit of the agent."""
MAX_FILES = 16
"""Maximum number of files in the answer of a compiler."""
MAX_KEPT_BYTES = 1 << 30
"""Maximum size of the machine code of all entries together. Beyond it, the oldest is deleted, and compiled again when needed."""
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
    settled: bool = False
    """True if the search needs no compiler any more: it has run, or the process of the agent would not load its code."""
    has_code: bool = False
    """True if a compiler has compiled the search."""
    failure: str | None = None
    """The reason why there is no code, if compiling has failed."""

    @property
    def wanted(self) -> bool:
        """True if the search should be compiled before the next match."""
        return not self.settled and any(engine.compiles_own(self.plain_seconds) for engine in search_engines())


class OwnCompiler:
    """Compiles the searches of entries with their own code, one after the other."""

    def __init__(self) -> None:
        self._searches: dict[str, OwnSearch] = {}

    def search(self, key: str, program: Program, memory_mb: int | None, isolation: str, start: Mapping[str, Any]) -> OwnSearch:
        """Return the search with this key. If it is new, it is created from the other arguments."""
        if key not in self._searches:
            self._searches[key] = OwnSearch(program, memory_mb, isolation, start)
        return self._searches[key]

    def compile(self, search: OwnSearch, *, wait: bool) -> None:
        """Compile a search once. Call this only while no clock runs, because the compiler can do anything that the agent can.

        If another process compiles code of the same entry, wait for it, or leave the search for a later call if `wait` is false.
        """
        version = version_in(search.program)
        assert version is not None
        folder = private_folder(version.origin(search.isolation))
        if not make_cache_folder(folder) and (fault := describe_cache_fault(folder)):
            search.settled, search.failure = True, fault
            return
        try:
            with _lock(folder, wait=wait) as held:
                if not held:
                    return
                search.settled = True
                search.failure = _compile(search, folder)
        except (OSError, IsolationError) as error:  # such as too little memory to start a process, or a full disk
            search.failure = f"compiling failed: {error}"
        search.has_code = search.failure is None


def _compile(search: OwnSearch, folder: Path) -> str | None:
    """Compile a search. Return the reason if this fails."""
    until = perf_counter() + MAX_COMPILE_SECONDS
    memory = None if search.memory_mb is None else search.memory_mb + COMPILER_MEMORY_MB
    try:
        process = AgentProcess(search.program, memory, search.isolation, COMPILING_MODULE)
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
    with suppress(OSError):  # such as a folder of another user
        _tidy(folder)
    return refusal


def _tidy(kept: Path) -> None:
    """Delete the locks that killed runs have left, and the machine code of the entries that were compiled longest ago, as far as
    all code exceeds MAX_KEPT_BYTES.

    The code of the entry in the folder `kept` stays, and so does the code of entries that another process compiles now. Processes
    that have opened a file can still read it.
    """
    for lock in kept.parent.glob("*.lock"):
        with _lock(lock.with_suffix(""), wait=False):
            pass
    sizes: dict[Path, int] = {}
    ages: dict[Path, float] = {}
    for folder in [place for place in kept.parent.iterdir() if place.is_dir() and not place.is_symlink()]:
        for file in folder.iterdir():
            with suppress(OSError):  # another process has just deleted it
                status = file.lstat()
                sizes[folder] = sizes.get(folder, 0) + status.st_size
                ages[folder] = max(ages.get(folder, 0.0), status.st_mtime)
    total = sum(sizes.values())
    for folder in sorted(sizes.keys() - {kept}, key=lambda folder: ages[folder]):
        if total <= MAX_KEPT_BYTES:
            break
        with _lock(folder, wait=False) as held:
            for file in folder.iterdir() if held else ():
                file.unlink(missing_ok=True)
        total -= sizes[folder] if held else 0


@contextmanager
def _lock(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the lock for a private folder, so that no two processes compile the same search. Yield False if another process holds
    it and `wait` is false. Without a writable folder there is no lock. When a process is killed, the kernel frees its lock.

    The file of the lock is deleted by the process that holds it.
    """
    place = folder.with_name(f"{folder.name}.lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = _take(place, wait=wait)
    except BlockingIOError:
        yield False
        return
    except OSError:
        yield True
        return
    try:
        yield True
    finally:
        with suppress(OSError):
            place.unlink(missing_ok=True)
        os.close(file)


def _take(place: Path, *, wait: bool) -> int:
    """Return the descriptor of a file that this process has locked. Raises BlockingIOError if another process has locked it, and
    `wait` is false.
    """
    while True:
        file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), place.lstat()):
                    return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # the process that held the lock has deleted this file, and another one may be there now


def _read_files(answer: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files in the answer of a compiler. Raises Broken if their names or contents are not as expected."""
    files = answer.get("files", {})
    try:
        if not isinstance(files, dict) or len(files) > MAX_FILES or not all(map(_NAME.fullmatch, files)):
            raise ValueError("their names are not valid")
        return {name: base64.b64decode(text, validate=True) for name, text in files.items()}
    except (TypeError, ValueError) as error:
        raise Broken(f"files: expected at most {MAX_FILES} files as base64: {error}") from error
