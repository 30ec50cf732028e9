"""Fixtures for the tests of chess: the game, and Stockfish if it is installed."""

import os
import shutil

import pytest

from arena_chess.game import Chess


@pytest.fixture(scope="session")
def chess() -> Chess:
    """Chess from the start."""
    return Chess()


@pytest.fixture(scope="session")
def stockfish() -> str:
    """The path of Stockfish. If it is not installed, its tests are skipped, or fail if ARENA_REQUIRE names `engines`."""
    found = shutil.which("stockfish", path=f"{os.environ.get('PATH', '')}:/usr/games")
    if found is None:
        reason = "there is no Stockfish: apt-get install stockfish"
        if "engines" in os.environ.get("ARENA_REQUIRE", "").replace(",", " ").split():
            pytest.fail(reason)
        pytest.skip(reason)
    return found
