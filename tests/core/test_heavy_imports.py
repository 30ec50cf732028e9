"""Libraries that take long to import are imported only where they are needed."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import arena

pytestmark = pytest.mark.process

HEAVY = {"numba", "numpy", "rich", "rustworkx", "scipy"}
HEAVY_FOR_AGENTS = {*HEAVY, "tabulate", "arena.results.leaderboard", "arena.store", "arena.tournament", "arena.workers.pool"}
"""A process that only plays needs neither a store nor boards, although it also loads the plugins that bring columns of boards."""
MAX_MODULES = 179
"""The most modules of this distribution that a small tournament may import."""
HEAVY_FOR_HELP = {*HEAVY, "arena.plugins.registry", "arena.spec", "importlib.metadata", "pydantic", "tabulate", "yaml"}
SPY = '''
import os
import sys
from pathlib import Path

from arena import Agent, hookimpl


class Spy(Agent):
    """Plays the first action, and writes down the modules that its process has imported."""

    name = "spy"

    def choose(self, game, state, search):
        Path({folder!r}, f"{{os.getpid()}}.txt").write_text("\\n".join([sys.modules["__main__"].__file__, *sys.modules]))
        return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [Spy]
'''


@pytest.mark.parametrize(
    "code",
    [
        "import arena",
        "import arena.cli\ntry: arena.cli.cli(['--help'])\nexcept SystemExit: pass",
        "import arena\narena.run('two.yaml')",
        "import arena.cli\ntry: arena.cli.cli(['run', 'two.yaml', '--no-store', '--workers', '1'])\nexcept SystemExit: pass",
        "import arena.cli\ntry: arena.cli.cli(['run', 'tiles.yaml', '--no-store', '--workers', '1'])\nexcept SystemExit: pass",
    ],
)
def test_heavy_modules_are_not_imported_for_help_or_a_small_run(tmp_path: Path, code: str) -> None:
    tiles = "game: {name: sliding-tiles, shuffle: 5}\nagents: [bfs, a-star]\nrounds: 1\n"
    (tmp_path / "tiles.yaml").write_text(tiles)
    (tmp_path / "two.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy]\nrounds: 1\n")
    whole = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True, cwd=tmp_path)
    found = set(done.stdout.splitlines()[-1].split())
    assert "arena" in found
    assert not found & (HEAVY if "run" in code else HEAVY_FOR_HELP)


def test_a_round_robin_of_three_agents_imports_few_modules(tmp_path: Path) -> None:
    (tmp_path / "three.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy, {agent: minimax, depth: 1}]\nrounds: 1\n")
    code = "import arena.cli, sys\ntry: arena.cli.cli(['run', 'three.yaml', '--no-store', '--workers', '1'])\n"
    code += "except SystemExit: pass\nprint(*[name for name in sys.modules if name.startswith(('arena.', 'arena_'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    found = done.stdout.splitlines()[-1].split()
    assert "arena_games.tic_tac_toe" in found
    assert len(found) <= MAX_MODULES
    assert "arena.workers.pool" not in found


def test_only_the_ratings_of_a_field_import_numpy() -> None:
    names = {module.name for module in pkgutil.walk_packages(arena.__path__, "arena.")} - {"arena.__main__"}
    assert "arena.stats.field" in names
    code = f"import importlib, sys\nfor name in {names - {'arena.stats.field'}}:\n    importlib.import_module(name)\n"
    code += f"print({HEAVY - {'rich'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_board_with_ratings_imports_no_module_of_numpy_that_numpy_does_not_import(tmp_path: Path) -> None:
    (tmp_path / "three.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy, mcts]\nrounds: 4\n")
    code = "import sys, numpy\nalone = {*sys.modules}\nimport arena.cli\n"
    code += "try: arena.cli.cli(['run', 'three.yaml', '--no-store', '--workers', '1'])\nexcept SystemExit: pass\n"
    code += "assert 'arena.stats.field' in sys.modules\n"
    code += "print(sorted(name for name in {*sys.modules} - alone if name.startswith('numpy')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("keys", "workers", "program"), [({}, 2, "worker.py"), ({"isolation": "process"}, 1, "agent_host.py")])
def test_workers_and_agent_hosts_do_not_import_heavy_modules(
    tmp_path: Path, keys: dict[str, str], workers: int, program: str
) -> None:
    (tmp_path / "spy.py").write_text(SPY.format(folder=str(tmp_path)))
    spec = {"game": "tic-tac-toe", "agents": ["spy", "random"], "plugins": [str(tmp_path / "spy.py")], "rounds": 4, **keys}
    assert {record.termination for record in arena.run(spec, workers=workers).records} == {"normal"}
    written = [file.read_text().splitlines() for file in tmp_path.glob("*.txt")]
    assert {Path(main).name for main, *_ in written} == {program}
    imports = {module for _, *imported in written for module in imported}
    assert not imports & HEAVY_FOR_AGENTS
    assert ("arena.spec.resolve" in imports) == ("yaml" in imports) == (program == "worker.py"), "an agent host reads no spec"
