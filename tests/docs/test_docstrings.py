"""The docstrings of the public API."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import arena
import arena.testing
import arena_check.kit

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "api.md"
WORDS = set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text("utf-8").partition("## Words")[2].partition("\n## ")[0], re.MULTILINE))
"""Parameters that mean the same everywhere, explained once on the page of the API."""
ALIASES = {"CHANCE", "Action", "State", "__version__", "hookimpl", "testing"}
"""Public names that are neither a class nor a function."""
MADE_BY_ARENA = {"arena.Results", "arena.Search"}
"""Classes that only arena creates."""


def public() -> Iterator[tuple[str, Any]]:
    """Every public class and function."""
    for module in (arena, arena.testing):
        for name in module.__all__:
            if name not in ALIASES:
                yield f"{module.__name__}.{name}", getattr(module, name)


PUBLIC = dict(public())
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}


def functions() -> Iterator[tuple[str, Any, str]]:
    """Every public function, method and property with its name and the docstring of its class."""
    for name, value in PUBLIC.items():
        if not inspect.isclass(value):
            yield name, value, ""
            continue
        about = value.__doc__ or ""
        for own, member in vars(value).items():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            written = inspect.isfunction(function) and function.__code__.co_filename == inspect.getsourcefile(value)
            if written and (not own.startswith("_") or (own == "__init__" and name not in MADE_BY_ARENA)):
                yield f"{name}.{own}", function, about


FUNCTIONS = {name: (function, about) for name, function, about in functions()}


def tree(value: Any) -> Any:
    """The syntax tree of a class or a function."""
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


@pytest.mark.parametrize(("module", "importer"), [(arena, arena), (arena.testing, arena_check.kit)])
def test_all_public_names_are_listed_in_all(module: Any, importer: Any) -> None:
    """`__all__` has exactly the names that the package imports for its users."""
    body = ast.parse(inspect.getsource(importer)).body
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    imports += [node for part in body if isinstance(part, ast.If) for node in part.body if isinstance(node, ast.ImportFrom)]
    inner = {"typing", "importlib", "arena.lazy"}
    bound = {name.asname or name.name for node in imports if node.module not in inner for name in node.names}
    assert set(module.__all__) == (bound | {"testing"} if module is arena else bound)
    assert len(module.__all__) == len(set(module.__all__))
    assert all(getattr(module, name) is not None for name in module.__all__)


@pytest.mark.parametrize("name", CLASSES)
def test_every_attribute_is_explained(name: str) -> None:
    """The attribute has a docstring, or the docstring of its class names it in backticks."""
    kind = CLASSES[name]
    assert inspect.getdoc(kind)
    body = tree(kind).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and not target.id.startswith("_"):
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            assert said or target.id in WORDS or f"`{target.id}`" in str(kind.__doc__), f"{name}.{target.id}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_explained(name: str) -> None:
    """The docstring, the docstring of the class or the page of the API names it."""
    function, about = FUNCTIONS[name]
    own = function.__doc__ or ""
    assert own or name.endswith(".__init__"), name
    twin = re.search(r"^Do as `(\w+)` does", own)
    told = own + about + (PUBLIC[f"arena.testing.{twin[1]}"].__doc__ if twin else "")
    said = set(re.findall(r"`(\w+)", told)) | WORDS
    parameters = [each for each in inspect.signature(function).parameters.values() if each.name not in ("self", "cls")]
    missing = [each.name for each in parameters if each.name.strip("_") not in said]
    assert not missing, f"{name}: {', '.join(missing)}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_raised_error_is_documented(name: str) -> None:
    """This covers exceptions that a public function raises directly."""
    function, about = FUNCTIONS[name]
    raised = [node.exc for node in ast.walk(tree(function)) if isinstance(node, ast.Raise) and node.exc is not None]
    names = {ast.unparse(each.func if isinstance(each, ast.Call) else each) for each in raised}
    for error in names:
        if error[0].isupper():
            assert error in (function.__doc__ or "") + about, f"{name}: {error}"


def test_the_search_for_public_names_is_not_empty() -> None:
    """Without names, the other tests would always pass."""
    assert {"arena.Game", "arena.play", "arena.testing.check_game"} <= set(PUBLIC)
    assert {"arena.Game.result", "arena.Search.report", "arena.run"} <= set(FUNCTIONS)
    assert {"state", "game"} <= WORDS
