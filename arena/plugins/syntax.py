"""Python files read as syntax: a digest that comments, docstrings and layout do not change, and the modules that are imported.

The digest is of a text of our own and not of `ast.dump` or `ast.unparse`, whose output changes with Python: fields that are
empty, as new ones are in old code, are left out. Measured on 14,540 files: the same under Python 3.11, 3.12 and 3.13 for all.
"""

import ast
import warnings
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

SUFFIX = ".py"
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
"""Fields that follow from the rest or change nothing."""


class Import(NamedTuple):
    """One name in an import statement."""

    level: int
    """The number of leading dots."""
    module: str
    name: str | None
    """What is imported from the module; None where the module itself is, and the first part of its name is bound."""


class Parsed(NamedTuple):
    """What is known of a file."""

    digest: bytes
    imports: frozenset[Import]
    """Every import in it, also those inside functions; a use of `__import__` counts as one of `importlib`."""


Stamp = tuple[int, int]
"""The time of the last change of a file, in nanoseconds, and its size."""
_read: dict[Path, tuple[Stamp, Parsed]] = {}


def parsed(file: Path) -> Parsed:
    """Read a file, unless its stamp is that of the last read.

    A file that is not Python, or does not parse, counts by its bytes and imports nothing; so does one that cannot be read, as
    if it were empty.
    """
    try:
        now = file.stat()
        stamp = now.st_mtime_ns, now.st_size
        before, known = _read.get(file, (None, None))
        if known is None or before != stamp:
            known = _parsed(file)
            _read[file] = stamp, known
    except OSError:
        return Parsed(_digest(b""), frozenset())
    return known


def already_read() -> dict[Path, tuple[Stamp, Parsed]]:
    """Return what `parsed` knows, for a process that is about to start: parsing takes longer than all else done here."""
    return dict(_read)


def take_over(files: Mapping[Path, tuple[Stamp, Parsed]]) -> None:
    """Begin with what another process has read."""
    _read.update(files)


def _parsed(file: Path) -> Parsed:
    content = file.read_bytes()
    if file.suffix == SUFFIX:
        try:
            with warnings.catch_warnings(action="ignore"):  # such as of an escape that is none: the author's affair
                text, imports = _canonical(ast.parse(content))
            return Parsed(_digest(text.encode()), imports)
        except _UNREADABLE:
            pass
    return Parsed(_digest(content), frozenset())


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _canonical(tree: ast.Module) -> tuple[str, frozenset[Import]]:
    """The text of a tree, and what it imports. Iterative, since a chain of operators nests deeper than Python's stack."""
    words: list[str] = []
    imports: list[Import] = []
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            words.append(node)
        elif isinstance(node, ast.Name):  # the most frequent one by far
            words.append(node.id)
            if node.id == "__import__":
                imports.append(Import(0, "importlib", None))
        elif isinstance(node, ast.Constant):
            words.append(_constant(node.value))
        else:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imports += _imports(node)
            waiting.append(")")
            for name in _fields(node.__class__):
                value = getattr(node, name, None)
                if isinstance(value, list):
                    waiting += _parts(name, value, node)
                elif value is not None:
                    waiting += (value, name) if isinstance(value, ast.AST) else (f"{name}={value!a}",)
            waiting.append(f"{type(node).__name__}(")
    return " ".join(words), frozenset(imports)


def _parts(name: str, values: list[Any], node: ast.AST) -> list[Any]:
    """A list of parts as it goes on the stack, the last one first; nothing where none does anything."""
    parts = [part if isinstance(part, ast.AST) else ascii(part) for part in reversed(values) if not _idle(part, node)]
    return ["]", *parts, f"{name}=["] if parts else parts


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple([name for name in reversed(kind._fields) if name not in _LEFT_OUT])


def _idle(part: object, parent: ast.AST) -> bool:
    """Whether a part does nothing: a string on its own, as docstrings are, `pass`, an empty piece of an f-string."""
    if isinstance(part, ast.Expr):
        return isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
    if isinstance(part, ast.Constant):  # Python 3.12.1 has such pieces, 3.11 and 3.13 have not
        return part.value == "" and isinstance(parent, ast.JoinedStr)
    return isinstance(part, ast.Pass)


def _constant(value: object) -> str:
    """A constant as text. Its `repr` will not do: what is printable changes with Python, and it refuses very large numbers."""
    return f"{type(value).__name__}:{hex(value) if isinstance(value, int) else ascii(value)}"


def _imports(node: ast.Import | ast.ImportFrom) -> list[Import]:
    if isinstance(node, ast.Import):
        return [Import(0, *_split(alias)) for alias in node.names]
    return [Import(node.level, node.module or "", alias.name) for alias in node.names]


def _split(alias: ast.alias) -> tuple[str, str | None]:
    """`import a.b as c` is `from a import b as c`."""
    module, _, name = alias.name.rpartition(".")
    return (module, name) if module and alias.asname else (alias.name, None)
