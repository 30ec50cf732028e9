"""The examples in docstrings."""

import doctest
import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import arena

TOP = Path(__file__).parents[2]
ROOTS = (TOP, *(TOP / folder for folder in ("agents", "bridges", "extensions", "games")))
FLAGS = doctest.NORMALIZE_WHITESPACE
NO_EXAMPLE = {
    "BackendGone": "its base says when agents raise it",
    "GameError": "arena raises it about rules that are wrong",
    "OutOfBudget": "nobody raises or catches it by hand",
    "Pairing": "its docstring shows one, and it does nothing",
    "Unavailable": "agents of a backend raise it; the guide to language models shows how",
    "hookimpl": "pluggy made its docstring",
}
"""Public names whose docstring has no example, with the reason."""


def list_modules() -> list[str]:
    """Return the modules that have examples, by name."""
    found = []
    for root in ROOTS:
        files = [
            file for package in root.glob("arena*") for file in sorted(package.rglob("*.py")) if ">>> " in file.read_text("utf-8")
        ]
        found += [".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for file in files]
    return found


@pytest.mark.parametrize("name", list_modules())
def test_examples_in_docstrings_are_correct(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name), extraglobs={"arena": arena}, optionflags=FLAGS)
    assert tried
    assert not failed


def test_public_names_have_an_example() -> None:
    values = {name: getattr(arena, name) for name in arena.__all__}
    plain = {name for name, value in values.items() if value is not Any and (inspect.isclass(value) or inspect.isroutine(value))}
    assert "play" in plain
    assert {name for name in plain if ">>> " not in values[name].__doc__} == set(NO_EXAMPLE) & plain
