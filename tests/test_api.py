"""Tests of the names that `import arena` provides."""

import inspect
import subprocess
import sys
from typing import Any

import pytest

import arena


def test_every_public_thing_has_a_docstring() -> None:
    """The public things are classes with their public methods, and functions."""

    def described(thing: Any) -> bool:
        return bool(inspect.getdoc(thing))

    for name in arena.__all__:
        thing = getattr(arena, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert described(thing), name
        if inspect.isclass(thing):
            for method, value in vars(thing).items():
                if not method.startswith("_") and callable(value):
                    assert described(value), f"{name}.{method}"


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Some names are imported only when they are first used, but an unknown name still raises AttributeError."""
    with pytest.raises(AttributeError, match="Gmae"):
        getattr(arena, "Gmae")  # noqa: B009 - mypy would see the plain access


@pytest.mark.process
def test_help_does_not_load_what_it_does_not_need() -> None:
    """`arena --help` imports none of pydantic, PyYAML, tabulate and numpy, so it is fast."""
    code = (
        "import sys, arena.cli\n"
        "try:\n    arena.cli.cli(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = ('pydantic', 'yaml', 'tabulate', 'numpy', 'arena.spec', 'arena.plugins.registry')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
