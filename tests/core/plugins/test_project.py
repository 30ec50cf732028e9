"""The project file, which names plugins for every command in its folder."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.cli import cli
from arena.console.project import NO_PROJECT
from arena.errors import ArenaError, PluginError, UnknownName

GAME = """
from arena import hookimpl
from arena_games.tic_tac_toe import TicTacToe

class Mine(TicTacToe):
    name = "mine"
    default_heuristic = None

@hookimpl
def arena_games():
    return [Mine]
"""
STRANGER = 54321

Told = Callable[..., tuple[str, str]]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """Return a function that runs a command in a folder with a game, and returns its stdout and stderr."""
    (tmp_path / "game.py").write_text(GAME)
    monkeypatch.chdir(tmp_path)

    def told(*words: str) -> tuple[str, str]:
        monkeypatch.setenv(NO_PROJECT, "")  # undoes the effect of `--no-project`
        cli.main(list(words), standalone_mode=False)
        return capsys.readouterr()

    return told


@pytest.mark.parametrize(
    ("name", "text"),
    [("arena.toml", 'plugins = ["game.py"]'), ("pyproject.toml", '[project]\nname = "x"\n[tool.arena]\nplugins = ["game.py"]')],
)
def test_the_project_file_loads_plugins_for_every_command(name: str, text: str, told: Told) -> None:
    """`--no-project` before or after the command disables this."""
    Path(name).write_text(text)
    out, err = told("show", "mine")
    assert out.startswith("game mine")
    assert err == f"{name}: loads game.py; use --no-project to prevent this\n"
    assert "mine" in told("list", "games")[0]
    assert told("show", "mine", "--plugin", "game.py")[1] == "", "nothing is added to what is named"
    for words in (("--no-project", "show", "mine"), ("show", "mine", "--no-project")):
        with pytest.raises(UnknownName, match=r"use --plugin FILE to load others"):
            told(*words)


@pytest.mark.process
def test_commands_on_a_store_ignore_the_project_file(told: Told) -> None:
    Path("some.yaml").write_text("game: tic-tac-toe\nrounds: 2\nagents: [random, greedy]\n")
    told("run", "some.yaml", "--workers", "1")
    Path("arena.toml").write_text('plugins = ["game.py"]')
    assert "greedy" in told("compare", "results/some.db", "random", "greedy")[0]
    assert told("export", "results/some.db", "--format", "csv")[0].count("\n") == 5
    out = told("compare", "results/some.db", "random", "greedy")[0]
    noted = (out, "note: only --by loads plugins, so --plugin changes nothing here\n")
    assert told("compare", "results/some.db", "random", "greedy", "--plugin", "game.py") == noted


def test_arena_toml_has_priority_over_pyproject(told: Told) -> None:
    Path("arena.toml").write_text('plugins = ["game.py"]')
    Path("pyproject.toml").write_text('[tool.arena]\nplugins = ["gone.py"]')
    assert told("show", "mine")[1].startswith("arena.toml: ")


def test_a_project_file_of_a_parent_folder_is_ignored(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("arena.toml").write_text('plugins = ["game.py"]')
    Path("below").mkdir()
    monkeypatch.chdir("below")
    with pytest.raises(UnknownName):
        told("show", "mine")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_project_file_of_another_user_is_ignored(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    """This includes a link to such a file, and a link of another user to one's own file."""
    own, foreign, link = Path("own.toml"), Path("foreign.toml"), Path("arena.toml")
    own.write_text('plugins = ["game.py"]')
    foreign.write_text('plugins = ["game.py"]')
    os.chown(foreign, STRANGER, STRANGER)

    def refused() -> None:
        with pytest.raises(UnknownName):
            told("show", "mine")
        assert capsys.readouterr().err == f"{link.name} is ignored, because it belongs to another user\n"

    link.symlink_to(foreign)
    refused()
    link.unlink()
    link.symlink_to(own)
    assert told("show", "mine")[0].startswith("game mine")
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    refused()
    link.unlink()
    foreign.rename(link)
    refused()
    os.chown(link, os.geteuid(), os.getegid())
    assert told("show", "mine")[0].startswith("game mine")
    link.unlink()
    link = Path("pyproject.toml")
    link.write_text("[project]\n")
    os.chown(link, STRANGER, STRANGER)
    assert told("list", "games")[1] == "", "it says nothing of arena"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plugins = [", "arena.toml: "),
        ("plugin = ['game.py']", "arena.toml: unknown key 'plugin'; did you mean 'plugins'?"),
        ("plugins = 'game.py'", "arena.toml: plugins: expected a list of files"),
        ("plugins = ['gone.py']", "gone.py: FileNotFoundError"),
    ],
)
def test_errors_in_the_project_file_are_reported(text: str, said: str, told: Told) -> None:
    Path("arena.toml").write_text(text)
    with pytest.raises((ArenaError, PluginError), match=said.partition("'")[0].replace("?", r"\?")):
        told("show", "mine")


def test_the_manual_can_be_read_despite_a_broken_project_file(told: Told) -> None:
    Path("arena.toml").write_text("plugins = [")
    assert told("docs", "spec")[1] == ""


@pytest.mark.parametrize("words", [("ladder", "gone.yaml"), ("ladder", "admin", "gone.yaml", "audit"), ("submit", "game.py")])
def test_commands_for_submissions_ignore_the_project_file(words: tuple[str, ...], told: Told) -> None:
    Path("arena.toml").write_text("plugins = [")
    with pytest.raises(Exception, match=r"gone\.yaml|url") as caught:
        told(*words)
    assert "toml" not in str(caught.value)


@pytest.mark.process
def test_a_command_loads_no_plugin_named_by_a_store(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It loads only plugins of a project file in the current folder."""
    Path("arena.toml").write_text('plugins = ["game.py"]')
    Path("cup.yaml").write_text("game: mine\nagents: [random, lookahead]\nrounds: 1\n")
    told("run", "cup.yaml", "--plugin", str(tmp_path / "game.py"), "--store", "cup.db", "--quiet")
    match = json.loads(told("export", "cup.db", "--no-project")[0].splitlines()[0])["id"]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "not loaded, because only the store names this code" in told("replay", "../cup.db", match)[0]
    Path("arena.toml").write_text('plugins = ["../game.py"]')
    assert "not loaded" not in told("replay", "../cup.db", match)[0]
