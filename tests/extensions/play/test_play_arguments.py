"""`arena.play` names an argument of the wrong type, and says what it expects."""

from typing import Any

import pytest

import arena
from arena_games.tic_tac_toe import TicTacToe

RandomAgent = arena.load_plugins().agent("random")


@pytest.mark.parametrize("seed", [None, 1.5, -1, "a", True])
def test_a_seed_must_be_a_whole_number_of_at_least_0(seed: Any) -> None:
    with pytest.raises(ValueError if seed == -1 else TypeError, match=r"^seed: expected a whole number of at least 0, got "):
        arena.play("tic-tac-toe", ["random", "random"], seed=seed)


@pytest.mark.parametrize("wrong", [RandomAgent, len, 5, None, ("random",), 3.4])
def test_an_agent_must_be_an_instance_a_name_or_a_mapping(wrong: Any) -> None:
    hint = r"write \w+\(\) to make an instance$" if wrong is RandomAgent else ""
    with pytest.raises(TypeError, match=rf"^agent: expected an instance, a name or a mapping, got .*{hint}"):
        arena.play("tic-tac-toe", [wrong, "random"])


@pytest.mark.parametrize("wrong", [TicTacToe, len, 5, None])
def test_a_game_must_be_an_instance_a_name_or_a_mapping(wrong: Any) -> None:
    hint = r"write TicTacToe\(\) to make an instance$" if wrong is TicTacToe else ""
    with pytest.raises(TypeError, match=rf"^game: expected an instance, a name or a mapping, got .*{hint}"):
        arena.play(wrong, ["random", "random"])


@pytest.mark.parametrize("wrong", [RandomAgent, 5, None])
def test_agents_must_be_a_list(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^agents: expected a list with an agent for each seat, got "):
        arena.play("tic-tac-toe", wrong)
