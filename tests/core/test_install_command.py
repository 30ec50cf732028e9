"""Hints about missing libraries name a command that works here: no package index needs to have arena."""

import re
import tomllib
from pathlib import Path
from shlex import split

import pytest
from packaging.requirements import Requirement

from arena.version import install_command
from arena_compiled.background import MISSING

ROOT = Path(__file__).parents[2]
CODE = ("arena", "agents", "bridges", "extensions", "games")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_the_command_names_the_libraries_of_the_extra(extra: str) -> None:
    """They are those of pyproject.toml, each one word for the shell."""
    pip, install, *libraries = split(install_command(extra))
    assert [pip, install] == ["pip", "install"]
    assert set(map(Requirement, libraries)) == set(map(Requirement, EXTRAS[extra]))


def test_an_unknown_extra_is_installed_from_the_checkout() -> None:
    assert install_command("no-such-extra") == "pip install '.[no-such-extra]'"


def test_no_hint_of_the_program_names_another_command() -> None:
    """The text about numba is compared by processes, so it is a constant."""
    assert install_command("fast") in MISSING
    for folder in CODE:
        for file in (ROOT / folder).rglob("*.py"):
            found = re.findall(r"pip install (?!--editable)[^\n]*", file.read_text("utf-8"))
            if file.name == "version.py":
                found = [one for one in found if "quote" not in one]
            assert [one for one in found if install_command("fast") not in one] == [], file
