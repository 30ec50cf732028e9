"""Object code in the user's cache folder, keyed by the hash of all its inputs. It is verified before use.

A file has a header line with a checksum, and the code. A truncated file, or one of another version or processor, counts as
missing. If the folder is not writable, each process has to compile again, but nothing else happens. The process of an entry
with its own plugin reads the folder, and keeps its own compiled code private.
"""

import os
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from platformdirs import user_cache_path

from arena.api.store import write_whole

FOLDER = "ARENA_CACHE"
"""Environment variable for another folder."""
COMPILE = "ARENA_COMPILE"
"""Environment variable: `always` compiles at once, `never` uses only cached code."""
HOSTED = "hosted"
"""Another value of COMPILE, for the process of an agent, in which the clock of a decision runs outside."""
FORMAT = 2
_memory: dict[str, tuple[str, bytes]] = {}
"""Modules that are not in files: from a private process, or from one that cannot write into the folder."""
_private = False


def keep_private() -> None:
    """From now on, write nothing into the folder."""
    global _private  # noqa: PLW0603 - it is the process that is private, whoever asks
    _private = True


def is_private() -> bool:
    """Return whether this process keeps its compiled code private."""
    return _private


def folder() -> Path:
    """Return the folder of the compiled modules."""
    named = os.environ.get(FOLDER)
    return (Path(named) if named else user_cache_path("arena")) / "compiled"


@cache
def _versions() -> str:
    """Return the version of everything that affects compiled code beside its text and the processor: the compiler and this
    package.
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
    """Return a hash of the processor. This loads a large library, so it is called only if there is code."""
    import llvmlite.binding as llvm

    told = f"{llvm.get_default_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    return blake2b(told.encode(), digest_size=8).hexdigest()


def key_of(text: str, kinds: tuple[str, ...]) -> str:
    """Return the key of a module: the hash of its text and of its compilation parameters."""
    return blake2b(f"{_versions()}\n{kinds}\n{text}".encode(), digest_size=16).hexdigest()


def read(key: str) -> tuple[str, bytes] | None:
    """Return the symbol and the object code of a module; None if the cache has no intact copy."""
    if key in _memory:
        return _memory[key]
    try:
        data = _file(key).read_bytes()
    except OSError:
        return None
    head, _, code = data.partition(b"\n")
    words = head.decode("utf-8", "replace").split()
    if len(words) != 5 or head + b"\n" != _head(key, words[3], code):
        return None
    return words[3], code


def write(key: str, symbol: str, code: bytes) -> None:
    """Store a module."""
    if _private:
        _memory[key] = symbol, code
        return
    with suppress(OSError):  # a full disk, or a folder of another user: continue without
        folder().mkdir(parents=True, exist_ok=True)
        write_whole(_file(key), _head(key, symbol, code), code)


def keep(key: str, symbol: str, code: bytes) -> None:
    """Store a module that another process has compiled, if that process could not write it."""
    if read(key) is None:
        _memory[key] = symbol, code


def has(key: str) -> bool:
    """Return whether a module seems to be in the cache, without reading it."""
    return key in _memory or _file(key).exists()


def _file(key: str) -> Path:
    return folder() / f"{key}.module"


def _head(key: str, symbol: str, code: bytes) -> bytes:
    return f"arena {key} {_processor()} {symbol} {blake2b(code, digest_size=16).hexdigest()}\n".encode()
