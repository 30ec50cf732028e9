"""Stores object code in the user's cache folder. The key is the hash of everything that the code depends on. A checksum of the
code is verified before use.

A file has a header line with a checksum, and the code. A truncated file, or a file for another version or processor, counts as
missing, and so does a file that anybody else may have written, see `arena.whole_files`. If the folder is not writable, each
process has to compile again, but nothing else changes. The processes of an entry
with its own plugin also read from a private folder of this entry. They do not write: the process that plays the matches writes
into the private folder.
"""

from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from arena.api.store import cache_folder, describe_cache_fault, make_cache_folder, read_cached, write_whole

HOSTED = "hosted"
"""Another value of COMPILE. It is set in the process of an agent if the clock of a decision runs outside this process."""
OWN_PACKAGES = frozenset({"arena", "arena_games"})
"""The packages of the built-in games and heuristics."""
USERS = "user"
"""The prefix of the key of a module with code of the user."""
FORMAT = 2
_memory: dict[str, tuple[str, bytes]] = {}
"""Modules that are only in memory, because this process is private (does not write into the folder) or cannot write there."""
_unusable: dict[Path, tuple[int, int] | None] = {}
"""The modification time and the size of files that are damaged or made for another processor."""
_private: Path | None = None


def keep_private(private: Path) -> None:
    """From now on, also read from the folder `private`, and write nothing."""
    global _private  # noqa: PLW0603 - the setting is for the whole process
    _private = private


def unwritten() -> dict[str, bytes]:
    """Return the files that this process would have written if it were not private."""
    return {_files(key)[0].name: _head(key, symbol, code) + code for key, (symbol, code) in _memory.items()}


def folder(*, own: bool = True) -> Path:
    """Return the folder of the compiled modules. There is one for arena's `own` modules, and another for modules with
    code of the user. Every sandbox shows the first one, and machine code tells much about the code from which it is
    made.
    """
    return cache_folder() / ("compiled" if own else "compiled-own")


@cache
def _versions() -> str:
    """Return the versions of the compiler and of this package. The compiled code depends on them, on the text of the code, and on
    the processor.
    """
    own = (Path(__file__).parent / "compiler.py").read_bytes()
    found = []
    for package in ("numba", "llvmlite"):
        try:
            found.append(version(package))
        except PackageNotFoundError:
            found.append("none")
    return f"{FORMAT} {' '.join(found)} {blake2b(own, digest_size=16).hexdigest()}"


@cache
def _processor() -> str:
    """Return a hash of the processor. This loads a large library, so it is called only if there is code to load."""
    import llvmlite.binding as llvm

    told = f"{llvm.get_default_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    return blake2b(told.encode(), digest_size=8).hexdigest()


def key_of(text: str, kinds: tuple[str, ...], *, own: bool) -> str:
    """Return the key of a module: the hash of its text and of its compilation parameters. `own` says whether arena has written
    all of its code.
    """
    return ("" if own else USERS) + blake2b(f"{_versions()}\n{kinds}\n{text}".encode(), digest_size=16).hexdigest()


def read(key: str) -> tuple[str, bytes] | None:
    """Return the symbol and the object code of a module; None if the cache has no valid copy."""
    if key in _memory:
        return _memory[key]
    for file in _files(key):
        with suppress(OSError):
            stamp, content = _stamp(file), b""
            with suppress(PermissionError):  # such as a file of another user
                content = read_cached(file)
            head, _, code = content.partition(b"\n")
            words = head.decode("utf-8", "replace").split()
            if len(words) == 5 and head + b"\n" == _head(key, words[3], code):
                return words[3], code
            _unusable[file] = stamp
    return None


def write(key: str, symbol: str, code: bytes) -> None:
    """Store a module."""
    if _private is not None:
        _memory[key] = symbol, code
        return
    with suppress(OSError):  # if the disk is full or the folder is not writable, continue without a file
        file = _files(key)[0]
        if make_cache_folder(file.parent):
            write_whole(file, _head(key, symbol, code), code)


def keep(key: str, symbol: str, code: bytes) -> None:
    """Store a module that another process has compiled and could not write."""
    if read(key) is None:
        _memory[key] = symbol, code


def has(key: str) -> bool:
    """Return True if a module seems to be in the cache. The file is not read here, but a file that `read` has refused does not
    count.
    """
    return key in _memory or any(_stamp(file) not in (None, _unusable.get(file)) for file in _files(key) if _is_safe(file.parent))


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


@cache
def _is_safe(place: Path) -> bool:
    """Return True if only the user writes in a folder."""
    return describe_cache_fault(place) is None


def _files(key: str) -> list[Path]:
    """Return the files in which a module may be stored: one in the folder of the user and, if there is a private folder, one
    there.
    """
    return [place / f"{key}.module" for place in (folder(own=not key.startswith(USERS)), _private) if place is not None]


def _head(key: str, symbol: str, code: bytes) -> bytes:
    return f"arena {key} {_processor()} {symbol} {blake2b(code, digest_size=16).hexdigest()}\n".encode()
