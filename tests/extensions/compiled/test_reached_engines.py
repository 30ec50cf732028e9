"""Compiled searches without a heuristic agree with plain ones, for states as tuples and for states that are changed in place."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import arena
from arena import Puzzle
from arena.compiled import Grid, NotCompilable, Rules
from arena_agents.best_first import AStar, BreadthFirst
from arena_agents.depth_first import DepthFirst, IterativeDeepening
from arena_compiled import seam
from arena_games.n_queens import NQueens
from arena_games.sliding_tiles import SlidingTiles
from arena_games.sudoku import Sudoku
from arena_games.sudoku_rules import SudokuRules

Twice = Callable[..., Any]

HARD = "4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......"
"""This sudoku with 17 givens is known as a hard one."""
AGENTS = [
    BreadthFirst(),
    DepthFirst(),
    DepthFirst(depth=9),
    DepthFirst(visited=False, depth=14),
    IterativeDeepening(),
]


def named(agent: Any) -> str:
    return f"{agent.name}{'' if getattr(agent, 'visited', True) else '-path'}{getattr(agent, 'depth', None) or ''}"


def compare_under_limits(twice: Twice, agent: Any, game: Puzzle, state: Any, most: int) -> Any:
    """Compare decisions under a large node limit and under limits from 1 up. Return the first outcome."""
    outcome = twice(agent, game, state, None, {"nodes": most})
    total = outcome.nodes
    for nodes in sorted({*range(1, 12), 64, 129, total - 1, total, total + 1} - {0}):
        if nodes <= most:
            assert twice(agent, game, state, None, {"nodes": nodes}).nodes == min(nodes, total)
    return outcome


@pytest.mark.parametrize("agent", AGENTS, ids=named)
def test_compiled_and_plain_searches_of_sliding_tiles_agree(twice: Twice, agent: Any) -> None:
    """The position is one of 116 that are 8 slides from the goal."""
    game = SlidingTiles()
    state = game.parse_state("2 4 3 / 1 6 8 / 7 5 .")
    found = compare_under_limits(twice, agent, game, state, 4_000).found
    if agent.name in ("bfs", "iterative-deepening"):
        assert len(found.actions) == 8


@pytest.mark.parametrize("agent", AGENTS, ids=named)
@pytest.mark.parametrize("game", [NQueens(n=6), NQueens(n=5, actions="all"), NQueens(n=4)], ids=["safe", "all", "none"])
def test_compiled_and_plain_searches_of_queens_agree(twice: Twice, agent: Any, game: NQueens) -> None:
    """The path is the first of the four solutions of 6 queens. With 4 queens, no solution has a queen in a corner."""
    found = compare_under_limits(twice, agent, game, game.parse_state("1" if game.n == 4 else "-"), 10_000).found
    if game.n == 6:
        assert tuple(found.actions) == (2, 4, 6, 1, 3, 5)
    if game.n == 4:
        assert found is None
    twice(agent, game, game.parse_state("1 1 3"))  # these queens attack each other


@pytest.mark.parametrize("cell", ["most-constrained", "first"])
@pytest.mark.parametrize("agent", AGENTS, ids=named)
def test_compiled_and_plain_searches_of_sudoku_agree(twice: Twice, agent: Any, cell: Any) -> None:
    """The grids have all sizes that are generated quickly."""
    for box, seeds in ((1, 1), (2, 3), (3, 2)):
        game = Sudoku(box=box, cell=cell)
        for seed in range(seeds):
            compare_under_limits(twice, agent, game, game.initial(random.Random(seed)), 60 if seed else 900)


def test_compiled_and_plain_searches_of_hard_and_large_sudokus_agree(twice: Twice) -> None:
    """The digits of a cell are tried in the order of the plain game. A grid of 16 by 16 uses the same module."""
    game = Sudoku()
    path = twice(DepthFirst(), game, game.parse_state(HARD), None).found
    state = game.parse_state(HARD)
    for action in path.actions:
        state = game.result(state, action)
    assert game.is_answer(game.parse_state(HARD), state)
    large = Sudoku(box=4, givens=150)
    twice(DepthFirst(), large, large.initial(random.Random(1)), None, {"nodes": 1_000})
    for text in (HARD.replace("4.....8.5", "4....98.5"), "12345678." + "." * 8 + "9" + "." * 63):  # these have no solution
        assert twice(DepthFirst(), game, game.parse_state(text), None, {"nodes": 500}).nodes <= 500


def same_box(one: int, other: int, box: int) -> bool:
    return (one // box**3, one % box**2 // box) == (other // box**3, other % box**2 // box)


@pytest.mark.parametrize("box", [1, 2, 3, 4, 5])
def test_bit_masks_of_sudoku_candidates_agree_with_the_grid(box: int) -> None:
    """The rules run uncompiled to the end of a random game on every size. Three loops compute the expected masks."""
    game = Sudoku(box=box, cell="most-constrained", givens=None if box < 4 else box**4)
    rules, rng = game.compiled(), random.Random(box)
    state = game.initial(rng)
    if box > 3:
        state = game.parse_state("".join(mark if rng.random() < 0.8 else "." for mark in game.format_state(state)))
    words = list(rules.encode(state))
    digits = game.list_digits(state)
    for cell, word in enumerate(words):
        row, column = divmod(cell, box * box)
        beside = {
            other for other in range(box**4) if other // box**2 == row or other % box**2 == column or same_box(other, cell, box)
        }
        seen = {digits[other] for other in beside}
        candidates = sum(1 << digit - 1 for digit in range(1, box * box + 1) if digit not in seen)
        assert word == (1 << digits[cell] - 1 if digits[cell] else candidates | 1 << box * box)
    while actions := game.actions(state):
        assert list(rules.actions(words)) == list(actions)
        action = rng.choice(actions)
        state = game.result(state, action)
        rules.apply(words, action)
        assert tuple(words) == rules.encode(state)
        assert rules.is_goal(words) == game.is_goal(state)
    assert list(rules.actions(words)) == []


@pytest.mark.parametrize("agent", [DepthFirst(), BreadthFirst(), IterativeDeepening()], ids=named)
@pytest.mark.parametrize("game", [Sudoku(), NQueens(), SlidingTiles(rows=2)], ids=lambda game: game.name)
def test_compiled_and_plain_attempts_have_the_same_record(same: Callable[..., arena.Record], game: Puzzle, agent: Any) -> None:
    """The record of the referee is compared, even if the budget ends the search."""
    for nodes in (40, 20_000):
        same(game, agent, limits={"nodes": nodes, "moves": 5_000})


def test_searches_agree_on_states_that_are_reached_again_by_a_shorter_path(same: Callable[..., arena.Record]) -> None:
    """Without a depth limit, such states are ignored. With a depth limit, they are expanded again."""
    for agent in (DepthFirst(), DepthFirst(depth=60)):
        same(SlidingTiles(rows=2), agent, seed=4, limits={"moves": 5_000, "nodes": 5_000})


def test_a_search_that_needs_tuples_runs_plain_if_states_are_changed_in_place(compiling: None) -> None:
    with pytest.raises(NotCompilable, match="changed in place, which only bfs, dfs and iterative-deepening support"):
        seam.load_loop(Sudoku(), None, "a-star", compiling=True)
    assert set(arena.play(Sudoku(), AStar(), limits={"nodes": 300}).timing or ()) == {"plain", "plain_seconds"}


class Jugs(Puzzle):
    """Two jugs hold 5 and 3 litres, and the goal is 4 litres. Many paths lead to the same states."""

    name = "jugs"

    def initial(self, rng: Any) -> Any:
        return "0 0"

    def actions(self, state: Any) -> Any:
        return range(6)

    def result(self, state: Any, action: int) -> Any:
        left, right = map(int, state.split())
        moved = min(left, 3 - right) if action == 4 else -min(right, 5 - left) if action == 5 else 0
        filled = {0: (5, right), 1: (left, 3), 2: (0, right), 3: (left, 0)}.get(action, (left - moved, right + moved))
        return f"{filled[0]} {filled[1]}"

    def is_goal(self, state: Any) -> bool:
        return bool(state == "4 0")

    def compiled(self) -> Rules:
        return JugsRules()


class JugsRules(Grid):
    """The rules of the jugs, with states that are changed in place."""

    words, width, players = 2, 6, 1

    def encode(self, state: Any) -> Any:
        return tuple(map(int, state.split()))

    def actions(self, state: Any) -> Any:
        yield from range(6)

    def is_goal(self, state: Any) -> bool:
        return bool(state[0] == 4 and state[1] == 0)

    def apply(self, state: Any, action: int) -> None:
        moved = 0
        if action == 4:
            moved = min(state[0], 3 - state[1])
        elif action == 5:
            moved = -min(state[1], 5 - state[0])
        state[0] -= moved
        state[1] += moved
        if action in (0, 2):
            state[0] = 5 if action == 0 else 0
        if action in (1, 3):
            state[1] = 3 if action == 1 else 0


@pytest.mark.parametrize("agent", [DepthFirst(), DepthFirst(depth=8)], ids=named)
def test_searches_agree_on_a_puzzle_of_a_plugin_whose_states_repeat(twice: Twice, agent: Any) -> None:
    """The solution takes six steps and then empties the small jug."""
    found = compare_under_limits(twice, agent, Jugs(), "0 0", 10_000).found
    assert 7 <= len(found.actions) <= (agent.depth or 16)


class Lost(SudokuRules):
    """Rules of sudoku that forget the box."""

    def apply(self, state: Any, action: int) -> None:
        state[action // self.digits] = 1 << action % self.digits


class LostSudoku(Sudoku):
    """A sudoku with rules that differ from the game."""

    def compiled(self) -> SudokuRules:
        return Lost(self.box, self.grid.unit_cells(), first=self.first)


def test_wrong_rules_that_change_a_state_in_place_are_found(compiling: None) -> None:
    with pytest.raises(NotCompilable, match="result of"):
        seam.load_loop(LostSudoku(), None, "dfs", compiling=True)
