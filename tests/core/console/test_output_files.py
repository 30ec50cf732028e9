"""Tests of the files that commands write for options such as `-o`: only files of the same kind are replaced."""

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import arena
from arena.api.cli import OutputKind, check_place, write_output
from arena.cli import cli
from arena.console.output_files import LATEX_FILE, PAGE_FILE, _explain

TEXT = b"game: tic-tac-toe\nagents: [greedy, random]\n"
WORDS = {
    "bundle": ("out.arena",),
    "compare": ("out.html", "out.tex"),
    "dataset": ("out/README.md", "out/matches.jsonl", "out/spec.json"),
    "report": ("out.html", "out/report.tex"),
    "review": ("out.yaml", "out.yml"),
}
"""The commands with the option -o, and names of files that they write."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Play a small tournament and change to its folder."""
    monkeypatch.chdir(tmp_path)
    arena.run({"game": "tic-tac-toe", "rounds": 2, "agents": ["greedy", "random"]}, store="cup.db")
    return tmp_path / "cup.db"


def call(command: str, place: str) -> tuple[int, str]:
    """Call a command that writes `place`, and return its exit code and its error."""
    folder, _, name = place.rpartition("/")
    words = {"review": ["--agent", "greedy"], "report": ["--format", "tex"] if name == "report.tex" else []}.get(command, [])
    done = CliRunner().invoke(cli, [command, "cup.db", "-o", folder or place, *words])
    if done.exception is None:
        return done.exit_code, ""
    assert isinstance(done.exception, arena.ArenaError), done.output
    return done.exception.EXIT_CODE, str(done.exception)


def commands_with_output() -> Iterator[str]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        if any("-o" in parameter.opts for parameter in command.params):
            yield name


def test_every_command_that_writes_files_is_tested() -> None:
    assert {*commands_with_output()} == {*WORDS}


@pytest.mark.parametrize(("command", "name"), [(command, name) for command, names in WORDS.items() for name in names])
def test_a_command_replaces_only_its_own_files(store: Path, command: str, name: str) -> None:
    """The first call writes the file, and the second one replaces it. Files of other kinds are kept, but an empty file is
    replaced.
    """
    place = store.parent / name
    for _ in range(2):
        code, errors = call(command, name)
        assert code == 0, errors
    written = place.read_bytes()
    place.write_bytes(TEXT)
    code, errors = call(command, name)
    assert code == 2
    assert re.fullmatch(r"-o \S+ exists and is not (a|the) .*; choose another path, or move this file away", errors)
    assert place.read_bytes() == TEXT
    place.write_bytes(b"")
    assert call(command, name)[0] == 0
    assert bool(written) == bool(place.read_bytes())


@pytest.mark.parametrize(
    ("command", "suffixes"),
    [("bundle", ".arena"), ("compare", ".html or .tex"), ("report", ".html"), ("review", ".yaml or .yml")],
)
@pytest.mark.parametrize("name", ["heuristics", "heuristics.htm", "heuristics.HTML"])
def test_an_unknown_suffix_is_refused_and_the_message_lists_the_known_ones(
    store: Path, command: str, suffixes: str, name: str
) -> None:
    assert call(command, name) == (2, f"-o {name}: expected a name that ends in {suffixes}")
    assert [file.name for file in store.parent.iterdir()] == ["cup.db"]


def test_a_symbolic_link_is_kept_and_its_target_is_replaced(tmp_path: Path) -> None:
    """The target may be missing or in another folder."""
    page, link = tmp_path / "pages" / "r.html", tmp_path / "link.html"
    page.parent.mkdir()
    link.symlink_to(page)
    for content in (PAGE_FILE.mark, b"a new page"):
        check_place(link, LATEX_FILE, PAGE_FILE)
        write_output(link, content)
        assert link.is_symlink()
        assert page.read_bytes() == content
    assert list(page.parent.iterdir()) == [page]


def test_messages_name_the_option_and_a_fixed_file_name() -> None:
    """Some kinds of output have a fixed name instead of a suffix."""
    with pytest.raises(arena.ArenaError, match=r"^--tests / is a folder; .* as in --tests result.json"):
        check_place(Path("/"), OutputKind("result.json", "a result", b"{"), option="--tests")


def test_a_full_disk_and_a_missing_permission_have_different_messages() -> None:
    told = str(_explain(Path("r.html"), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    assert told.startswith("-o r.html: cannot be written: No space left on device; free some space there, or choose a path on")
