"""Code of a submission whose hash also covers data files."""

import shutil
from pathlib import Path

import pytest

from arena.api.spec import Document, reload_spec
from arena_bundle.code_files import CodeFiles
from arena_bundle.replay_host import load_spec_of
from arena_isolation.versions import CODE, SharedCode, seal_submission, version_in

pytestmark = pytest.mark.process
AGENT = """
from pathlib import Path
from arena import Agent, hookimpl

class Weighted(Agent):
    name = "weighted"

    def choose(self, game, state, search):
        return game.actions(state)[len(Path(__file__).with_name("weights").read_text()) % 2]

@hookimpl
def arena_agents():
    return [Weighted]
"""
VALUES = {
    "game": "tic-tac-toe",
    "rounds": 1,
    "agents": ["random", {"agent": "weighted", "plugin": "entry/agent.py", "isolation": "process"}],
}


@pytest.mark.parametrize("weights", ["1", "22"])
def test_a_bundle_keeps_the_hash_of_code_with_data_files(weights: str, tmp_path: Path) -> None:
    """The replay of a bundle computes the hash from the unpacked files, and match ids depend on it."""
    entry = tmp_path / "here" / "entry"
    entry.mkdir(parents=True)
    (entry / "agent.py").write_text(AGENT)
    (entry / "weights").write_text(weights)
    version = seal_submission(entry / "agent.py")
    shared = {CODE: SharedCode(versions={("weighted", True, "entry/agent.py"): version})}
    spec = reload_spec(Document("cup.yaml", VALUES, tmp_path / "here"), [], 1, shared=shared)
    files = CodeFiles(spec)
    for name, file in files.files.items():
        (tmp_path / "there" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tmp_path / "there" / name)
    values = files.document_values()
    again = load_spec_of(tmp_path / "there", values, "cup.yaml", files.code, 1)
    program = again.boards[0].seats[1].program
    assert program is not None
    found = version_in(program)
    assert found is not None
    assert found.code == version.code
