"""The surface for extensions: its names are listed in `api.txt`, so that a change of it is seen in the diff."""

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import arena.api

TOP = Path(__file__).parents[2]
PUBLIC = ("arena", "arena.compiled", "arena.testing")
PRIVATE_IMPORTS = 194
"""Names of the core that extensions still import from elsewhere than `arena` and `arena.api`. This number only falls."""


def test_the_names_of_the_api_are_those_of_the_list() -> None:
    """One a line, `module.name`, sorted; `python tests/core/test_surface.py` writes the list anew."""
    assert (TOP / "tests/core/api.txt").read_text().splitlines() == names()


def test_every_name_of_the_api_can_be_imported() -> None:
    """It is found where the table of its module says."""
    for name in names():
        module, _, attribute = name.rpartition(".")
        assert getattr(import_module(module), attribute) is not None


def test_extensions_import_fewer_and_fewer_names_from_inside_the_core() -> None:
    """Everything but `arena` and `arena.api` is private to the core."""
    if not (TOP / "extensions").is_dir():
        return
    found = set()
    for file in sorted((TOP / "extensions").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "arena":
                module = str(node.module)
                if module not in PUBLIC and not module.startswith("arena.api"):
                    found |= {(module, alias.name) for alias in node.names}
    assert len(found) <= PRIVATE_IMPORTS


def test_what_is_imported_from_the_api_is_there() -> None:
    """Its modules look names up when they are asked for, so a type checker takes any name."""
    missing = []
    for folder in ("extensions", "bridges", "games", "agents", "chess", "tests"):
        for file in sorted((TOP / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("arena.api."):
                    known = import_module(str(node.module)).__all__
                    missing += [f"{file}:{node.lineno}: {alias.name}" for alias in node.names if alias.name not in known]
    assert missing == []


def names() -> list[str]:
    """Return every name of every module of `arena.api`."""
    modules = [import_module(f"arena.api.{module.name}") for module in iter_modules(arena.api.__path__)]
    return sorted(f"{module.__name__}.{name}" for module in modules for name in module.__all__)


if __name__ == "__main__":
    (TOP / "tests/core/api.txt").write_text("\n".join(names()) + "\n")
