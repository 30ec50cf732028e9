"""Test 2048 against a naive implementation that slides tile by tile, and against open_spiel."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from arena import SpecError, heuristic
from arena.spec import load_spec
from arena.testing import Violation, check_heuristic
from arena_games.twenty_forty_eight import DIRECTIONS, Snake, TwentyFortyEight, slide
from tests.games.game_tree import check_state, random_match, start

Grid = list[list[int]]
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def slide_tiles(grid: Grid, direction: str) -> tuple[Grid, int]:
    """Move tiles cell by cell, nearest to the edge first. A merged tile does not merge again. Return the grid and the gain."""
    down, right = STEPS[direction]
    grid, fresh, gained = [row[:] for row in grid], set(), 0
    cells = [(r, c) for r in range(len(grid)) for c in range(len(grid[0]))]
    for r, c in sorted(cells, key=lambda cell: -(cell[0] * down + cell[1] * right)):
        tile, place = grid[r][c], (r, c)
        while tile:
            nr, nc = place[0] + down, place[1] + right
            if not (0 <= nr < len(grid) and 0 <= nc < len(grid[0])):
                break
            if grid[nr][nc] == 0:
                grid[nr][nc], grid[place[0]][place[1]] = tile, 0
                place = (nr, nc)
                continue
            if grid[nr][nc] == tile and (nr, nc) not in fresh:
                grid[nr][nc], grid[place[0]][place[1]] = 2 * tile, 0
                fresh.add((nr, nc))
                gained += 2 * tile
            break
    return grid, gained


@pytest.mark.parametrize(
    "parameters", [{}, {"rows": 3, "columns": 5}, {"rows": 1, "columns": 2}, {"rows": 2, "columns": 2}, {"rows": 5}]
)
def test_random_games_agree_with_a_naive_implementation(parameters: dict[str, int]) -> None:
    """The legal directions, the tiles, the score and the chance outcomes of each state are compared."""
    game = TwentyFortyEight(**parameters)
    for seed in range(2):
        for state, action in random_match(game, seed):
            check_state(game, state)
            grid = [list(row) for row in state[0]]
            assert list(game.standing(state)) == [state[1]]
            if state[2]:
                empty = [f"r{r}c{c}" for r, row in enumerate(grid, 1) for c, tile in enumerate(row, 1) if not tile]
                expected = {f"{cell}={tile}": share / len(empty) for cell in empty for tile, share in ((2, 0.9), (4, 0.1))}
                assert dict(game.chance_outcomes(state)) == pytest.approx(expected)
                continue
            assert list(game.actions(state)) == [direction for direction in STEPS if slide_tiles(grid, direction)[0] != grid]
            if action is None:
                assert list(game.returns(state)) == [state[1]]
                break
            moved, gained = slide_tiles(grid, action)
            assert game.result(state, action) == (tuple(map(tuple, moved)), state[1] + gained, 1)


def test_random_games_agree_with_open_spiel(pyspiel: Any) -> None:
    """Boards, chance outcomes, successors, ends and scores agree. open_spiel omits some legal actions, because it treats a tile
    merged in the previous move as one that cannot merge again. It still plays these actions as here, and lists no others.
    """
    game, spiel = TwentyFortyEight(), pyspiel.load_game("2048(max_tile=131072)")
    directions = {"up": 0, "right": 1, "down": 2, "left": 3}
    for seed in range(15):
        theirs = spiel.new_initial_state()
        for state, action in random_match(game, seed):
            assert game.is_terminal(state) == theirs.is_terminal()
            if action is None:
                assert list(game.returns(state)) == theirs.returns()
                break
            if state[2]:
                names = {theirs.action_to_string(one): one for one in theirs.legal_actions()}
                cells = [one[1:].replace("c", "=").split("=") for one in game.actions(state)]
                assert set(names) == {f"{tile} added to row {row}, column {column}" for row, column, tile in cells}
                row, column, tile = action[1:].replace("c", "=").split("=")
                theirs = theirs.child(names[f"{tile} added to row {row}, column {column}"])
            else:
                assert set(theirs.legal_actions()) <= {directions[one] for one in game.actions(state)}
                after = {one: theirs.child(directions[one]) for one in game.actions(state)}
                for one, child in after.items():
                    assert str(child).split() == [str(tile) for row in game.result(state, one)[0] for tile in row]
                theirs = after[action]


@pytest.mark.parametrize(
    ("line", "slid", "gained"),
    [
        ((2, 2, 2, 2), (4, 4, 0, 0), 8),
        ((4, 2, 2, 0), (4, 4, 0, 0), 4),
        ((2, 2, 4, 8), (4, 4, 8, 0), 4),
        ((2, 0, 0, 2), (4, 0, 0, 0), 4),
        ((2, 2, 2, 0), (4, 2, 0, 0), 4),
        ((0, 0, 0, 2), (2, 0, 0, 0), 0),
    ],
)
def test_a_tile_merges_once_in_a_move(line: tuple[int, ...], slid: tuple[int, ...], gained: int) -> None:
    assert slide(line) == (slid, gained)


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (1, 5), (2, 2), (3, 2)])
def test_the_game_ends_when_no_direction_changes_the_board(rows: int, columns: int) -> None:
    """All boards of empty cells and the tiles 2 and 4 are tried."""
    game = TwentyFortyEight(rows=rows, columns=columns)
    for tiles in product((0, 2, 4), repeat=rows * columns):
        board = tuple([tiles[first : first + columns] for first in range(0, len(tiles), columns)])
        stuck = all(game.result((board, 0, 0), direction)[0] == board for direction in DIRECTIONS)
        assert game.is_terminal((board, 0, 0)) == stuck
        assert not game.is_terminal((board, 0, 1))


def test_two_tiles_appear_before_the_first_move() -> None:
    game = TwentyFortyEight(rows=2, columns=3)
    state = game.result(game.result(start(game), "r1c2=4"), "r2c3=2")
    assert game.format_state(start(game)) == "0,0,0/0,0,0 0 +2"
    assert game.format_state(state) == "0,4,0/0,0,2 0"
    assert list(game.actions(state)) == ["up", "down", "left", "right"]
    assert game.render(game.result(state, "right")) == ". . 4\n. . 2\nscore 0"


def test_snake_adds_tiles_with_halving_weights_to_the_score() -> None:
    game = TwentyFortyEight(rows=2, columns=3)
    value = Snake(game)(game.parse_state("64,32,0/2,0,16 100"))
    assert value == 100 + 64 + 32 / 2 + 16 / 8 + 2 / 32


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "as in 0,0,2"),
        ("0,0/0,0 0 +1 a", "as in 0,0,2"),
        ("0,0/0,0 0 1 +1", "2 rows of 2 tiles, then the score"),
        ("0,x/0,0 0", "as in 0,0,2"),
        ("0,0,0/0,0,0 0", "2 rows of 2 tiles"),
        ("0,3/0,0 0", "power of 2 that is at least 2, got 3"),
        ("0,1/0,0 0", "power of 2 that is at least 2, got 1"),
        ("0,2/0,0 -1", "a score of at least 0"),
        ("0,2/0,0 0 +3", "at most 2 tiles to come"),
        ("4,2/8,2 0 +1", "for which there is room"),
    ],
)
def test_invalid_state_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        TwentyFortyEight(rows=2, columns=2).parse_state(text)


def test_a_board_without_room_for_two_tiles_is_refused() -> None:
    with pytest.raises(ValueError, match="room for two tiles"):
        TwentyFortyEight(rows=1, columns=1)


def test_a_spec_may_name_2048_as_a_number_or_as_text(tmp_path: Path) -> None:
    """YAML parses `2048` as a number. Other types are refused."""
    texts = ["game: 2048", "game: '2048'", "games: [2048]", "game: {name: 2048}", "game: {name: '2048', rows: 4}"]
    specs = []
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.yaml").write_text(f"agents: [random]\n{text}\n")
        specs.append(load_spec(tmp_path / f"{number}.yaml"))
    assert {spec.boards[0].name for spec in specs} == {"2048"}
    assert all(spec.boards[0].parameters == {"rows": 4, "columns": 4} for spec in specs)
    with pytest.raises(SpecError, match="game: expected text or a mapping, got true"):
        load_spec({"game": True, "agents": ["random"]})


def test_snake_stays_within_the_range_of_returns() -> None:
    """Returns have no upper bound. The check of heuristics finds a value below the lower bound."""
    game = TwentyFortyEight(rows=2, columns=3)
    assert check_heuristic(Snake, game, matches=2) == ("range", "repeats")
    with pytest.raises(Violation, match=r"expected: within \[0.0, inf\]"):
        check_heuristic(negative, game, matches=1)


@heuristic("negative", game="2048")
def negative(game: TwentyFortyEight, state: Any, player: int = 0) -> float:
    """Return a value below the range of returns."""
    return -1.0
