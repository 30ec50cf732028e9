"""Search engines prepare a run before its first match, and only if there is one."""

from pathlib import Path
from typing import Any

import pytest

import arena
from arena.search_engines import SearchEngine
from arena.tournament import run

SPEC: dict[str, Any] = {"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 2}


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the specs for which an engine has prepared."""
    names: list[str] = []

    class Engine(SearchEngine):
        def prepare(self, spec: Any, note: Any) -> None:
            names.append(spec.name)

    monkeypatch.setattr(run, "search_engines", lambda: [Engine("noted", lambda *_: None)])
    return names


def test_a_run_without_matches_left_to_play_prepares_no_search_engine(prepared: list[str], tmp_path: Path) -> None:
    played = arena.run(SPEC, store=tmp_path / "cup.db")
    assert len(prepared) == 1
    again = arena.run(SPEC, store=tmp_path / "cup.db")
    assert len(prepared) == 1
    assert [record.id for record in again.records] == [record.id for record in played.records]
    more = arena.run({**SPEC, "rounds": 3}, store=tmp_path / "cup.db")
    assert len(prepared) == 2
    assert len(list(more.records)) == 6
