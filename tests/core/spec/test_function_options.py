"""Options of heuristics that are functions: their keyword-only parameters."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.errors import SpecError

PLUGIN = '''
from arena import heuristic, hookimpl

CALLED = set()

@heuristic("corners", game="tic-tac-toe")
def corners(game, state, player=0, *, weight: float = 0.1, steep: bool = False):
    """Worth of a state by its corners."""
    if (weight, steep) != (0.25, True):
        raise RuntimeError(f"called with {weight} and {steep}")
    return weight

@hookimpl
def arena_heuristics():
    return [corners]
'''


def spec(folder: Path, heuristic: object) -> dict[str, object]:
    plugin = folder / "corners.py"
    plugin.write_text(PLUGIN)
    agents = [{"agent": "greedy", "heuristic": heuristic}, "random"]
    return {"game": "tic-tac-toe", "rounds": 1, "plugins": [str(plugin)], "agents": agents}


def test_a_heuristic_that_is_a_function_gets_its_options(tmp_path: Path) -> None:
    given = {"name": "corners", "weight": 0.25, "steep": True}
    results = arena.run(spec(tmp_path, given))
    assert {record.termination for record in results.records} == {"normal"}
    plain = arena.run(spec(tmp_path, "corners"))
    assert {record.termination for record in plain.records} == {"exception"}
    assert {record.id for record in plain.records}.isdisjoint(record.id for record in results.records)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "corners", "wieght": 1}, r"heuristic\.wieght: unknown key; did you mean 'weight'"),
        ({"name": "corners", "weight": "much"}, r"heuristic\.weight: expected a number"),
        ({"name": "corners", "player": 1}, r"heuristic\.player: unknown key"),
    ],
)
def test_unknown_options_of_a_function_are_refused(given: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=said):
        arena.run(spec(tmp_path, given))


def test_show_lists_the_options_of_a_function(tmp_path: Path) -> None:
    spec(tmp_path, "corners")
    printed = CliRunner().invoke(cli, ["show", "--plugin", str(tmp_path / "corners.py"), "corners"]).output
    assert "weight: number; default 0.1" in printed
    assert "player" not in printed.split("parameters:")[1]
