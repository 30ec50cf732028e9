"""Bundles may contain code of an installed package, a Git commit, a program, an engine and arena itself."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from arena.plugins.dependencies import PythonFile
from tests.bridges.engines.conftest import HERE as ENGINES
from tests.bridges.llm.stub import first, serving
from tests.extensions.bundle.conftest import PLUGIN, pack, play, read, verdict_on

PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "third-party-agents"
version = "1.2"
[project.entry-points.arena]
agents = "third_party.agents"
[tool.hatch.build.targets.wheel]
packages = ["third_party"]
"""
PACKAGED = PLUGIN.replace('"last"', '"third"').replace(
    "game.actions(state)[-1]", 'pick(game.actions(state), int(files("third_party").joinpath("index.txt").read_text()))'
)
PACKAGED = f"from importlib.resources import files\n\nfrom third_party.pick import pick\n{PACKAGED}"
VERSIONED = PLUGIN.replace('"last"', '"bot"').replace("game.actions(state)[-1]", "pick(game.actions(state), 0)")
VERSIONED = f"from helper import pick\n{VERSIONED}"
PROGRAM = '''"""A program that speaks arena's protocol and always takes the first free cell."""
import json
import sys

from free_cells import list_free

position, played = "", []
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "hello", "protocol": 2, "name": "p", "can": ["choose"]}), flush=True)
    elif message["type"] == "start":
        print('{"type": "ready"}', flush=True)
    elif message["type"] == "choose":
        if "position" in message:
            position, played = message["position"], []
        played += message["played"]
        free = list_free(position, played)
        print(json.dumps({"type": "report", "action": free[0]}), flush=True)
        print('{"type": "best"}', flush=True)
'''
FREE_CELLS = '''def list_free(position, played):
    """Return the free cells of a board, which are numbered from 1."""
    cells = position.replace("/", "")
    return [str(number) for number, cell in enumerate(cells, 1) if cell == "." and str(number) not in played]
'''
SPEC = """game: tic-tac-toe
rounds: 1
plugins: [sub/bot.py]
agents:
  - third
  - {agent: bot, version: "git:HEAD"}
  - {agent: {command: [PYTHON, program.py]}, label: program}
"""


def prepare(folder: Path) -> dict[str, str]:
    """Install a package, commit a version of an agent, and write a program. Return an environment in which the package can be
    imported.
    """
    source, site = folder / "source", folder / "site"
    (source / "third_party").mkdir(parents=True)
    (source / "pyproject.toml").write_text(PROJECT)
    pick = "def pick(actions, index):\n    return actions[index]\n"
    files = {"__init__.py": "", "agents.py": PACKAGED, "pick.py": pick, "index.txt": "-1\n"}
    for name, text in files.items():
        (source / "third_party" / name).write_text(text)
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(site),
        str(source),
    ]
    subprocess.run(install, check=True)
    cup = folder / "cup"
    (cup / "sub").mkdir(parents=True)
    (cup / "sub" / "bot.py").write_text(VERSIONED)
    (cup / "sub" / "helper.py").write_text(pick)
    git = ["git", "-C", str(cup), "-c", "user.name=a", "-c", "user.email=a"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    (cup / "sub" / "helper.py").write_text(pick.replace("[index]", "[index - 1]"))
    (cup / "program.py").write_text(PROGRAM)
    (cup / "free_cells.py").write_text(FREE_CELLS)
    (cup / "cup.yaml").write_text(SPEC.replace("PYTHON", Path(sys.executable).name))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{cup / 'sub'}", "PATH": path}


@pytest.mark.usefixtures("bubblewrap")
def test_agents_from_a_package_a_commit_and_a_program_are_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verifier has neither the package nor the repository. All three import another file, and the package has data."""
    environment, cup = prepare(tmp_path), tmp_path / "cup"
    for words in (["run", "cup.yaml", "--quiet"], ["bundle", "results/cup.db", "-o", "cup.arena", "--spec", "cup.yaml"]):
        subprocess.run([sys.executable, "-m", "arena", *words], cwd=cup, env=environment, check=True, stdout=subprocess.DEVNULL)
    packed = read(cup / "cup.arena")
    code = [name for name in packed if name.startswith(("outside/", "tournament/")) and name != "tournament/spec.json"]
    counts = Counter([Path(name).name for name in code])
    once = ("__init__.py", "agents.py", "index.txt", "pick.py", "program.py", "free_cells.py")
    assert counts == {**dict.fromkeys(once, 1), "bot.py": 2, "helper.py": 2}
    code_number, verdict = verdict_on(cup / "cup.arena", capsys)
    assert (code_number, verdict["not_shown"]) == (0, [])
    assert (verdict["matches"], verdict["replayed"], verdict["equal"]) == (6, 6, 6)
    assert "missing packages: third-party-agents 1.2" in verdict["notes"]
    records = [json.loads(line) for line in packed["records.jsonl"].splitlines()]
    assert {one["termination"] for one in records} == {"normal"}


@pytest.mark.usefixtures("bubblewrap")
def test_matches_of_an_engine_are_counted_but_not_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The engine speaks UCI, and the verifier does not start it."""
    shutil.copy(ENGINES / "noughts.py", tmp_path)
    engine = tmp_path / "engine"
    words = [sys.executable, str(ENGINES / "engine.py"), "uci", "none", str(tmp_path / "heard")]
    engine.write_text("#!/bin/sh\nexec " + " ".join([f"'{word}'" for word in words]) + "\n")
    engine.chmod(0o755)
    agents = "[random, {agent: {command: [./engine], protocol: uci}, label: engine, limits: {nodes: 9}}]"
    store = play(tmp_path, f"game: noughts\nplugins: [noughts.py]\nrounds: 1\nagents: {agents}\n")
    code, verdict = verdict_on(pack(store), capsys)
    assert (code, verdict["contradictions"]) == (3, [])
    assert verdict["not_replayable"] == {"native engines": 2}


@pytest.mark.usefixtures("bubblewrap")
def test_matches_of_a_language_model_are_counted_but_not_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other matches are replayed. The verifier asks the model nothing."""
    with serving(first) as stub:
        agents = f"[random, greedy, {{agent: llm, url: '{stub.url}', model: m}}]"
        out = pack(play(tmp_path, f"game: tic-tac-toe\nrounds: 1\nagents: {agents}\n"))
        asked = len(stub.requests)
        code, verdict = verdict_on(out, capsys)
        assert len(stub.requests) == asked > 0
    assert (code, verdict["contradictions"]) == (3, [])
    assert verdict["not_replayable"] == {"language models and other services": 4}
    assert (verdict["replayed"], verdict["equal"]) == (2, 2)
    assert "4 matches cannot be replayed: language models and other services (4)" in verdict["not_shown"]


def test_sources_of_arena_are_not_packed_as_user_code(tmp_path: Path) -> None:
    """The plugin imports a game of arena. In an editable installation, the game is not in the folder of installed packages."""
    (tmp_path / "own.py").write_text("from arena_games.tic_tac_toe import TicTacToe\nimport arena_records\n")
    assert PythonFile(tmp_path / "own.py").find_imported() == set()
    assert PythonFile(tmp_path / "own.py").stands_alone()
