"""The surface for extensions: its names are listed in `api.txt`, so that a change of it is seen in the diff."""

import ast
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules
from types import FunctionType, ModuleType

import arena.api
import arena.stats

TOP = Path(__file__).parents[2]
PUBLIC = ("arena", "arena.compiled", "arena.stats", "arena.testing")


def test_the_names_of_the_api_are_those_of_the_list() -> None:
    """One a line, `module.name`, sorted; `python tests/core/test_surface.py` writes the list anew."""
    assert (TOP / "tests/core/api.txt").read_text().splitlines() == names()


def test_every_name_of_the_api_can_be_imported() -> None:
    """It is found where the table of its module says."""
    for name in names():
        module, _, attribute = name.rpartition(".")
        assert getattr(import_module(module), attribute) is not None


def test_every_name_of_the_api_is_explained() -> None:
    """By a docstring, or by the text below an assignment."""
    lacking = []
    for name in names():
        module, _, attribute = name.rpartition(".")
        value = getattr(import_module(module), attribute)
        documented = isinstance(value, (type, FunctionType, ModuleType)) or hasattr(value, "__wrapped__")
        if not (documented and value.__doc__) and attribute not in explained(homes(module)[attribute]):
            lacking.append(name)
    assert lacking == []


def test_plugins_and_extensions_import_nothing_from_inside_the_core() -> None:
    """Everything but `arena`, `arena.api` and what else is public is private to the core."""
    private = []
    for folder in ("extensions", "bridges", "games", "agents", "chess"):
        for file in sorted((TOP / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Import):
                    modules = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    modules = [str(node.module)]
                else:
                    continue
                private += [f"{file}:{node.lineno}: {module}" for module in modules if is_private(module)]
    assert private == []


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


def homes(module: str) -> dict[str, str]:
    """Return the module that each name of a module of the API comes from."""
    tree = ast.parse(Path(str(import_module(module).__file__)).read_text())
    imports = [
        node for block in tree.body if isinstance(block, ast.If) for node in block.body if isinstance(node, ast.ImportFrom)
    ]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def explained(module: str) -> set[str]:
    """Return the names that a module assigns, or decorates, and explains."""
    body = ast.parse(Path(str(import_module(module).__file__)).read_text()).body
    found = set()
    for node, following in pairwise(body):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            found.add(target.id)
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
