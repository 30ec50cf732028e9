"""The specs in `tournaments/` run unchanged, and their results agree with the texts about them."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from arena import Registry, run
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.spec import json_schema, load_spec
from arena.spec.document import Document
from arena_games.sliding_tiles import SlidingTiles
from tests.conftest import Missing
from tests.games.game_tree import distances

TOURNAMENTS = Path(__file__).parents[1] / "tournaments"


def rows(board: Leaderboard) -> dict[str, dict[str, Any]]:
    return {row["agent"]: row for row in board.rows}


SPECS = sorted(TOURNAMENTS.rglob("*.yaml"))
EXTRAS = {"axelrod-1980.yaml": "axelrod"}
"""For each spec that needs a library: the extra with this library. Without it, the spec has a fault."""


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, id=file.stem, marks=[pytest.mark.process] * (file.stem == "openspiel")) for file in SPECS],
)
def test_every_spec_is_valid(file: Path, tmp_path: Path, missing: Missing) -> None:
    """No spec has a fault. Large pattern databases take a minute to build, so the test replaces them by smaller ones."""
    extra = EXTRAS.get(file.name)
    if extra is not None and find_spec(extra) is None:
        missing(extra, f"{extra} is not installed: pip install '.[{extra}]'")
    text = file.read_text("utf-8")
    small = "{name: pattern-db, partition: 3-3-3-3-3}"
    smaller = text.replace("{name: pattern-db, partition: 6-6-3}", small).replace(
        "heuristic: pattern-db,", f"heuristic: {small},"
    )
    if smaller != text:
        file = tmp_path / file.name
        file.write_text(smaller, "utf-8")
    assert load_spec(file).boards


def test_every_spec_is_valid_according_to_the_schema_for_editors(registry: Registry) -> None:
    """A spec with a wrong key or value is not valid."""
    schema = Draft202012Validator(json_schema(registry))
    for file in SPECS:
        assert not [*schema.iter_errors(Document.read(file).values)], file
    sound = yaml.safe_load((TOURNAMENTS / "quickstart.yaml").read_text("utf-8"))
    for wrong in ({"round": 3}, {"rounds": 0}, {"agents": 3}, {"limits": {"nodes": "many"}}, {"isolation": "none at all"}):
        assert [*schema.iter_errors({**sound, **wrong})], wrong


def test_each_comparison_in_the_manual_has_a_spec() -> None:
    """This includes the specs at the beginning of the manual."""
    texts = {"tile-game", "eight-puzzle", "fifteen-puzzle", "type-a", "eight-queens", "queens-by-size", "queens-large", "sudoku"}
    assert {file.stem for file in SPECS if file.parent.name == "seeds"} == texts
    assert {file.name for file in SPECS} >= {"quickstart.yaml", "tic-tac-toe.yaml", "type-a.yaml", "tile-game.yaml"}


def test_the_specs_for_language_models_have_the_same_anchors() -> None:
    """There are specs of three sizes, with as many matches of each model as the manual says."""
    specs = {file.stem: load_spec(file) for file in SPECS if file.stem.startswith("language-model")}
    anchors = {
        tuple([(seat.agent, seat.limits) for seat in board.seats if seat.agent not in ("llm", "random")])
        for spec in specs.values()
        for board in spec.boards
        if not board.game.name.startswith("kuhn")  # the anchors cannot play Kuhn poker
    }
    assert len(specs) == 3
    assert len({tuple([agent for agent, _ in found]) for found in anchors}) == 1
    manual = (TOURNAMENTS.parent / "docs" / "how-to" / "llm.md").read_text("utf-8")
    for name, spec in specs.items():
        each = sum(board.size * board.game.players // len(board.seats) for board in spec.boards)
        row = next(line for line in manual.splitlines() if f"/{name}.yaml` |" in line)
        assert f"| {each:,} |" in row or f"| {each:,} for each entry |" in row


def keys_of(name: str, **changes: Any) -> dict[str, Any]:
    """Return the keys of a spec, with some changes."""
    return {**yaml.safe_load((TOURNAMENTS / name).read_text("utf-8")), **changes}


@pytest.mark.parametrize("rounds", [3, pytest.param(10, marks=pytest.mark.proof)])
def test_the_quickstart_separates_its_agents(rounds: int) -> None:
    """No agent fails. The two searches of type A come first, with overlapping intervals, and Type A Plus needs fewer nodes."""
    (versus,) = Leaderboard.of_results(run(keys_of("quickstart.yaml", rounds=rounds)))
    found = rows(versus)
    assert all(row["failures"] == 0 for row in versus.rows)
    first, second, *_, last = versus.rows
    assert {first["agent"], second["agent"]} == {"type-a", "type-a-plus"}
    assert second["rating_high"] > first["rating_low"]
    assert last["agent"] == "random"
    assert found["type-a-plus"]["nodes_per_move"] < 0.6 * found["type-a"]["nodes_per_move"]


def test_optimal_solvers_of_the_quickstart_find_solutions_of_the_same_length() -> None:
    (puzzle,) = Leaderboard.of_results(run(keys_of("quickstart-puzzle.yaml", rounds=10)))
    solved = rows(puzzle)
    assert {(row["failures"], row["attempts"]) for row in puzzle.rows} == {(0, 10)}
    assert solved["a-star"]["mean_moves"] == solved["ida-star"]["mean_moves"] < solved["best-first"]["mean_moves"]


EMPTY = ".../.../..."


@pytest.mark.parametrize("start", [".../.x./...", pytest.param(EMPTY, marks=pytest.mark.proof)])
def test_agents_of_the_type_a_spec_play_equally_well_with_falling_node_counts(start: str) -> None:
    """Every game is a draw. Minimax visits the most positions, and Type A Plus the fewest."""
    keys = keys_of("type-a.yaml", positions=[start])
    del keys["rounds"]
    board = Leaderboard.of_results(run(keys))[0]
    assert all(row["draws"] == row["games"] == 6 for row in board.rows)
    nodes = {agent: row["nodes_per_move"] for agent, row in rows(board).items()}
    assert nodes["minimax"] > 5 * nodes["alpha-beta"]
    assert nodes["minimax"] > (5 if start == EMPTY else 1) * nodes["type-a"]
    assert nodes["type-a"] > 5 * nodes["type-a-plus"]


def test_the_tile_game_gives_three_tables_and_a_summary_in_asciidoc() -> None:
    """Each table has a caption and a frame. On every board, lookahead solves the most positions, the random walk the fewest."""
    results = run(keys_of("tile-game.yaml", rounds=15))
    boards = Leaderboard.of_results(results)
    text = render(results, boards, "asciidoc")
    assert text.count("|====") == 8
    for shuffle in (20, 50, 100):
        assert f".Results from comparing search techniques: sliding-tiles (shuffle={shuffle})\n[cols=" in text
    for board in boards:
        solved = {agent: row["solved"] for agent, row in rows(board).items()}
        assert solved["Lookahead"] > solved["Heuristic"] > solved["Random"]


def test_perfect_play_never_loses_in_the_round_robin_of_the_readme() -> None:
    """Random play comes last."""
    board = Leaderboard.of_results(run(keys_of("tic-tac-toe.yaml", rounds=4)))[0]
    assert board.rows[-1]["agent"] == "random"
    assert rows(board)["perfect"]["losses"] == 0


@pytest.mark.proof
def test_a_star_is_optimal_on_all_positions_of_the_eight_puzzle_spec() -> None:
    """On each of the 100 positions, A* needs as many slides as breadth-first search from the goal finds."""
    keys = yaml.safe_load((TOURNAMENTS / "seeds" / "eight-puzzle.yaml").read_text("utf-8"))
    puzzle = SlidingTiles()
    exact = distances(puzzle, puzzle.goal)
    records = run({**keys, "agents": keys["agents"][:2]}).records
    assert {record.labels for record in records} == {("a-star(manhattan)",), ("a-star(misplaced)",)}
    assert len({record.position for record in records}) > 99
    assert len(records) == 200
    assert all(record.cost == exact[puzzle.parse_state(record.position)] for record in records)
