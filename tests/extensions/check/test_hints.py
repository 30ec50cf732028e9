"""Type hints of options: those that exist only for type checkers are reported, except where arena never reads them."""

from pathlib import Path

import pytest

from arena.api.spec import Parameters
from tests.conftest import Arena

PLUGIN = """
from typing import TYPE_CHECKING
from arena import Agent, heuristic, hookimpl

if TYPE_CHECKING:
    from decimal import Decimal
    from somewhere import State

@heuristic("lead", game="tic-tac-toe")
def lead(game, state: "State", player: int = 0, *, weight: "{hint}" = 0.1):
    return weight * (1 if player == 0 else -1) * (game.format_state(state).count("x") - game.format_state(state).count("o")) / 9

class Plain(Agent):
    name = "plain"
    def __init__(self, *, bonus: "{hint}" = 1, depth: int = 1):
        pass
    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_heuristics():
    return [lead]

@hookimpl
def arena_agents():
    return [Plain]
"""


@pytest.mark.parametrize("name", ["lead", "plain"])
def test_a_type_hint_of_an_option_that_exists_only_for_type_checkers_is_a_fault(arena: Arena, tmp_path: Path, name: str) -> None:
    (tmp_path / "hints.py").write_text(PLUGIN.replace("{hint}", "Decimal"))
    done = arena("check", name, "--plugin", "hints.py", "--game", "tic-tac-toe", "--matches", "1")
    (line,) = [line for line in done.stdout.splitlines() if "type hint" in line]
    option, at = {"lead": ("weight", 9), "plain": ("bonus of __init__", 15)}[name]
    assert line.startswith(f"  FAILED  type hint of {option} (")
    assert f"hints.py:{at}): NameError: name 'Decimal' is not defined" in line
    assert line.endswith("; arena reads type hints at run time, so import the name outside `if TYPE_CHECKING`")
    assert done.returncode == 1


def test_type_hints_of_parameters_that_arena_passes_are_not_evaluated(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "hints.py").write_text(PLUGIN.replace("{hint}", "float"))
    done = arena("check", "lead", "--plugin", "hints.py", "--matches", "1")
    assert "heuristic tic-tac-toe lead: ok" in done.stdout
    assert "type hint" not in done.stdout


@pytest.mark.unit
def test_an_option_is_accepted_even_if_the_hint_of_another_parameter_cannot_be_evaluated() -> None:
    def estimate(game: "Nowhere", state: object, *, weight: "float" = 1.0) -> float:  # type: ignore[name-defined] # noqa: F821
        return weight

    faults: list[str] = []
    found = Parameters(estimate).validate(
        {"weight": "x"}, (), lambda path, message: faults.append(f"{path[0]}: {message}"), skip=2
    )
    assert (found, faults) == (None, ["weight: expected a number, got 'x'"])
