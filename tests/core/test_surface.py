"""The surface for extensions: its names are listed in `api.txt`, so that a change of it is seen in the diff."""

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import arena.api

TOP = Path(__file__).parents[2]
PUBLIC = ("arena", "arena.compiled", "arena.testing")
PRIVATE_IMPORTS = 202
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


def names() -> list[str]:
    """Return every name of every module of `arena.api`."""
    modules = [import_module(f"arena.api.{module.name}") for module in iter_modules(arena.api.__path__)]
    return sorted(f"{module.__name__}.{name}" for module in modules for name in module.__all__)


if __name__ == "__main__":
    (TOP / "tests/core/api.txt").write_text("\n".join(names()) + "\n")
