"""The searches of a ladder's matches are compiled while it runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import eventually
from tests.extensions.compiled.conftest import compiler as compiler, own_cache as own_cache
from tests.extensions.compiled.test_background import (
    brought as brought,
    empty_cache as empty_cache,
    goes_compiled,
    modules as modules,
    timings,
)
from tests.ladder.hosting import HostedLadder

pytestmark = pytest.mark.usefixtures("compiler")


def test_searches_of_a_ladder_are_compiled(arena: Callable[..., Any], brought: Path, tmp_path: Path) -> None:
    """A worker of the ladder plays one match after another."""
    pytest.importorskip("fastapi")
    house = "{agent: alpha-beta, depth: 6, isolation: none}, {agent: random, isolation: none}"
    spec = f"game: connect-four\nagents: [{house}]\nisolation: process\nuntil: {{interval: 1}}\nsubmissions: {{per_day: 5}}\n"
    with HostedLadder(tmp_path, spec) as ladder:

        def games() -> int:
            return max(int(row["games"]) for row in ladder.rows())

        eventually(lambda: list(brought.glob("*.module")))
        before = games()
        eventually(lambda: games() > before + 4)
        ladder.end()
    (store,) = tmp_path.rglob("*.db")
    assert goes_compiled(timings(arena, store))
