"""Modules that only pass names on: each name is imported from its home when it is first used."""

import ast
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def pass_on(module: str, *own: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a module that passes on the names that it imports for type checkers.

    A type checker reads the block and sees every type. At run time the same block is the table of the names and their homes, so
    that a plugin that only registers itself imports nothing heavy. The table is read when a name is first used:

        if TYPE_CHECKING:
            from arena.identity import Stream as Stream
        else:
            __getattr__, __dir__ = pass_on(__name__)

    `__all__` of the module is the sorted list of the names, with `own`, the public names that the module itself defines.
    """

    @cache
    def homes() -> dict[str, str]:
        source = Path(str(find_spec(module).origin)).read_text("utf-8")  # type: ignore[union-attr] # it has been imported
        blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
        imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
        return {alias.name: str(node.module) for node in imports for alias in node.names}

    def find(name: str) -> Any:
        if name == "__all__":
            return names()
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(__import__(homes()[name], fromlist=[name]), name)

    def names() -> list[str]:
        return sorted([*homes(), *own])

    return find, names
