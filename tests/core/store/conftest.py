"""A small tournament for the tests of stores."""

from pathlib import Path
from typing import Any

import pytest

from arena.store import Store

CUP = "game: tic-tac-toe\nrounds: 3\nseed: 7\nagents: [random, greedy, {agent: lookahead, depth: 1}]\n"


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """Return the spec file of a round robin with 18 matches."""
    file = tmp_path / "cup.yaml"
    file.write_text(CUP)
    return file


def timeless(path: Path) -> dict[str, dict[str, Any]]:
    with Store.open(path) as store:
        return {record.id: record.timeless() for record, _ in store.records()}
