"""The names for extensions are listed in `api.txt`."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import arena.api
import arena.stats

TOP = Path(__file__).parents[2]
IMPORT = re.compile(r"^[ \t]*(?:from (arena(?:\.\w+)*) import (\([^)]*\)|[^\n]*)|import (arena(?:\.\w+)*))", re.MULTILINE)
PUBLIC = ("arena", "arena.clock", "arena.compiled", "arena.stats", "arena.testing")


def test_the_names_of_the_api_match_the_list() -> None:
    """`python tests/core/test_surface.py` updates the list."""
    assert (TOP / "tests/core/api.txt").read_text().splitlines() == names()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Gmae"):
        getattr(arena, "Gmae")  # noqa: B009 - mypy would see the plain access


def test_every_name_of_the_api_can_be_imported() -> None:
    for name in names():
        module, _, attribute = name.rpartition(".")
        assert getattr(import_module(module), attribute) is not None


def test_plugins_and_extensions_import_nothing_from_inside_the_core() -> None:
    folders = [imports_of(folder) for folder in ("extensions", "bridges", "games", "agents", "ladder/src/arena_ladder", "chess")]
    assert sum(map(len, folders)) > 1000
    assert [f"{file}: {module}" for found in folders for file, module, _ in found if is_private(module)] == []


def test_every_name_imported_from_the_api_exists() -> None:
    missing = []
    folders = [imports_of(folder) for folder in ("extensions", "bridges", "games", "agents", "ladder/src/arena_ladder", "chess")]
    for found in [*folders, imports_of("tests")]:
        for file, module, names in found:
            if module.startswith("arena.api."):
                missing += [f"{file}: {name}" for name in names if name not in import_module(module).__all__]
    assert missing == []


@cache
def imports_of(folder: str) -> list[tuple[Path, str, list[str]]]:
    """Return every import from arena in the files of a folder: the file, the module, and the names after `from`.

    The formatter writes each import on lines of its own, so a pattern finds them faster than a parser.
    """
    found = []
    for file in sorted((TOP / folder).rglob("*.py")):
        for source, block, module in IMPORT.findall(file.read_text("utf-8")):
            names = re.findall(r"(\w+)(?: as \w+)?,?", re.sub(r" as \w+|#.*", "", block))
            found.append((file, source or module, names))
    return found


def is_private(module: str) -> bool:
    """Return whether a module is of the core and not for others."""
    return module.split(".", maxsplit=1)[0] == "arena" and module not in PUBLIC and not module.startswith("arena.api.")


def names() -> list[str]:
    """Return every name of every module of `arena.api`, and of `arena.stats`."""
    modules = [arena.stats, *[import_module(f"arena.api.{module.name}") for module in iter_modules(arena.api.__path__)]]
    return sorted(f"{module.__name__}.{name}" for module in modules for name in module.__all__)


if __name__ == "__main__":
    (TOP / "tests/core/api.txt").write_text("\n".join(names()) + "\n")
