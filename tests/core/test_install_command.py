"""Commands that install missing libraries work without a package index."""

import re
import tomllib
from pathlib import Path
from shlex import quote, split

import pytest
from packaging.requirements import Requirement

from arena.version import install_command
from arena_compiled.background import MISSING

ROOT = Path(__file__).parents[2]
CODE = ("arena", "agents", "bridges", "extensions", "games", "ladder/arena_ladder")
PAGES = ("README.md", "CONTRIBUTING.md", "action.yml", "chess", "deploy", "docs", "ladder", "tournaments")
KINDS = (".html", ".js", ".md", ".txt", ".yaml", ".yml")
EXTRAS, OF_LADDER = [
    tomllib.loads((ROOT / file).read_text("utf-8"))["project"]["optional-dependencies"]
    for file in ("pyproject.toml", "ladder/pyproject.toml")
]
COURSE = f"pip install '{OF_LADDER['course'][0]}'"


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_the_command_names_the_libraries_of_the_extra(extra: str) -> None:
    pip, install, *libraries = split(install_command(extra))
    assert [pip, install] == ["pip", "install"]
    assert set(map(Requirement, libraries)) == set(map(Requirement, EXTRAS[extra]))


def test_an_unknown_extra_is_installed_from_the_checkout() -> None:
    assert install_command("no-such-extra") == "pip install '.[no-such-extra]'"


def test_no_hint_names_another_command() -> None:
    """The text about numba is compared by processes, so it is a constant."""
    assert install_command("fast") in MISSING
    for folder in CODE:
        for file in (ROOT / folder).rglob("*.py"):
            found = re.findall(r"pip install (?!--editable|\./)[^\n]*", file.read_text("utf-8"))
            if file.name == "version.py":
                found = [one for one in found if "quote" not in one]
            assert [one for one in found if install_command("fast") not in one and COURSE not in one] == [], file


def find_faults(text: str) -> list[str]:
    """Return the words of the install commands in a text that do not work while no package index has arena.

    They may name folders, wheels, and libraries. A library with a version is one of an extra.
    """
    whole = re.sub(r"`[^`]*`", lambda span: span[0].replace("\n", " "), text)  # a line may end within a command
    libraries = {quote(library) for extra in EXTRAS for library in split(install_command(extra))} | {
        split(COURSE, posix=False)[-1]
    }
    local = {f"'.[{extras}]'" for extras in (*EXTRAS, "web,report")} | {f"'./ladder[{extra}]'" for extra in OF_LADDER}
    faults = re.findall(r"fairarena\[[^]]*\]?", whole)
    for command in re.findall(r"pip install ([^`#\n]*)", whole):
        faults += re.findall(r"(?<![\w./*-])fairarena[\w-]*", command)
        faults += [word for word in re.findall(r"'[^']+'", command) if word not in libraries | local]
    return faults


def test_no_page_names_another_command() -> None:
    files = [file for name in (*CODE, *PAGES) for file in [ROOT / name, *(ROOT / name).rglob("*")] if file.suffix in KINDS]
    assert len(files) > 150
    assert {str(file): found for file in files if (found := find_faults(file.read_text("utf-8")))} == {}
    for wrong in ("pip install 'fairarena[web]'", "pip install 'numba>=0.1'", "`pip install\nfairarena`", "pip install '.[no]'"):
        assert len(find_faults(wrong)) >= 1, wrong
