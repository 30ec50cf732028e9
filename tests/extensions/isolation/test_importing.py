"""Every process of a run imports the same modules as the Python that started it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.eventually import DEADLINE_SECONDS

pytestmark = pytest.mark.process

PLUGIN = '''
from arena import Agent, hookimpl


class First(Agent):
    """Plays the first action."""

    name = "first"

    def choose(self, game, state, search):
        return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [First]
'''

PLAYED = """
import sys
assert sys.path[0] == ""
import arena
if __name__ == "__main__":
    values = dict(game="tic-tac-toe", agents=["first", "random"], rounds=1, plugins=["homemade"])
    print([record.termination for record in arena.run(values, {more}).records])
"""
BY_WORKERS = PLAYED.replace("rounds=1", "rounds=1, isolation='process'").format(more="workers=2")
AT_A_DESK = """
from arena_web.plugin_process import PluginProcess
desk = PluginProcess(["homemade"], 1024, keys=False)
asked = dict(do="move", game=dict(name="tic-tac-toe"), state="xx./oo./...", agent=dict(agent="first"))
print(desk.ask(asked, 20)["frame"]["action"])
desk.end()
"""
IN_A_TOURNAMENT = """
import asyncio
from pathlib import Path
from arena_web.tournaments import ServedTournament

async def play():
    shown = ServedTournament("one", Path("one.arena"), Path("one.yaml"))
    await shown.start(["homemade"])
    await shown._reader
    print(shown.watcher.trouble)

Path("one.yaml").write_text("{game: tic-tac-toe, agents: [first, random], rounds: 1}")
asyncio.run(play())
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        pytest.param(BY_WORKERS, "['normal', 'normal']", id="workers and isolated agents"),
        pytest.param(AT_A_DESK, "3", id="a desk"),
        pytest.param(IN_A_TOURNAMENT, "None", id="a tournament of the server"),
    ],
)
def test_a_module_of_the_working_folder_is_found_by_every_process(tmp_path: Path, code: str, told: str) -> None:
    """An interactive Python, `python -c` and a notebook have the empty string in their import path."""
    (tmp_path / "homemade.py").write_text(PLUGIN)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False
    )
    assert (done.stdout.strip(), done.returncode) == (told, 0), done.stderr
