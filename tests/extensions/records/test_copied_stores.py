"""Stores that have been copied with their spec and plugins to another folder."""

import json
import shutil
from pathlib import Path

import pytest

from arena.api.store import Store
from tests.conftest import invoke_in

PLUGIN = '''
from arena import Agent, hookimpl


class Fragile(Agent):
    """Raises an exception in some states."""

    name = "fragile"

    def choose(self, game, state, search):
        if len(game.actions(state)) == 5:
            raise ValueError("five actions")
        return game.actions(state)[-1]


@hookimpl
def arena_agents():
    return [Fragile]
'''


def play(folder: Path, plugin: str = "mine.py") -> str:
    """Play a tournament in a folder, with the store `cup.db`, and return the id of a match that the plugin lost by a fault."""
    (folder / plugin).parent.mkdir(parents=True)
    (folder / plugin).write_text(PLUGIN)
    (folder / "cup.yaml").write_text(f"game: tic-tac-toe\nplugins: [{plugin}]\nagents: [random, fragile]\nrounds: 4\n")
    assert invoke_in(folder)("run", "cup.yaml", "--store", "cup.db", "--workers", "1").returncode == 0
    with Store.open(folder / "cup.db") as store:
        return next(record.id for record, _ in store.records() if record.termination == "exception")


def test_equal_runs_in_different_folders_are_merged(tmp_path: Path) -> None:
    """The messages of records name files without their folders."""
    play(tmp_path / "a")
    play(tmp_path / "b")
    invoke = invoke_in(tmp_path)
    merged = invoke("merge", "whole.db", "a/cup.db", "b/cup.db")
    assert (merged.returncode, merged.stdout) == (0, "whole.db: 8 matches\n"), merged.stderr
    messages = [json.loads(line)["message"] for line in invoke("export", "whole.db").stdout.splitlines()]
    assert {*messages} == {None, "ValueError: five actions (mine.py:12)"}


@pytest.mark.parametrize("plugin", ["mine.py", "agents/mine.py"])
@pytest.mark.parametrize("option", ["--plugin", "--spec"])
def test_the_code_of_a_store_copied_to_another_folder_is_found(option: str, plugin: str, tmp_path: Path) -> None:
    match = play(tmp_path / "old", plugin)
    shutil.move(tmp_path / "old", tmp_path / "new")
    invoke = invoke_in(tmp_path / "new")
    words = [option, plugin if option == "--plugin" else "cup.yaml"]
    shown = invoke("replay", "cup.db", match, *words)
    assert (shown.returncode, shown.stdout.splitlines()[-1]) == (
        0, "the record follows the rules, and the agents made the same decisions again"
    ), shown.stderr  # fmt: skip
    packed = invoke("bundle", "cup.db", "-o", "cup.arena", *words)
    assert (packed.returncode, packed.stderr) == (0, "")


def test_a_file_with_the_name_of_a_moved_plugin_is_loaded_only_if_no_other_file_has_this_name(tmp_path: Path) -> None:
    """If the code of the file is different, the difference is reported."""
    match = play(tmp_path / "old")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(PLUGIN.replace("[-1]", "[0]").replace("fragile", folder))
    invoke = invoke_in(tmp_path)
    shown = invoke("replay", "old/cup.db", match, "--plugin", "one/mine.py", "--plugin", "two/mine.py")
    assert f"only the store names this code: {tmp_path}/old/mine.py" in shown.stdout
    (tmp_path / "mine.py").write_text(PLUGIN.replace("[-1]", "[0]"))
    shown = invoke("replay", "old/cup.db", match, "--plugin", "mine.py")
    assert shown.returncode == 1
    assert "mine.py: changed since the match" in shown.stdout
