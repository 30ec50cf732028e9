"""The core without this extension: whatever needs it is one clear fault, and all else plays."""

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.conftest import Arena


@pytest.fixture
def without(tmp_path: Path) -> str:
    """A folder to put on the path: there the distribution has neither the entry point of the extension nor that of engines."""
    dist = next(point.dist for point in entry_points(group="arena") if point.value == "arena_isolation.plugin")
    assert dist is not None
    metadata = tmp_path / "path" / f"{re.sub('-', '_', dist.name)}-{dist.version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(str(dist.read_text("METADATA")))
    lines = str(dist.read_text("entry_points.txt")).splitlines(keepends=True)
    kept = [line for line in lines if not re.search(r"= *(arena_isolation\.plugin|arena_bridges\.engines)$", line.rstrip())]
    assert len(lines) - len(kept) == 2
    (metadata / "entry_points.txt").write_text("".join(kept))
    return str(metadata.parent)


PLAIN = "agent: greedy, label: other"


@pytest.mark.parametrize(
    ("entry", "where", "what"),
    [
        (f"{PLAIN}, isolation: process", "agents[1].isolation", "isolation: process needs the extension arena_isolation"),
        (f"{PLAIN}, isolation: sandbox", "agents[1].isolation", "isolation: sandbox needs the extension arena_isolation"),
        (f"{PLAIN}, plugin: mine.py", "agents[1].plugin", "plugin needs the extension arena_isolation"),
        (f"{PLAIN}, version: old.py", "agents[1].version", "version needs the extension arena_isolation"),
        (f"{PLAIN}, limits: {{seconds: 1}}", "agents[1]", "a limit of time needs a process of its own; "),
        (f"{PLAIN}, limits: {{memory_mb: 100}}", "agents[1]", "a memory limit needs a process of its own; "),
    ],
)
def test_a_feature_that_is_missing_is_one_fault(
    arena: Arena, tmp_path: Path, without: str, entry: str, where: str, what: str
) -> None:
    """It names the extension."""
    (tmp_path / "s.yaml").write_text(f"game: tic-tac-toe\nagents: [random, {{{entry}}}]\n")
    found = arena("validate", "s.yaml", PYTHONPATH=without)
    (line,) = [line for line in found.stderr.splitlines() if not line.startswith("plugin ")]
    assert found.returncode == 2
    assert f" {where}: {what}" in line
    assert line.endswith("needs the extension arena_isolation, which is not installed")


def test_a_program_needs_it_and_so_does_an_engine(arena: Arena, tmp_path: Path, without: str) -> None:
    """The first key that is missing is the fault."""
    (tmp_path / "s.yaml").write_text("game: tic-tac-toe\nagents: [random, {agent: {command: [cat], protocol: uci}}]\n")
    found = arena("validate", "s.yaml", PYTHONPATH=without)
    assert found.returncode == 2
    (line,) = found.stderr.splitlines()
    assert line.endswith("agents[1].agent.command: command needs the extension arena_isolation, which is not installed")


def test_what_does_not_need_it_plays(arena: Arena, tmp_path: Path, without: str) -> None:
    """A tournament, and the schema, which offers what there is."""
    (tmp_path / "s.yaml").write_text("game: tic-tac-toe\nrounds: 2\nisolation: none\nagents: [random, greedy]\n")
    played = arena("run", "s.yaml", "--workers", "1", PYTHONPATH=without)
    assert (played.returncode, "greedy" in played.stdout) == (0, True)
    schema = arena("schema", PYTHONPATH=without).stdout
    assert '"sandbox"' in arena("schema").stdout
    assert '"sandbox"' not in schema
    assert '"plugin"' not in schema
