"""Plain and compiled code build the same pattern databases."""

from typing import Any

import pytest

from arena_games.pattern_db import partition_of
from arena_games.pattern_tables import build, compiled_build
from arena_games.sliding_tiles import SlidingTiles


@pytest.mark.parametrize(
    ("rows", "columns", "partition", "goal"),
    [(2, 2, "3", "blank-last"), (3, 3, "4-4", "blank-last"), (3, 4, "4-4-3", "blank-first"), (5, 3, "3-3-3-3-2", "blank-last")],
)
def test_plain_and_compiled_tables_are_identical(compiling: None, rows: int, columns: int, partition: str, goal: Any) -> None:
    game = SlidingTiles(rows=rows, columns=columns, goal=goal)
    for pattern in partition_of(game, partition):
        assert compiled_build(game, pattern) == build(game, pattern)


def test_small_tables_and_disabled_compilation_use_plain_code(monkeypatch: pytest.MonkeyPatch, compiling: None) -> None:
    game = SlidingTiles()
    assert compiled_build(game, (1, 2)) is not None
    monkeypatch.setenv("ARENA_PLAIN", "1")
    assert compiled_build(game, (1, 2)) is None
    monkeypatch.delenv("ARENA_PLAIN")
    monkeypatch.delenv("ARENA_COMPILE")
    assert compiled_build(game, (1, 2)) is None
