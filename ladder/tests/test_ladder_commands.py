"""Each command of the ladder once, as its user calls it: the installed program, in a process of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.test_commands import AGENT, Call, call as call, read, start as start

pytestmark = pytest.mark.process


def test_a_ladder_accepts_a_submission(
    call: Call, start: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fastapi")
    (tmp_path / "first.py").write_text(AGENT.format(place=0))
    (tmp_path / "club.yaml").write_text(
        "game: tic-tac-toe\nagents: [random, greedy]\nisolation: process\nsubmissions: {authors: authors.txt}\n"
    )
    (tmp_path / "authors.txt").write_text("ada\n")
    address = start("ladder", "club.yaml", "--port", "0")
    token = call("ladder", "admin", "club.yaml", "tokens", "ada").split()[1]
    monkeypatch.setenv("ARENA_TOKEN", token)
    assert call("submit", "first.py", "--to", address, "--wait").strip()
    assert "first" in read(f"{address}/api/standings")
