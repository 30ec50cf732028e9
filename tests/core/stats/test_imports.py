"""Who loads numpy, scipy and rustworkx, which take their time: the commands that compute with them, and no process that plays."""

import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import arena

pytestmark = pytest.mark.process

HEAVY = ("numpy", "scipy", "rustworkx")

WATCHING = f"""
import sys
from arena import Agent, hookimpl

class Watching(Agent):
    '''Raises where a heavy library is loaded.'''
    name = "watching"

    def choose(self, game, state, search):
        loaded = [name for name in {HEAVY} if name in sys.modules]
        if loaded:
            raise RuntimeError(f"loaded: {{loaded}}")
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Watching]
"""


RATINGS = {"arena.stats.ratings"}
"""The module that imports numpy with itself."""


def test_no_other_module_loads_any_of_them_when_it_is_imported() -> None:
    """Every module of the package but those that rate."""
    names = [module.name for module in pkgutil.walk_packages(arena.__path__, "arena.")]
    assert set(names) >= RATINGS
    left_out = {*RATINGS, "arena.__main__"}
    code = f"import importlib, sys\nfor name in {[name for name in names if name not in left_out]}:\n"
    code += f"    importlib.import_module(name)\nprint([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


AGENTS = {"a": "none", "b": "none", "c": "none", "d": "process"}
"""The isolation of each agent."""


def test_processes_that_play_load_none_of_them(tmp_path: Path) -> None:
    """Neither workers nor the processes of agents, although the tournament's own process pairs a Swiss round with rustworkx,
    and rates the field with numpy.
    """
    (tmp_path / "watching.py").write_text(WATCHING)
    spec = {
        "name": "watched",
        "game": "tic-tac-toe",
        "format": "swiss",
        "rounds": 2,
        "agents": [{"agent": "watching", "label": name, "isolation": isolation} for name, isolation in AGENTS.items()],
        "plugins": ["watching.py"],
    }
    (tmp_path / "spec.yaml").write_text(json.dumps(spec))
    command = [sys.executable, "-m", "arena", "run", "spec.yaml", "--no-store", "--workers", "2", "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["boards"][0]["rows"]
    assert [(row["games"], row["failures_by_kind"]) for row in rows] == [(4, {})] * 4
    assert all(row["rating"] is not None for row in rows)
