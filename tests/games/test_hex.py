"""Test Hex against theorems, solved boards, open_spiel, and naive implementations that check cells one by one."""

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from arena import Game
from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.hex import Connection, Hex, Resistance
from tests.games.game_tree import play_beside, random_match, start


def wins(game: Hex, state: Any, known: dict[Any, bool]) -> bool:
    """Return whether the side to move wins, by a full search that tries promising moves first."""
    if state[2]:
        return False
    if state not in known:
        seat, needed = game.to_move(state), Connection(game)
        after = sorted([game.result(state, action) for action in game.actions(state)], key=lambda one: -needed(one, seat))
        known[state] = any(one[2] for one in after) or any(not wins(game, one, known) for one in after)
    return known[state]


@pytest.mark.parametrize("size", [1, 2, 3, pytest.param(4, marks=pytest.mark.proof)])
def test_the_first_player_wins(size: int) -> None:
    """This follows from J. Nash's strategy-stealing argument."""
    assert wins(Hex(size=size), (0, 0, 0), {})


class Prover:
    """Find the winner with bridges and must-play regions, for boards that are too large for `wins`.

    R. Hayward and others, Solving 7x7 Hex with Domination, Virtual Connections, and Graph-Theoretic Bounds, 2005: if the opponent
    wins after a move, and needs only some empty cells for it, every move elsewhere loses, too.
    """

    def __init__(self, game: Hex) -> None:
        self.game = game
        self.links = [self.find_links(seat) for seat in (0, 1)]
        self.known: dict[Any, tuple[bool, int, int]] = {}

    def find_links(self, seat: int) -> dict[int, list[tuple[int, int]]]:
        """Return the links from the first edge (-1) and each cell to cells and the second edge (-2), each with its empty cells.

        Neighbors need no empty cell. Two cells with two common neighbors form a bridge, and so do an edge and a cell beside two
        of its cells: if the opponent takes one of the two, the side takes the other.
        """
        size, number = self.game.size, {(cell // self.game.wide, cell % self.game.wide): cell for cell in self.game.places}
        beside = {place: set(neighbors(size, place)) for place in number}
        edges = [{place for place in number if place[seat] == end} for end in (0, size - 1)]
        found: dict[int, list[tuple[int, int]]] = {-1: [], **{cell: [] for cell in number.values()}}
        for place, cell in number.items():
            found[cell] += [(number[other], 0) for other in beside[place]]
            pairs = [(number[other], beside[place] & beside[other]) for other in set(number) - beside[place] - {place}]
            pairs += [(end, set() if place in edge else beside[place] & edge) for end, edge in zip((-1, -2), edges, strict=True)]
            for other, both in pairs:
                if len(both) == 2 or (other < 0 and place in edges[-1 - other]):
                    needs = sum(1 << number[one] for one in both)
                    found[cell if other != -1 else -1].append((other if other != -1 else cell, needs))
        return found

    def find_chain(
        self, seat: int, own: int, empty: int, node: int = -1, used: int = 0, seen: frozenset[int] = frozenset()
    ) -> int:
        """Return the empty cells of disjoint links from a node to the second edge, or -1 if there are no such links."""
        for other, needs in self.links[seat][node]:
            if needs & ~empty or needs & used:
                continue
            if other == -2:
                return used | needs
            if own >> other & 1 and other not in seen:
                found = self.find_chain(seat, own, empty, other, used | needs, seen | {other})
                if found >= 0:
                    return found
        return -1

    def count_stones(self, seat: int, own: int, empty: int) -> int:
        """Return the fewest further stones for a chain whose links may overlap. It only orders moves."""
        level, seen, stones = [-1], {-1}, 0
        while level:
            after = []
            for node in level:
                for other, needs in self.links[seat][node]:
                    if other == -2 and not needs & ~empty:
                        return stones
                    if other not in seen and other >= 0 and not needs & ~empty:
                        if own >> other & 1:
                            seen.add(other)
                            level.append(other)
                        elif empty >> other & 1:
                            after.append(other)
            level = list(set(after) - seen)
            seen |= set(level)
            stones += 1
        return self.game.size**2

    def prove(self, state: Any) -> tuple[bool, int, int]:
        """Return whether the side to move wins, the empty cells that the winner needs, and the winning move as a bit."""
        if state not in self.known:
            seat, stones = self.game.to_move(state), state[0] | state[1]
            empty = sum(1 << cell for cell in self.game.places) & ~stones
            found = (False, 0, 0) if state[2] else None
            if found is None and (cells := self.find_chain(1 - seat, state[1 - seat], empty)) >= 0:
                found = (False, cells, 0)
            after = {1 << action: self.game.result(state, action) for action in self.game.actions(state)}
            for move, one in after.items() if found is None else ():
                cells = 0 if one[2] else self.find_chain(seat, one[seat], empty & ~move)
                if cells >= 0:
                    found = (True, cells | move, move)
                    break
            self.known[state] = self._try_moves(seat, empty, after) if found is None else found
        return self.known[state]

    def _try_moves(self, seat: int, empty: int, after: dict[int, Any]) -> tuple[bool, int, int]:
        def lead(move: int) -> int:
            own, other = [self.count_stones(side, after[move][side], empty & ~move) for side in (seat, 1 - seat)]
            return own - other

        order, must, needed = sorted(after, key=lead), empty, 0
        while order := [move for move in order if move & must]:
            move = order.pop(0)
            lost, cells, reply = self.prove(after[move])
            if not lost:
                return True, cells | move, move
            must &= cells
            needed |= cells
            order.sort(key=lambda move: move != reply)  # the reply is often good for this side, too
        return False, needed, 0


@pytest.mark.parametrize("size", [2, 3, pytest.param(4, marks=pytest.mark.proof)])
def test_the_solver_of_this_test_agrees_with_a_full_search(size: int) -> None:
    """The positions after each opening and each reply include wins of both sides."""
    game, known = Hex(size=size), dict[Any, bool]()
    prover = Prover(game)
    openings = [game.result(start(game), action) for action in game.actions(start(game))]
    replies = [game.result(state, action) for state in openings for action in game.actions(state)]
    expected = {state: wins(game, state, known) for state in [*openings, *replies]}
    assert {state: prover.prove(state)[0] for state in expected} == expected
    assert size == 2 or {*expected.values()} == {True, False}


@pytest.mark.proof
def test_the_first_player_wins_on_5x5() -> None:
    """The first stone is placed in the middle."""
    game = Hex(size=5)
    prover = Prover(game)
    assert not prover.prove(game.result(start(game), game.parse_action(start(game), "c3")))[0]


@pytest.mark.parametrize("size", [2, 3])
def test_an_opening_in_an_acute_corner_loses(size: int) -> None:
    """A. Beck (Excursions into Mathematics, 1969) proves it from 2x2 on. The edges of both sides meet there at 60 degrees."""
    game, known = Hex(size=size), dict[Any, bool]()
    for corner in ("a1", f"{'abc'[size - 1]}{size}"):
        assert wins(game, game.result(start(game), game.parse_action(start(game), corner)), known)


def neighbors(size: int, place: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the up to six neighbors of a cell on the board."""
    for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)):
        row, column = place[0] + down, place[1] + right
        if 0 <= row < size and 0 <= column < size:
            yield row, column


def joins(cells: set[tuple[int, int]], size: int, axis: int) -> bool:
    """Return whether a path of neighboring cells joins two opposite sides."""
    waiting, seen = [place for place in cells if place[axis] == 0], set()
    while waiting:
        place = waiting.pop()
        seen.add(place)
        waiting += [other for other in neighbors(size, place) if other in cells and other not in seen]
    return any(place[axis] == size - 1 for place in seen)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 19])
def test_a_full_board_has_exactly_one_winner(size: int) -> None:
    """Hex has no draws (D. Gale, The Game of Hex and the Brouwer Fixed-Point Theorem, 1979). A plain search finds the winner."""
    game, rng = Hex(size=size), random.Random(size)
    for _ in range(50):
        order = [(row, column) for row in range(size) for column in range(size)]
        rng.shuffle(order)
        x = set(order[: (len(order) + 1) // 2])
        bits = [sum(1 << row * (size + 1) + column for row, column in cells) for cells in (x, set(order) - x)]
        won = [game.joins(stones, seat) for seat, stones in enumerate(bits)]
        assert won == [joins(x, size, 0), joins(set(order) - x, size, 1)]
        assert sum(won) == 1


@pytest.mark.parametrize("size", [3, 7, 11])
def test_random_matches_agree_with_open_spiel(size: int, pyspiel: Any) -> None:
    spiel, game = pyspiel.load_game(f"hex(board_size={size})"), Hex(size=size)
    for seed in range(10):
        play_beside(game, spiel, lambda _, action: [action // (size + 1) * size + action % (size + 1)], seed)


def test_stones_needed_is_the_smallest_number_of_stones_that_joins_the_sides() -> None:
    """All sets of empty cells are tried in random matches on 4x4, the smallest first."""
    game = Hex(size=4)
    needed = Connection(game)
    for seed in range(4):
        for state, action in random_match(game, seed):
            if action is None:
                break
            free = [cell for cell in game.places if not (state[0] | state[1]) >> cell & 1]
            for seat in (0, 1):
                joining = (
                    size
                    for size in range(len(free) + 1)
                    for added in combinations(free, size)
                    if game.joins(state[seat] | sum(1 << cell for cell in added), seat)
                )
                assert needed.stones_needed(state, seat) == next(joining, 16)


def test_resistance_agrees_with_a_solved_circuit() -> None:
    """The circuit is solved by a Laplacian over all cells. Own stones are nearly perfect conductors."""
    game = Hex(size=5)
    ohms = Resistance(game).ohms
    for seed in range(4):
        for state, action in random_match(game, seed):
            if action is None:
                break
            for seat in (0, 1):
                assert ohms(state, seat) == pytest.approx(resistance(game, state, seat), rel=1e-4)
    assert Resistance(Hex(size=1))((0, 0, 0)) == 0
    assert ohms(start(game), 0) == pytest.approx(ohms(start(game), 1))
    # By Kirchhoff's laws: b1 has 1/2 ohm to the top, a2 and b2 have 1 to the bottom, a2 1 to the stone, and 2 to each other.
    assert Resistance(Hex(size=2)).ohms((1, 0, 0), 0) == pytest.approx(7 / 6)


def resistance(game: Hex, state: Any, seat: int) -> float:
    size = game.size
    places = [(row, column) for row in range(size) for column in range(size)]
    ohm = [1e-6 if state[seat] >> cell & 1 else 1e7 if state[1 - seat] >> cell & 1 else 1.0 for cell in game.places]
    matrix = np.zeros((size * size + 2, size * size + 2))

    def link(one: int, other: int, ohms: float) -> None:
        matrix[[one, other], [one, other]] += 1 / ohms
        matrix[[one, other], [other, one]] -= 1 / ohms

    for number, place in enumerate(places):
        for beside in neighbors(size, place):
            if places.index(beside) > number:
                link(number, places.index(beside), ohm[number] + ohm[places.index(beside)])
        if place[seat] in (0, size - 1):
            link(number, size * size + (place[seat] > 0), ohm[number])
    current = np.eye(1, size * size + 1, size * size)[0]  # into one edge, and out of the other, which has potential 0
    return float(np.linalg.solve(matrix[:-1, :-1], current)[-1])


def test_impossible_positions_are_refused() -> None:
    """The reasons are wrong marks, numbers or sizes, and play after a win."""
    game = Hex(size=2)
    for text, reason in (("xo/xo", "x has already joined"), ("oo/x.", "as many x as o"), ("...", "2 rows"), ("xz/..", "'z'")):
        with pytest.raises(ValueError, match=reason):
            game.parse_state(text)
    state = game.parse_state("x./.o")
    assert (game.to_move(state), [game.format_action(state, action) for action in game.actions(state)]) == (0, ["b1", "a2"])
    assert game.render(state) == "   a b\n 1 x .\n  2 . o"


@pytest.mark.parametrize("size", [1, 3, 7, 9])
def test_the_conformance_checks_pass(size: int, registry: Registry) -> None:
    game: Game = registry.game("hex")(size=size)
    check_game(game, matches=1)
    for name in ("connection", "resistance") if size < 9 else ():
        check_heuristic(name, game, matches=1)
