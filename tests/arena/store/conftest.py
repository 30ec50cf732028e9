"""Small tournaments, and the command line in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Arena = Callable[..., subprocess.CompletedProcess[str]]
CUP = "game: tic-tac-toe\nrounds: 3\nseed: 7\nagents: [random, greedy, {agent: lookahead, depth: 1}]\n"


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A round robin of 18 matches."""
    file = tmp_path / "cup.yaml"
    file.write_text(CUP)
    return file


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Run the command line in the folder of the test."""

    def arena(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "arena", *map(str, words)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
            timeout=120,
            check=False,
        )

    return arena
