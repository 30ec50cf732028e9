"""Small tournaments, and the command line in a process of its own."""

from pathlib import Path

import pytest

CUP = "game: tic-tac-toe\nrounds: 3\nseed: 7\nagents: [random, greedy, {agent: lookahead, depth: 1}]\n"


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A round robin of 18 matches."""
    file = tmp_path / "cup.yaml"
    file.write_text(CUP)
    return file
