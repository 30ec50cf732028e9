"""Hex: P. Hein, 1942, and J. Nash, 1948. Two players join their own two sides of a rhombus of hexagons.

A state is (stones of x, stones of o, 1 if a side has joined its edges and else 0). Cell (row, column) is bit `row * (size + 1) +
column`: the spare bit behind each row is always 0, so that no step runs from one row into the next.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Disguise, Game, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.disguises import COLOURS, draw_names, make_disguise, mark_signs
from arena_games.marks import check_turns, parse_rows

State = tuple[int, int, int]

LETTERS = "abcdefghijklmnopqrs"
STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1))
"""The steps from a cell to its six neighbours, as (rows, columns)."""


class Hex(Game):
    """x tries to connect top and bottom, and o left and right. Stones never move, and a draw is not possible.

    The board has `size` rows and `size` columns. Actions are cells such as `c2` (the letter of the column, and the row from the
    top). Text notation: rows from the top joined by `/`, each half a cell farther right than the one before, such as
    `.../.x./..o`. x is to move if both sides have the same number of stones.
    """

    name = "hex"
    rules_text = (
        "The board is a rhombus of hexagonal cells: each row lies half a cell farther right than the row above it. A cell is a "
        "letter for its column and the number of its row from the top, as `c2`. It touches the cells to its left and right, two "
        "in the row above (same column, and next column), and two in the row below (same column, and previous column). Two "
        "sides, x and o, take turns to put a stone on an empty cell; x begins. Stones never move. x wins with a connected chain "
        "of its stones from the top row to the bottom row, o with one from the first column to the last. A move is a cell. A "
        "position is written row by row from the top, joined by /, with a dot for an empty cell: `.../.x./..o`."
    )
    default_heuristic: ClassVar[str | None] = "connection"
    board = "boards/hex.js"

    def __init__(self, *, size: Annotated[int, Field(ge=1, le=19)] = 7) -> None:
        self.size = size
        self.wide = size + 1
        self.places = tuple([row * self.wide + column for row in range(size) for column in range(size)])
        """The bit numbers of the cells, row by row; an action is such a number."""
        row, column = (1 << size) - 1, sum(1 << n * self.wide for n in range(size))
        self.starts = (row, column)
        """The first edge of each seat: the top row, the left column."""
        self.ends = (row << (size - 1) * self.wide, column << size - 1)
        self._above_bottom = sum(1 << cell for cell in self.places if cell < (size - 1) * self.wide)

    def initial(self, rng: random.Random) -> State:
        """Return the empty board."""
        return (0, 0, 0)

    def to_move(self, state: State) -> int:
        """Return 0 for x if both sides have the same number of stones, otherwise 1 for o."""
        return (state[0] | state[1]).bit_count() & 1

    def actions(self, state: State) -> Sequence[int]:
        """Return the empty cells, row by row; none after a win."""
        taken = -1 if state[2] else state[0] | state[1]
        return [cell for cell in self.places if not taken >> cell & 1]

    def result(self, state: State, action: int) -> State:
        """Put a stone of the side to move on a cell."""
        x, o, _ = state
        if (x | o).bit_count() & 1:
            o |= 1 << action
            return (x, o, int(self.joins(o, 1)))
        x |= 1 << action
        return (x, o, int(self.joins(x, 0)))

    def joins(self, stones: int, seat: int) -> bool:
        """Return whether stones join the two edges of a seat, by a flood fill that steps in all directions at once."""
        reached = stones & self.starts[seat]
        before = 0
        while reached != before:
            before = reached
            lower = reached & self._above_bottom
            spread = reached << 1 | reached >> 1 | lower << self.wide | lower << (self.wide - 1)
            reached |= (spread | reached >> self.wide | reached >> (self.wide - 1)) & stones
        return reached & self.ends[seat] != 0

    def is_terminal(self, state: State) -> bool:
        """Return whether a side has joined its edges."""
        return state[2] != 0

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the side that has joined its edges, which moved last, and -1 for the other."""
        return (1.0, -1.0) if self.to_move(state) == 1 else (-1.0, 1.0)

    def action_space(self) -> Sequence[int]:
        """Return all cells."""
        return self.places

    def disguise(self, rng: random.Random) -> Disguise:
        """Return a story about towns (the cells) and roads (between neighbours), with the roads in random order."""
        cells = [f"{LETTERS[column]}{row + 1}" for row in range(self.size) for column in range(self.size)]
        squares = dict(zip(cells, draw_names(rng, len(cells)), strict=True))
        first, second = rng.sample(COLOURS, 2)
        names = {(row, column): squares[f"{LETTERS[column]}{row + 1}"] for row, column in product(range(self.size), repeat=2)}
        pairs = [
            [names[row, column], names[row + down, column + right]]
            for row, column in names
            for down, right in ((0, 1), (1, 0), (1, -1))
            if (row + down, column + right) in names
        ]
        roads = [" ".join(rng.sample(pair, 2)) for pair in rng.sample(pairs, len(pairs))]
        edges = [[name for place, name in names.items() if place[axis] == end] for axis in (0, 1) for end in (0, self.size - 1)]
        coasts = [" ".join(rng.sample(edge, len(edge))) for edge in edges]
        rules = (
            f"Roads join these pairs of towns: {', '.join(roads) or 'none'}. Two players take turns to buy a town that nobody "
            f"owns, player 1 first. The towns of player 1 are {first}, and the towns of player 2 are {second}. Player 1 wins by "
            f"a chain of their own towns along roads that begins in one of the towns {coasts[0]} and ends in one of the towns "
            f"{coasts[1]}. Player 2 wins by such a chain from one of the towns {coasts[2]} to one of the towns {coasts[3]}. A "
            "move is the name of a town. A position lists the towns, each with its colour, or - without an owner."
        )
        return make_disguise(
            {"x": first, "o": second}, squares, rules, lambda state: mark_signs(squares, self.format_state(state).split("/"))
        )

    def render(self, state: State) -> str:
        """Return the board, with each row half a cell farther right than the row above."""
        rows = self.format_state(state).split("/")
        lines = [f"{' ' * number}{number + 1:2} {' '.join(row)}" for number, row in enumerate(rows)]
        return "\n".join([f"   {' '.join(LETTERS[: self.size])}", *lines])

    def format_state(self, state: State) -> str:
        """Return the rows from the top, joined by `/`."""
        marks = ["x" if state[0] >> cell & 1 else "o" if state[1] >> cell & 1 else "." for cell in self.places]
        return "/".join(["".join(marks[row : row + self.size]) for row in range(0, self.size**2, self.size)])

    def parse_state(self, text: str) -> State:
        """Parse rows joined by `/`. Raises ValueError for another size, other marks or impossible numbers of stones."""
        marks = "".join(parse_rows(text.strip().lower(), self.size, self.size, text))
        x, o = [sum(1 << cell for cell, mark in zip(self.places, marks, strict=True) if mark == side) for side in "xo"]
        check_turns(x, o, text)
        mover = self.to_move((x, o, 0))
        if self.joins((x, o)[mover], mover):
            raise ValueError(f"{'xo'[mover]} has already joined its edges in {abbreviate(text)}, so it cannot be its turn")
        return (x, o, int(self.joins((x, o)[1 - mover], 1 - mover)))

    def format_action(self, state: State, action: int) -> str:
        """Return the text of an action, such as `c2`."""
        return f"{LETTERS[action % self.wide]}{action // self.wide + 1}"

    def parse_action(self, state: State, text: str) -> int:
        """Return the cell that a text such as `c2` or `C2` names."""
        action: int = super().parse_action(state, text.lower())
        return action


class _Board:
    """The data that both heuristics use: the neighbours of each cell, and the cells of each edge."""

    def __init__(self, game: Hex) -> None:
        self._size = game.size
        self._cells = game.places
        places = list(product(range(game.size), repeat=2))
        numbers = {place: number for number, place in enumerate(places)}
        self._beside = [[numbers[r + d, c + e] for d, e in STEPS if (r + d, c + e) in numbers] for r, c in places]
        last = game.size - 1
        self._edges = [([numbers[p] for p in places if p[a] == 0], [numbers[p] for p in places if p[a] == last]) for a in (0, 1)]


@heuristic("connection", game="hex")
class Connection(_Board):
    """The difference between the numbers of stones that both sides need to connect their edges if the other side does not move.

    A difference of one stone counts `0.9 / size`, and having the turn counts half a stone. V. Anshelevich, A Hierarchical
    Approach to Computer Hex, Artificial Intelligence 134, 2002, compares this heuristic with `resistance`.
    """

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of an unfinished state to `player`."""
        turn = 0.5 if (state[0] | state[1]).bit_count() % 2 == 0 else -0.5
        ahead = self.stones_needed(state, 1) - self.stones_needed(state, 0) + turn
        value = max(-0.99, min(0.99, 0.9 * ahead / self._size))
        return value if player == 0 else -value

    def stones_needed(self, state: State, seat: int) -> int:
        """Return the fewest further stones that connect the edges of a seat. A search from one edge to the other finds them; it
        counts only empty cells.
        """
        own, other = state[seat], state[1 - seat]
        starts, ends = self._edges[seat]
        level, seen, needed = list(starts), 0, 0
        while level:
            after = []
            for number in level:  # the loop appends the neighbours of own stones
                cell = self._cells[number]
                if seen >> number & 1 or other >> cell & 1:
                    continue
                if not own >> cell & 1:
                    after.append(number)
                    continue
                seen |= 1 << number
                if number in ends:
                    return needed
                level += self._beside[number]
            level, needed = [], needed + 1
            for number in after:
                if not seen >> number & 1:
                    seen |= 1 << number
                    if number in ends:
                        return needed
                    level += self._beside[number]
        return self._size**2


@heuristic("resistance", game="hex")
class Resistance(_Board):
    """Compares the electrical resistances between the edges of both sides. The stones of a side conduct.

    A link between two neighbouring cells has the sum of their resistances: 0 for an own stone and 1 for an empty cell. Stones of
    the other side have no links. V. Anshelevich, A Hierarchical Approach to Computer Hex, Artificial Intelligence 134, 2002.
    """

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of an unfinished state to `player`. For x, it is (o - x) / (o + x), with the resistances of both
        sides.
        """
        x, o = self.ohms(state, 0), self.ohms(state, 1)
        value = 0.99 * (o - x) / (o + x)
        return value if player == 0 else -value

    def ohms(self, state: State, seat: int) -> float:
        """Return the resistance between the edges of a seat."""
        import numpy as np

        nodes = self._merge_groups(state, seat)
        number = max(nodes) + 1
        matrix = np.zeros((number, number))
        for one, other, conductance in self._links(state, seat, nodes):
            matrix[one, one] += conductance
            matrix[other, other] += conductance
            matrix[one, other] -= conductance
            matrix[other, one] -= conductance
        current = np.zeros(number - 1)
        current[0] = 1.0
        matrix += np.diag([1e-12] * number)  # so that the equations can be solved if a cell has no link
        return float(np.linalg.solve(matrix[1:, 1:], current)[0])  # node 0, the far edge, has potential 0

    def _merge_groups(self, state: State, seat: int) -> list[int]:
        """Return the node of each cell: 0 for own stones connected to the far edge, 1 for own stones connected to the near edge,
        and a further number for each other group or cell.
        """
        own = state[seat]
        nodes, following = [-1] * len(self._cells), 2
        near, far = self._edges[seat]
        for first, node in [
            *[(number, 0) for number in far],
            *[(number, 1) for number in near],
            *[(n, -1) for n in range(len(nodes))],
        ]:
            if nodes[first] >= 0 or (node >= 0 and not own >> self._cells[first] & 1):
                continue
            group, nodes[first] = [first], following if node < 0 else node
            following += node < 0
            for member in group if own >> self._cells[first] & 1 else ():
                for beside in self._beside[member]:
                    if nodes[beside] < 0 and own >> self._cells[beside] & 1:
                        nodes[beside] = nodes[first]
                        group.append(beside)
        return nodes

    def _links(self, state: State, seat: int, nodes: list[int]) -> Iterator[tuple[int, int, float]]:
        own, other = state[seat], state[1 - seat]
        free = [not (own | other) >> cell & 1 for cell in self._cells]
        for number, cell in enumerate(self._cells):
            if other >> cell & 1:
                continue
            for beside in self._beside[number]:
                if beside > number and nodes[beside] != nodes[number] and not other >> self._cells[beside] & 1:
                    yield nodes[number], nodes[beside], 1 / (free[number] + free[beside])
        for edge, numbers in enumerate(reversed(self._edges[seat])):
            yield from [(edge, nodes[number], 1.0) for number in numbers if free[number]]


@encoding("planes", game="hex", shape=lambda game: (2, game.size, game.size))
def hex_planes(game: Hex, observation: State, seat: int) -> list[int]:
    """Return the stones of the seat, then the stones of the opponent; mirrored for o, so that each seat joins top and bottom."""
    size = range(game.size)
    cells = [(column * game.wide + row) if seat else (row * game.wide + column) for row in size for column in size]
    return [observation[side] >> cell & 1 for side in (seat, 1 - seat) for cell in cells]
