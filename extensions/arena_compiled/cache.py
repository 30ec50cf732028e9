"""Object code in the user's cache folder, by the hash of all that it follows from; never trusted unread.

A file holds a line that says what it is, with a checksum, and the code. One that is cut short, of another version or of another
processor is as good as none. A folder that cannot be written to costs the time of compiling in each process, nothing else.
The process of an entry with a plugin of its own keeps what it compiles to itself, and reads the folder.
"""

import os
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from platformdirs import user_cache_path

from arena.whole_files import write_whole

FOLDER = "ARENA_CACHE"
"""The environment variable that names another folder."""
COMPILE = "ARENA_COMPILE"
"""An environment variable: `always` to compile at once, `never` to take what is in the cache."""
OWN, HOSTED = "own", "hosted"
"""Further values of COMPILE: what a run sets once it is long, so that processes of entries with plugins of their own compile for
themselves; and that of the process of an agent, where the clock of a decision runs outside."""
FORMAT = 2
_private: dict[str, tuple[str, bytes]] | None = None
"""The modules that this process has compiled and shares with nobody; None if it writes into the folder."""


def keep_private() -> None:
    """Write nothing into the folder from now on."""
    global _private  # noqa: PLW0603 - it is the process that is private, whoever asks
    if _private is None:
        _private = {}


def is_private() -> bool:
    """Tell whether this process keeps what it compiles to itself."""
    return _private is not None


def folder() -> Path:
    """Return the folder of the compiled modules."""
    named = os.environ.get(FOLDER)
    return (Path(named) if named else user_cache_path("arena")) / "compiled"


@cache
def _versions() -> str:
    """What the code of a module depends on beside its text and the processor: the compiler, and our own part of it."""
    own = (Path(__file__).parent / "compiler.py").read_bytes()
    return f"{FORMAT} {_version('numba')} {_version('llvmlite')} {blake2b(own, digest_size=16).hexdigest()}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


@cache
def _processor() -> str:
    """A hash of the processor that code is made for. To ask takes a large library, so it is asked only if there is code."""
    import llvmlite.binding as llvm

    told = f"{llvm.get_default_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    return blake2b(told.encode(), digest_size=8).hexdigest()


def key_of(text: str, kinds: tuple[str, ...]) -> str:
    """Return the name of a module: the hash of its text and of what it is compiled with."""
    return blake2b(f"{_versions()}\n{kinds}\n{text}".encode(), digest_size=16).hexdigest()


def read(key: str) -> tuple[str, bytes] | None:
    """Return the symbol and the object code of a module; None if the cache has none that is whole."""
    if _private is not None and key in _private:
        return _private[key]
    try:
        data = (folder() / f"{key}.module").read_bytes()
    except OSError:
        return None
    head, _, code = data.partition(b"\n")
    words = head.decode("utf-8", "replace").split()
    if len(words) != 5 or head + b"\n" != _head(key, words[3], code):
        return None
    return words[3], code


def write(key: str, symbol: str, code: bytes) -> None:
    """Keep a module."""
    if _private is not None:
        _private[key] = symbol, code
        return
    with suppress(OSError):  # a full disk, a folder that belongs to others: go on without
        folder().mkdir(parents=True, exist_ok=True)
        write_whole(folder() / f"{key}.module", _head(key, symbol, code), code)


def _head(key: str, symbol: str, code: bytes) -> bytes:
    return f"arena {key} {_processor()} {symbol} {blake2b(code, digest_size=16).hexdigest()}\n".encode()
