"""The specs in `tournaments/` run as they are, and show what they say."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena import run
from arena.results.leaderboard import Leaderboard, leaderboards
from arena.results.tables import render
from arena.spec import load_spec
from arena_games.sliding_tiles import SlidingTiles
from tests.conftest import Missing
from tests.games.game_tree import distances

TOURNAMENTS = Path(__file__).parents[1] / "tournaments"


def rows(board: Leaderboard) -> dict[str, dict[str, Any]]:
    return {row["agent"]: row for row in board.rows}


SPECS = sorted(TOURNAMENTS.rglob("*.yaml"))
LONG = {"fifteen-puzzle.yaml"}
"""Reading it builds the tables of its heuristics where the cache has none."""
EXTRAS = {"axelrod-1980.yaml": "axelrod"}
"""Libraries without which a spec has a fault that names them."""


@pytest.mark.parametrize(
    "file", [pytest.param(file, id=file.stem, marks=[pytest.mark.slow] if file.name in LONG else []) for file in SPECS]
)
def test_every_spec_is_sound(file: Path, tmp_path: Path, missing: Missing) -> None:
    """No fault in any of them; read with smaller sets of tiles where six take a minute."""
    extra = EXTRAS.get(file.name)
    if extra is not None and find_spec(extra) is None:
        missing(extra, f"{extra} is not installed: pip install 'fairarena[{extra}]'")
    text = file.read_text("utf-8")
    smaller = text.replace("partition: 6-6-3", "partition: 5-5-5")
    if smaller != text:
        file = tmp_path / file.name
        file.write_text(smaller, "utf-8")
    assert load_spec(file).boards


def test_there_is_a_spec_for_each_comparison_of_the_texts() -> None:
    """And those that the manual begins with."""
    texts = {"tile-game", "eight-puzzle", "fifteen-puzzle", "type-a", "eight-queens", "queens-by-size", "queens-large", "sudoku"}
    assert {file.stem for file in SPECS if file.parent.name == "seeds"} == texts
    assert {file.name for file in SPECS} >= {"quickstart.yaml", "tic-tac-toe.yaml", "type-a.yaml", "tile-game.yaml"}


@pytest.mark.slow
def test_the_quickstart_separates_its_agents() -> None:
    """Every agent has a rating with an interval, and at most two lines explain the board; optimal solvers agree."""
    (versus,) = leaderboards(run(TOURNAMENTS / "quickstart.yaml", workers=2))
    (puzzle,) = leaderboards(run(TOURNAMENTS / "quickstart-puzzle.yaml"))
    assert all(row["failures"] == 0 for row in (*versus.rows, *puzzle.rows))
    assert not versus.unrated
    assert all(row["rating_low"] < row["rating"] < row["rating_high"] for row in versus.rows)
    assert versus.rows[0]["rating_low"] > versus.rows[1]["rating_high"]
    assert len(versus.remarks) <= 3, "matches, ranking, overlaps"
    solved = rows(puzzle)
    assert {row["attempts"] for row in puzzle.rows} == {30}
    assert solved["a-star"]["mean_moves"] == solved["ida-star"]["mean_moves"] < solved["best-first"]["mean_moves"]


@pytest.mark.slow
def test_type_a_is_equal_play_with_falling_node_counts() -> None:
    """Every game is drawn; minimax looks at most positions, Type A Plus at fewest."""
    board = leaderboards(run(TOURNAMENTS / "type-a.yaml"))[0]
    assert all(row["draws"] == row["games"] == 6 for row in board.rows)
    nodes = {agent: row["nodes_per_move"] for agent, row in rows(board).items()}
    assert nodes["minimax"] > 5 * nodes["alpha-beta"]
    assert nodes["minimax"] > 5 * nodes["type-a"]
    assert nodes["type-a"] > 5 * nodes["type-a-plus"]


@pytest.mark.slow
def test_the_tile_game_is_three_tables_in_asciidoc() -> None:
    """A caption, a frame and a row an agent each; lookahead solves most on every board, the random walk fewest."""
    results = run(TOURNAMENTS / "tile-game.yaml", workers=2)
    boards = leaderboards(results)
    text = render(results, boards, "asciidoc")
    assert text.count("|====") == 6
    for shuffle in (20, 50, 100):
        assert f".Results from comparing search techniques: sliding-tiles (shuffle={shuffle})\n[cols=" in text
    for board in boards:
        solved = {agent: row["solved"] for agent, row in rows(board).items()}
        assert solved["Lookahead"] > solved["Heuristic"] > solved["Random"]


def test_the_round_robin_of_the_readme_is_played_by_perfect_play() -> None:
    """In the smallest version of it, perfect play leads and chance comes last."""
    spec = load_spec(TOURNAMENTS / "tic-tac-toe.yaml")
    board = leaderboards(run(spec))[0]
    assert board.rows[-1]["agent"] == "random"
    assert rows(board)["perfect"]["losses"] == 0


@pytest.mark.slow
def test_a_star_is_optimal_on_all_positions_of_the_eight_puzzle_spec() -> None:
    """On each of the 100, as many slides as breadth-first search from the goal says."""
    keys = yaml.safe_load((TOURNAMENTS / "seeds" / "eight-puzzle.yaml").read_text("utf-8"))
    puzzle = SlidingTiles()
    exact = distances(puzzle, puzzle.goal)
    records = run({**keys, "agents": keys["agents"][:2]}).records
    assert {record.labels for record in records} == {("a-star(manhattan)",), ("a-star(misplaced)",)}
    assert len({record.position for record in records}) > 99
    assert len(records) == 200
    assert all(record.cost == exact[puzzle.parse_state(record.position)] for record in records)
