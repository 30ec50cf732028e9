"""Python files read as syntax: a digest that ignores comments, docstrings and layout, and the imported modules.

The digest covers a text of our own instead of `ast.dump` or `ast.unparse`, whose output changes with Python. Empty fields are
left out, because new fields are empty in old code. Measured on 14,540 files: the same under Python 3.11, 3.12 and 3.13 for all.
"""

import ast
import warnings
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

SUFFIX = ".py"
_LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
"""Fields that follow from other fields or change nothing."""


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
    """Every import in it, also inside functions; a use of `__import__` counts as one of `importlib`."""


Stamp = tuple[int, int]
"""The time of the last change of a file, in nanoseconds, and its size."""
_read: dict[Path, tuple[Stamp, Parsed]] = {}


def parse_file(file: Path) -> Parsed:
    """Read a file, unless its stamp is unchanged since the last time.

    A file that is not Python, or does not parse, counts by its bytes and imports nothing. A file that cannot be read counts as
    empty.
    """
    try:
        now = file.stat()
        stamp = now.st_mtime_ns, now.st_size
        if file not in _read or _read[file][0] != stamp:
            content, imports = file.read_bytes(), frozenset[Import]()
            if file.suffix == SUFFIX:
                with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings(action="ignore"):
                    content, imports = _canonical(ast.parse(content))
            _read[file] = stamp, Parsed(_digest(content), imports)
    except OSError:
        return Parsed(_digest(b""), frozenset())
    return _read[file][1]


def list_parsed() -> dict[Path, tuple[Stamp, Parsed]]:
    """Return the files that `parse_file` has read, for a process that is about to start, because parsing is the slowest part."""
    return dict(_read)


def take_over(files: Mapping[Path, tuple[Stamp, Parsed]]) -> None:
    """Start with the files that another process has read."""
    _read.update(files)


def forget_below(folder: Path) -> None:
    """Drop the files in a folder that is about to be removed."""
    for file in [file for file in list(_read) if file.is_relative_to(folder)]:
        _read.pop(file, None)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _canonical(tree: ast.Module) -> tuple[bytes, frozenset[Import]]:
    """Return the text of a tree, and its imports. Iterative, because a chain of operators can be deeper than Python's stack."""
    words: list[str] = []
    imports: list[Import] = []
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            words.append(node)
        elif isinstance(node, ast.Name):  # the most frequent one by far
            words.append(node.id)
        elif isinstance(node, ast.Constant):  # `repr` refuses large numbers, and printable characters change with Python
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
    """Return whether a part does nothing: a string on its own, such as a docstring, `pass`, or an empty piece of an f-string."""
    if isinstance(part, ast.Expr):
        return isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
    if isinstance(part, ast.Constant):  # Python 3.12.1 has such pieces, 3.11 and 3.13 have not
        return part.value == "" and isinstance(parent, ast.JoinedStr)
    return isinstance(part, ast.Pass)


def _list_imports(node: ast.AST) -> list[Import]:
    if isinstance(node, ast.ImportFrom):
        return [Import(node.level, node.module or "", alias.name) for alias in node.names]
    if not isinstance(node, ast.Import):
        return []
    split = [(alias, *alias.name.rpartition(".")[::2]) for alias in node.names]  # `import a.b as c` is `from a import b as c`
    return [Import(0, module, name) if module and one.asname else Import(0, one.name, None) for one, module, name in split]
