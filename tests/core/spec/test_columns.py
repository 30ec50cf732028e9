"""The key `columns`: the names are the keys of rows in JSON, and a column must belong to an agent that plays."""

import json
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import SpecError
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.spec import load_spec

GAME: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 4, "agents": ["random", "greedy", "lookahead"]}
PUZZLE: dict[str, Any] = {"game": "pancake", "rounds": 4, "agents": ["a-star", "best-first"]}
MANUAL = Path(__file__).parents[3] / "docs" / "reference" / "spec.md"


@pytest.mark.parametrize(
    "spec", [GAME, PUZZLE, {"game": "2048", "rounds": 2, "agents": ["random", "greedy"], "limits": {"moves": 20}}]
)
def test_the_names_of_columns_are_the_keys_of_rows(spec: dict[str, Any]) -> None:
    text = " ".join(MANUAL.read_text().split())
    words = text.split("`--format json`, except ")[1].split("`sort:")[0]
    results = arena.run(spec)
    (board,) = json.loads(render(results, Leaderboard.of_results(results), "json"))["boards"]
    keys = {key for row in board["rows"] for key in row}
    refused = set()
    for key in keys:
        try:
            load_spec({**spec, "columns": ["agent", key]})
        except SpecError:
            refused.add(key)
    assert refused <= set(words.split("`"))
    assert "level_with" not in keys or "level_with" in refused


@pytest.mark.parametrize("key", ["gap", "gap_low", "tokens_in"])
def test_a_column_is_refused_if_no_agent_of_the_spec_has_it(key: str) -> None:
    with pytest.raises(SpecError, match=f"the column '{key}' is only for .*llm.*, which no entry plays"):
        load_spec({**PUZZLE, "columns": ["agent", key]})
    with pytest.raises(SpecError, match=f"the column '{key}' is only for .*llm.*, which no entry plays"):
        load_spec({**PUZZLE, "sort": f"-{key}"})
