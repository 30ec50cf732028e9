"""The games of docs/examples: their rules against a paper and against theorems, and all that `arena check` asks."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena import Game, load_plugins, play
from arena.testing import check_game, check_heuristic

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
REGISTRY = load_plugins([EXAMPLES / "kalah.py", EXAMPLES / "hex.py"])
Kalah: Any = REGISTRY.game("kalah")
Hex: Any = REGISTRY.game("hex")


def worth(game: Game, state: Any, known: dict[Any, float]) -> float:
    """What a state is worth to the first seat, by minimax over all that can follow."""
    if game.is_terminal(state):
        return game.returns(state)[0]
    if state not in known:
        wins = 1.0 if game.to_move(state) == 0 else -1.0
        best = -wins
        for action in game.actions(state):
            best = max(best * wins, worth(game, game.result(state, action), known) * wins) * wins
            if best == wins:
                break
        known[state] = best
    return known[state]


def start(game: Game) -> Any:
    return game.initial(random.Random(0))


@pytest.mark.parametrize("game", [Kalah, Kalah(pits=2, stones=3), Hex, Hex(size=4)])
def test_they_are_sound(game: Any) -> None:
    check_game(game, matches=5)


def test_the_heuristic_of_kalah_is_sound() -> None:
    check_heuristic(REGISTRY.heuristic("kalah", "lead"), Kalah, matches=5)


@pytest.mark.parametrize(("pits", "values"), [(1, "D L W L W D"), (2, "W L L L W W"), (3, "D W W W")])
def test_kalah_is_worth_what_the_paper_says(pits: int, values: str) -> None:
    """Win, draw or loss of the first seat with 1, 2, 3, ... stones a pit (Irving, Donkers, Uiterwijk 2000, table of values)."""
    boards = [Kalah(pits=pits, stones=stones) for stones in range(1, len(values.split()) + 1)]
    assert [{1.0: "W", 0.0: "D", -1.0: "L"}[worth(game, start(game), {})] for game in boards] == values.split()


@pytest.mark.parametrize(("stones", "again"), [(4, 3), (5, 2), (6, 1)])
def test_the_only_first_move_that_ends_in_the_store_moves_again(stones: int, again: int) -> None:
    """From pit p the store is 7 - p holes away, so it is the pit with that many stones."""
    game = Kalah(stones=stones)
    after = {action: game.result(start(game), action) for action in game.actions(start(game))}
    assert list(after) == [1, 2, 3, 4, 5, 6]
    assert [action for action, state in after.items() if game.to_move(state) == 0] == [again]


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        ("1 0 0 0 0 5 (10) / 2 0 0 0 9 0 (21) a", "1", "0 0 0 0 0 5 (20) / 2 0 0 0 0 0 (21) b"),  # takes nine and its own
        ("1 0 0 0 0 5 (10) / 2 0 0 0 0 9 (21) a", "1", "0 1 0 0 0 5 (10) / 2 0 0 0 0 9 (21) b"),  # nothing lies opposite
        ("0 3 0 0 0 9 (10) / 1 1 1 1 1 1 (20) a", "6", "1 4 0 0 0 0 (11) / 2 2 2 2 2 2 (20) b"),  # past the other's store
        ("1 0 0 0 0 0 (20) / 13 0 0 0 0 0 (14) b", "1", "2 1 1 1 1 0 (20) / 0 1 1 1 1 1 (17) a"),  # once round, and takes two
        ("0 0 0 0 0 1 (24) / 3 0 0 0 0 0 (20) a", "6", "0 0 0 0 0 0 (25) / 0 0 0 0 0 0 (23) a"),  # the other side is swept
    ],
)
def test_stones_are_sown_as_by_hand(before: str, action: str, after: str) -> None:
    """Five moves followed with stones on a board."""
    game = Kalah()
    state = game.parse_state(before)
    assert game.format_state(game.result(state, game.parse_action(state, action))) == after


def neighbors(size: int, place: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The six cells around one that are on the board."""
    for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)):
        row, column = place[0] + down, place[1] + right
        if 0 <= row < size and 0 <= column < size:
            yield row, column


def joins(cells: set[tuple[int, int]], size: int, axis: int) -> bool:
    """Whether cells lead from one side to the opposite one, from neighbour to neighbour."""
    open_, seen = [place for place in cells if place[axis] == 0], set()
    while open_:
        place = open_.pop()
        seen.add(place)
        open_ += [other for other in neighbors(size, place) if other in cells and other not in seen]
    return any(place[axis] == size - 1 for place in seen)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 11])
def test_a_full_board_of_hex_has_exactly_one_winner(size: int) -> None:
    """There are no draws (D. Gale, The Game of Hex and the Brouwer Fixed-Point Theorem, 1979); who wins, a plain search says."""
    game, rng = Hex(size=size), random.Random(size)
    for _ in range(100):
        order = [(row, column) for row in range(size) for column in range(size)]
        rng.shuffle(order)
        x = set(order[: (len(order) + 1) // 2])
        bits = [sum(1 << row * (size + 1) + column for row, column in cells) for cells in (x, set(order) - x)]
        won = [game.joined(stones, seat) for seat, stones in enumerate(bits)]
        assert won == [joins(x, size, 0), joins(set(order) - x, size, 1)]
        assert sum(won) == 1


def test_as_many_ways_to_begin_as_there_are_cells_left() -> None:
    """Before somebody can have joined two sides, n plies on k cells are k! / (k - n)!."""
    game = Hex(size=4)
    states = [start(game)]
    for expected in (16, 16 * 15, 16 * 15 * 14):
        states = [game.result(state, action) for state in states for action in game.actions(state)]
        assert len(states) == expected


@pytest.mark.parametrize("size", [1, 2, 3])
def test_who_begins_wins_at_hex(size: int) -> None:
    """By Nash's argument of the stolen strategy."""
    game = Hex(size=size)
    assert worth(game, start(game), {}) == 1.0


def test_an_acute_corner_is_a_lost_opening() -> None:
    """In the corner where its own two sides' ends meet at 60 degrees a first stone loses, on every board from 2x2 on."""
    for size in (2, 3):
        game = Hex(size=size)
        for corner in ("a1", f"{'abc'[size - 1]}{size}"):
            assert worth(game, game.result(start(game), corner), {}) == -1.0


def test_positions_that_cannot_be_are_told() -> None:
    """Where the marks, their numbers or the size are wrong, or play went on after it was over."""
    game = Hex(size=2)
    for text, said in (("x./..", ""), ("xo/x.", ""), ("xo/xo", "x has joined"), ("oo/x.", "as many x as o"), ("...", "2 rows")):
        if said:
            with pytest.raises(ValueError, match=said):
                game.parse_state(text)
        else:
            assert game.format_state(game.parse_state(text)) == text


def test_they_play_in_a_match() -> None:
    """Agents that come with arena, under a budget."""
    for game in (Kalah(pits=3, stones=3), Hex(size=3)):
        assert play(game, ["mcts", "random"], seed=3, limits={"nodes": 300}).termination == "normal"
