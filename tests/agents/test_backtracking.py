"""Test backtracking against counts from Wirth's program, a recursive search and a known Sudoku."""

import random
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from arena import Limits, Puzzle, play, run
from arena_agents.backtracking import Backtracking
from arena_games.sudoku import Sudoku

PLACED = {4: 8, 5: 5, 6: 31, 7: 9, 8: 113, 9: 41, 10: 102}
"""The number of queens that N. Wirth's program places, column by column, until it finds the first solution."""
AL_ESCARGOT = "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3.."


class Queens(Puzzle):
    """N queens whose columns may be filled in any order. A state has the row of each column, or 0 if it has no queen yet."""

    name = "any-queens"
    path_matters: ClassVar[bool] = False

    def __init__(self, *, n: int = 8) -> None:
        self.n = n

    def initial(self, rng: random.Random) -> tuple[int, ...]:
        return (0,) * self.n

    def variables(self, state: tuple[int, ...]) -> Sequence[Sequence[tuple[int, int]]]:
        queens = [(column, row) for column, row in enumerate(state) if row]
        return [
            [
                (column, row)
                for row in range(1, self.n + 1)
                if all(row != other and abs(row - other) != abs(column - place) for place, other in queens)
            ]
            for column in range(self.n)
            if not state[column]
        ]

    def actions(self, state: tuple[int, ...]) -> Sequence[tuple[int, int]]:
        return next(iter(self.variables(state)), ())

    def result(self, state: tuple[int, ...], action: tuple[int, int]) -> tuple[int, ...]:
        return (*state[: action[0]], action[1], *state[action[0] + 1 :])

    def is_goal(self, state: Any) -> bool:
        return all(state)


def count_by_recursion(puzzle: Queens, state: tuple[int, ...], *, most_constrained: bool, checking: bool) -> tuple[bool, int]:
    """Return whether a solution can be reached from a state, and how many values a recursive search tries."""
    if puzzle.is_goal(state):
        return True, 0
    left = puzzle.variables(state)
    if checking and any(not values for values in left):
        return False, 0
    sizes = [len(values) for values in left]
    tried = 0
    for value in left[sizes.index(min(sizes)) if most_constrained else 0]:
        found, below = count_by_recursion(
            puzzle, puzzle.result(state, value), most_constrained=most_constrained, checking=checking
        )
        tried += 1 + below
        if found:
            return True, tried
    return False, tried


@pytest.mark.parametrize(("n", "placed"), PLACED.items())
def test_plain_backtracking_generates_as_many_nodes_as_wirths_program(n: int, placed: int) -> None:
    record = play(Queens(n=n), Backtracking(order="first", forward_checking=False))
    assert record.solved
    assert record.decisions[0].nodes == placed
    assert record.decisions[0].spent == {"expanded": placed}, "the empty board, and all placed queens but the last one"


@pytest.mark.parametrize("order", ["first", "most-constrained"])
@pytest.mark.parametrize("checking", [True, False])
@pytest.mark.parametrize("n", [3, 4, 6, 7, 8, 12])
def test_nodes_equal_the_values_tried_by_a_recursive_search(order: Any, checking: bool, n: int) -> None:
    record = play(Queens(n=n), Backtracking(order=order, forward_checking=checking))
    found, tried = count_by_recursion(Queens(n=n), (0,) * n, most_constrained=order == "most-constrained", checking=checking)
    assert (record.solved, record.decisions[0].nodes) == (found, tried)


def test_a_spec_can_sweep_over_two_variable_orders() -> None:
    spec = {
        "game": {"name": "sudoku", "box": 2},
        "rounds": 3,
        "agents": [{"agent": "backtracking", "order": {"sweep": ["most-constrained", "first"]}}],
        "limits": {"nodes": 100_000},
    }
    board = run(spec).leaderboard()
    solved = dict(zip(board["agent"], board["solved"], strict=True))
    assert solved == {"backtracking(order=most-constrained)": 1.0, "backtracking(order=first)": 1.0}


def test_backtracking_solves_a_hard_sudoku() -> None:
    """Each empty cell is a variable. Its values are the digits that occur in none of its peers."""
    game = Sudoku()
    variables = game.variables(game.parse_state(AL_ESCARGOT))
    assert len(variables) == AL_ESCARGOT.count(".")
    assert [game.format_action(0, action) for action in variables[0]] == ["r1c2=2", "r1c2=5", "r1c2=6", "r1c2=8"]
    record = play(game, Backtracking(), position=AL_ESCARGOT, limits=Limits(nodes=1_000_000))
    assert record.solved
