"""Commands fit their tables to narrow terminals, but write everything to files and pipes."""

import re
from pathlib import Path

import pytest

from arena import run

from .conftest import Open, Run

LONG = "somebody with a rather long name"
SPEC = {
    "name": "Wide",
    "games": ["tic-tac-toe", {"name": "sliding-tiles", "shuffle": 4}],
    "rounds": 3,
    "agents": ["random", "greedy", "lookahead", "type-a", "type-a-plus", {"agent": "random", "label": LONG}],
    "limits": {"nodes": 30, "moves": 20},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("narrow") / "wide.db"
    run(SPEC, store=place)
    return place


def shown(terminal: Open, *words: str, columns: int, **environment: str) -> str:
    at = terminal(*words, columns=columns, **environment)
    assert at.end() == 0, at.seen
    return at.seen


@pytest.mark.parametrize("columns", [60, 40])
def test_leaderboards_fit_narrow_terminals_and_list_the_columns_left_out(terminal: Open, store: Path, columns: int) -> None:
    seen = shown(terminal, "leaderboard", str(store), columns=columns)
    assert max(map(len, seen.split("\n"))) <= columns
    text = " ".join(seen.split())
    assert "Columns that do not fit here: 1st seat, 2nd seat, ms/move, Generated/move" in text
    assert "`columns:` in the spec" in text
    for heading in ("Rank", "Agent", "Elo", "Score"):
        assert re.search(rf"^Rank .*\b{heading}\b|^{heading}\b", seen, re.MULTILINE), heading
    assert ("95 % interval" in text.split("Columns that do not fit")[0]) == (columns >= 60)


def test_the_variable_columns_is_respected_and_a_wide_terminal_shows_all(terminal: Open, here: Run, store: Path) -> None:
    """No column is left out if all fit. A pipe gets the whole table, whatever the value of COLUMNS."""
    whole = here("leaderboard", str(store), COLUMNS="60").stdout
    assert max(map(len, whole.split("\n"))) > 120
    assert "Columns that do not fit" not in whole
    assert shown(terminal, "leaderboard", str(store), columns=250) == whole
    narrow = shown(terminal, "leaderboard", str(store), columns=250, COLUMNS="70")
    assert max(map(len, narrow.split("\n"))) <= 70
    assert "Columns that do not fit" in narrow


def test_a_table_in_a_requested_format_is_not_fitted_to_the_terminal(terminal: Open, here: Run, store: Path) -> None:
    words = ("leaderboard", str(store), "--format", "github")
    assert shown(terminal, *words, columns=60) == here(*words).stdout


@pytest.mark.parametrize("words", [("list", "heuristics"), ("matrix",), ("compare",)])
def test_tables_of_other_commands_fit_a_narrow_terminal(terminal: Open, store: Path, words: tuple[str, ...]) -> None:
    asked = [*words, *([str(store)] if words == ("compare",) else [])]
    seen = shown(terminal, *asked, columns=60)
    assert max(map(len, seen.split("\n"))) <= 60
    told = {
        "list": "regardless of the other",
        "matrix": "A 2048, B backgammon",
        "compare": "by how many Elo the row",
    }[words[0]]
    assert told in " ".join(seen.split())
