"""Commands that install missing libraries work without a package index."""

import re
import tomllib
from pathlib import Path
from shlex import quote, split

import click
import pytest
from packaging.requirements import Requirement

from arena import SpecError
from arena.cli import CommandGroup, Commands
from arena.spec import load_spec
from arena.store import schema
from arena.version import hint_at_distribution, install_command
from arena_compiled.background import MISSING

ROOT = Path(__file__).parents[2]
CODE = ("arena", "agents", "bridges", "extensions", "games", "ladder/src/arena_ladder")
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


def test_all_hints_name_the_same_install_command() -> None:
    """Processes compare the text about numba, so it is a constant."""
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


def test_all_pages_name_the_same_install_command() -> None:
    files = [file for name in (*CODE, *PAGES) for file in [ROOT / name, *(ROOT / name).rglob("*")] if file.suffix in KINDS]
    assert len(files) > 150
    assert {str(file): found for file in files if (found := find_faults(file.read_text("utf-8")))} == {}
    for wrong in ("pip install 'fairarena[web]'", "pip install 'numba>=0.1'", "`pip install\nfairarena`", "pip install '.[no]'"):
        assert len(find_faults(wrong)) >= 1, wrong


HINT = "the distribution fairarena-ladder defines it: in a checkout of fairarena, run `pip install ./ladder`"


def test_the_hint_names_the_distribution_in_its_folder() -> None:
    """The hints name the folders `ladder` and `chess`, which contain these distributions."""
    for folder in ("chess", "ladder"):
        found = tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]
        assert hint_at_distribution(folder).startswith(f"the distribution {found['name']} defines it")
    assert hint_at_distribution("ladder") == HINT


@pytest.mark.parametrize("command", ["ladder", "submit"])
def test_a_command_of_the_ladder_names_its_distribution_if_it_is_missing(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without entry points of extensions, only the commands of the core are known. Other unknown commands get no hint."""
    monkeypatch.setattr("arena.cli.find_entry_points", lambda _group: [])
    group = CommandGroup(commands=Commands())
    with pytest.raises(click.UsageError, match=re.escape(HINT)):
        group.main([command, "course.yaml"], standalone_mode=False)
    with pytest.raises(click.UsageError) as unknown:
        group.main(["laddder"], standalone_mode=False)
    assert "fairarena-ladder" not in str(unknown.value)


def test_keys_and_tables_of_a_ladder_name_its_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other unknown keys and tables get no hint."""
    values = {"game": "tic-tac-toe", "agents": ["random", "greedy"]}
    for key in ("submissions", "until", "requests", "marks", "feedback"):
        with pytest.raises(SpecError, match=re.escape(HINT)):
            load_spec({**values, key: {}})
    with pytest.raises(SpecError) as unknown:
        load_spec({**values, "submission": {}})
    assert "fairarena-ladder" not in str(unknown.value)
    monkeypatch.setattr(schema, "list_extension_objects", frozenset)
    for table, is_known in (("ladder_author", True), ("author", False)):
        objects = [*schema.list_objects(schema.TABLES), ("table", table, table, f"CREATE TABLE {table} (name TEXT)")]
        assert (HINT in schema.fit_schema(objects).words) == is_known
