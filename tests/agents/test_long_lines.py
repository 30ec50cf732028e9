"""Test searches of games with recurring states and of games with long forced lines."""

from collections.abc import Sequence
from random import Random
from typing import Any, ClassVar

import pytest

import arena
from arena import Agent, Game
from arena.spec import limit_warnings, load_spec
from arena_agents.alpha_beta import AlphaBeta
from arena_agents.full_width import Minimax


class Ring(Game):
    """A token moves one or two cells around a ring of seven cells. The game never ends."""

    name = "ring"
    players = 2
    length: ClassVar = 7

    def initial(self, rng: Random) -> Any:
        return (0, 0)

    def to_move(self, state: Any) -> int:
        return int(state[1])

    def actions(self, state: Any) -> Sequence[int]:
        return (1, 2)

    def result(self, state: Any, action: int) -> Any:
        return ((state[0] + action) % self.length, 1 - state[1])

    def is_terminal(self, state: Any) -> bool:
        return False

    def returns(self, state: Any) -> Sequence[float]:
        return (0.0, 0.0)


class Corridor(Game):
    """The first move chooses a side, and 3,000 forced moves follow. The right side wins for the first seat."""

    name = "corridor"
    players = 2

    def initial(self, rng: Random) -> Any:
        return (0, 0)

    def to_move(self, state: Any) -> int:
        return int(state[0]) % 2

    def actions(self, state: Any) -> Sequence[int]:
        return (0, 1) if state[0] == 0 else (state[1],)

    def result(self, state: Any, action: int) -> Any:
        return (state[0] + 1, action)

    def is_terminal(self, state: Any) -> bool:
        return bool(state[0] > 3_000)

    def returns(self, state: Any) -> Sequence[float]:
        return (1.0, -1.0) if state[1] else (-1.0, 1.0)


PLUGIN = """
from arena import hookimpl
from tests.agents.test_long_lines import Ring

@hookimpl
def arena_games():
    return [Ring]
"""


@pytest.mark.parametrize(
    "agent", [Minimax(), AlphaBeta(), AlphaBeta(table=True)], ids=lambda one: f"{one.name}-{vars(one)['depth']}"
)
def test_a_forced_line_of_3_000_plies_is_searched(agent: Agent) -> None:
    """The match has a limit of one move, so only the first decision is played."""
    record = arena.play(Corridor(), [agent, "random"], limits={"moves": 1})
    assert record.actions == ("1",)


@pytest.mark.parametrize("agent", [Minimax(), AlphaBeta()], ids=lambda one: one.name)
def test_an_endless_line_ends_with_an_error_that_suggests_a_limit(agent: Agent) -> None:
    record = arena.play(Ring(), [agent, "random"])
    assert record.termination == "exception"
    assert "RecursionError" in (record.message or "")
    assert "set a limit of depth or nodes" in (record.message or "")


def test_a_warning_says_that_a_line_may_never_end(tmp_path: Any) -> None:
    """The warning is given for each search without a limit, and not for an agent with a depth."""
    file = tmp_path / "ring.py"
    file.write_text(PLUGIN)
    agents = ["random", "minimax", "alpha-beta", {"agent": "alpha-beta", "depth": 4, "label": "four"}]
    warnings = list(limit_warnings(load_spec({"game": "ring", "rounds": 1, "agents": agents}, plugins=[str(file)])))
    advice = "but its states recur, so a line may never end; write limits: {nodes: 100000} or limits: {depth: 4}"
    assert [one.partition(": ")[2] for one in warnings] == [
        f"agents[{seat}]: {name} has no limit and searches ring to the end, {advice}"
        for seat, name in ((1, "minimax"), (2, "alpha-beta"))
    ]
