"""Reads the syntax of Python files: their imports, and a digest that ignores comments, docstrings and layout.

The digest is computed from a text of its own format, because the output of `ast.dump` changes with the version of Python. Empty
fields are left out, as new versions add fields. For 14,540 files, the digests were the same under Python 3.11, 3.12 and 3.13.

The parser of Python needs much time or memory for some small files: a minute for 1 MB of an f-string, and gigabytes for an import
of 250 kB. So a file that is not small is parsed by another process with limits: `python -I -S syntax.py FILE`. That is why this
module imports only the standard library.
"""

import ast
import json
import os
import stat
import subprocess
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

SUFFIX = ".py"
PART_BYTES = 1 << 20
MAX_FILE_BYTES = 16 << 30
"""The largest file. A larger one is a file of the kernel such as /proc/kcore, and counts as unreadable."""
MAX_HERE_BYTES = 64 << 10
"""The largest file that this process parses itself. The worst ones that are known take Python 3.11 half a second and 300 MiB."""
MAX_CPU_SECONDS = 10
"""The processor time for a larger file. A table of 1.1 MB takes 1 s."""
MAX_SECONDS = 60.0
"""The time for a larger file, on a machine that is busy."""
MAX_MEMORY_BYTES = 2 << 30
"""The memory for a larger file."""
_LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # they follow from other fields, or have no effect


class Import(NamedTuple):
    """One name in an import statement."""

    level: int
    """The number of leading dots."""
    module: str
    name: str | None
    """The name imported from the module; None if the module itself is imported, which binds the first part of its name."""


class Parsed(NamedTuple):
    """The result of reading a file."""

    digest: bytes
    imports: frozenset[Import]
    """All imports in the file, including imports inside functions. `__import__` counts as an import of `importlib`."""


Stamp = tuple[int, int]  # the time of the last change of a file, in nanoseconds, and its size
_read: dict[Path, tuple[Stamp, Parsed]] = {}
_digests: dict[Path, tuple[Stamp, bytes]] = {}
_PARSING = Lock()  # two threads that parse at once may get a SystemError (CPython, issue 106905)
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def parse_file(file: Path) -> Parsed:
    """Read a file. If the file has the same stamp as at the last call, the earlier result is returned.

    For a file that is not valid Python, the digest covers its bytes, and imports are empty. An unreadable file counts as empty.
    Raises CodeTooComplex if its syntax takes too much time or memory.
    """
    try:
        now = _stat(file)
        stamp = now.st_mtime_ns, now.st_size
        if file not in _read or _read[file][0] != stamp:
            if file.suffix != SUFFIX:
                found = Parsed(digest_bytes(file), frozenset())
            elif now.st_size > MAX_HERE_BYTES:
                found = _parse_apart(file)
            else:
                with _PARSING:
                    found = _parse(file)
            _read[file] = stamp, found
    except OSError:
        return Parsed(_digest(b""), frozenset())
    return _read[file][1]


def _stat(file: Path) -> os.stat_result:
    """Return the status of a file. Raises OSError if reading may never end, as with a pipe, a device or a kernel file."""
    found = file.stat()
    if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_FILE_BYTES:
        raise OSError(f"{file} is not a regular file of at most {MAX_FILE_BYTES:,} bytes")
    return found


def _open(file: Path) -> FileIO:
    """Open a file such that reading never waits. Only the bytes that its status promises may be read."""
    return FileIO(str(file), opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))


def _parse(file: Path) -> Parsed:
    with _open(file) as opened:
        content, imports = opened.read(MAX_HERE_BYTES) or b"", frozenset[Import]()
    with suppress(*_UNREADABLE), warnings.catch_warnings(action="ignore"):
        content, imports = _canonical(ast.parse(content))
    return Parsed(_digest(content), imports)


def _parse_apart(file: Path) -> Parsed:
    """Let another process read a file. Raises CodeTooComplex if it exceeds a limit or crashes."""
    command = [sys.executable, "-I", "-S", __file__, str(file.absolute())]
    try:
        done = subprocess.run(command, capture_output=True, timeout=MAX_SECONDS, check=True)  # noqa: S603 - this module
        digest, imports = json.loads(done.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        from arena.errors import CodeTooComplex  # the other process cannot import arena

        raise CodeTooComplex(
            f"{file}: parsing takes more than {MAX_CPU_SECONDS} s or {MAX_MEMORY_BYTES >> 20:,} MiB; "
            f"the file has {file.stat().st_size:,} bytes; keep data in another file, such as JSON"
        ) from error
    return Parsed(bytes.fromhex(digest), frozenset([Import(*one) for one in imports]))


def digest_bytes(file: Path) -> bytes:
    """Return a digest of every byte of a file. If the file has the same stamp as at the last call, this is the earlier result.

    An unreadable file counts as empty.
    """
    try:
        now = _stat(file)
        stamp = now.st_mtime_ns, now.st_size
        if file not in _digests or _digests[file][0] != stamp:
            whole, left = blake2b(digest_size=16), now.st_size
            with _open(file) as opened:
                while left and (part := opened.read(min(left, PART_BYTES))):
                    whole.update(part)
                    left -= len(part)
            _digests[file] = stamp, whole.digest()
    except OSError:
        return _digest(b"")
    return _digests[file][1]


def list_parsed() -> dict[Path, tuple[Stamp, Parsed]]:
    """Return the results of `parse_file` so far, so that a new process need not parse the same files again, which is slow."""
    return dict(_read)


def take_over(files: Mapping[Path, tuple[Stamp, Parsed]]) -> None:
    """Take over the results of `parse_file` from another process."""
    _read.update(files)


def forget_below(folder: Path) -> None:
    """Forget the results for files in a folder that is about to be removed."""
    for file in [file for file in (*_read, *_digests) if file.is_relative_to(folder)]:
        _read.pop(file, None)
        _digests.pop(file, None)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _canonical(tree: ast.Module) -> tuple[bytes, frozenset[Import]]:
    """Return the text of a tree, and its imports. This works without recursion, because a chain of operators may be very deep."""
    words: list[str] = []
    imports: list[Import] = []
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            words.append(node)
        elif isinstance(node, ast.Name):  # the most frequent kind by far
            words.append(node.id)
        elif isinstance(node, ast.Constant):  # `repr` refuses large numbers, and printable characters depend on the version
            value = node.value
            words.append(f"{type(value).__name__}:{hex(value) if isinstance(value, int) else ascii(value)}")
        else:
            waiting.append(")")
            for name in reversed(node._fields):
                value = getattr(node, name, None)
                parts = value if isinstance(value, list) else [] if value is None else [value]
                kept = [
                    part if isinstance(part, ast.AST) else ascii(part) for part in reversed(parts) if not _is_idle(part, node)
                ]
                if kept and name not in _LEFT_OUT:
                    waiting += [*kept, f"{name}="]
            waiting.append(f"{type(node).__name__}(")
            imports += _list_imports(node)
    imports += [Import(0, "importlib", None)] if "__import__" in words else []
    return " ".join(words).encode(), frozenset(imports)


def _is_idle(part: object, parent: ast.AST) -> bool:
    """Return whether a part of a tree has no effect: a string such as a docstring, `pass`, or an empty piece of an f-string."""
    if isinstance(part, ast.Expr):
        return isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
    if isinstance(part, ast.Constant):  # Python 3.12.1 has such pieces, unlike 3.11 and 3.13
        return part.value == "" and isinstance(parent, ast.JoinedStr)
    return isinstance(part, ast.Pass)


def _list_imports(node: ast.AST) -> list[Import]:
    if isinstance(node, ast.ImportFrom):
        return [Import(node.level, node.module or "", alias.name) for alias in node.names]
    if not isinstance(node, ast.Import):
        return []
    split = [(alias, *alias.name.rpartition(".")[::2]) for alias in node.names]  # `import a.b as c` is `from a import b as c`
    return [Import(0, module, name) if module and one.asname else Import(0, one.name, None) for one, module, name in split]


def main() -> None:
    """Parse a file within limits, and write its digest and its imports as JSON."""
    import resource  # there is none on Windows

    limits = {resource.RLIMIT_CPU: MAX_CPU_SECONDS, resource.RLIMIT_DATA: MAX_MEMORY_BYTES, resource.RLIMIT_CORE: 0}
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    content, imports = Path(sys.argv[1]).read_bytes(), frozenset[Import]()
    try:
        with suppress(*_UNREADABLE[:3]), warnings.catch_warnings(action="ignore"):
            content, imports = _canonical(ast.parse(content))
    except MemoryError:  # Python also raises it for expressions that are nested too deeply, which take little memory
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 > MAX_MEMORY_BYTES // 2:
            raise
    print(json.dumps([_digest(content).hex(), sorted(imports, key=repr)]))


if __name__ == "__main__":
    main()
