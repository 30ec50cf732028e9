"""Othello, on bitboards.

A state is (discs of x, discs of o, seat to move, squares where that seat may place a disc). The last part can be computed from
the others. It is stored because a search needs it several times for each state. It is 0 if the seat must pass, and -1 at the end.
Square (row from the top, column) is bit `8 * row + column` on every size, so that a byte is a row.
"""

import random
from collections.abc import Sequence
from itertools import product
from typing import ClassVar, Literal

from arena import Action, Disguise, Game, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.disguises import COLOURS, draw_names, make_disguise, mark_signs
from arena_games.marks import list_marks, parse_rows
from arena_games.othello_rules import CornersMobility, DiscDifference, DiscRules

State = tuple[int, int, int, int]
Ray = tuple[int, int]
"""The next square in one direction, and all squares in this direction."""

OVER = -1
ONLY_PASS = ("pass",)
LETTERS = "abcdefgh"


class Othello(Game):
    """A new disc turns over the discs that it outflanks. The side with more discs at the end wins.

    Also called reversi. The board has `size` rows and `size` columns. x moves first. A seat that cannot place a disc passes. The
    game ends when neither seat can place one. Actions are `d3` (column letter, row from the top) and `pass`. Text notation: rows
    from the top joined by `/`, then the side to move: `..../.ox./.xo./.... x`.
    """

    name = "othello"
    rules_text = (
        "Two sides, x and o, take turns; x begins. A move puts a disc of your side on an empty cell so that one or more discs "
        "of the other side lie in a straight line, in any of eight directions, between the new disc and another disc of your "
        "side. All discs between them change to your side. If you have no such move, you `pass`. Play ends when neither side "
        "can move. The side with more discs wins. A move is the letter of a column and the number of a row from the top, as "
        "`d3`. A position is written row by row from the top, joined by /, with a dot for an empty cell, and the side to move: "
        "`..../.ox./.xo./.... x`."
    )
    default_heuristic: ClassVar[str | None] = "corners-mobility"
    board = "boards/othello.js"

    def __init__(self, *, size: Literal[4, 6, 8] = 8) -> None:
        self.size = size
        places = [(row, column) for row in range(size) for column in range(size)]
        self._bit = {f"{LETTERS[column]}{row + 1}": 1 << 8 * row + column for row, column in places}
        self.squares = sum(self._bit.values())
        names = list(self._bit)
        rows = [names[start : start + size] for start in range(0, size * size, size)]
        self._named = [
            [tuple([name for bit, name in enumerate(row) if chosen >> bit & 1]) for chosen in range(1 << size)] for row in rows
        ]
        """For every row, the names of the squares in each set of its squares. The index is the set, as bits."""
        self._rays = {name: self._rays_from(row, column) for name, (row, column) in zip(names, places, strict=True)}
        left = sum(1 << 8 * row for row in range(size))
        inner = self.squares & ~left & ~(left << (size - 1))
        self._directions = ((1, inner), (7, inner), (8, self.squares), (9, inner))
        self.corners = sum(1 << 8 * row + column for row in (0, size - 1) for column in (0, size - 1))

    def _rays_from(self, row: int, column: int) -> tuple[tuple[Ray, ...], tuple[Ray, ...]]:
        """Return the rays from a square on which discs can be turned over: rays to higher bits, and rays to lower bits."""
        higher: list[Ray] = []
        lower: list[Ray] = []
        for down, right in ((0, 1), (1, -1), (1, 0), (1, 1), (0, -1), (-1, 1), (-1, 0), (-1, -1)):
            squares = []
            for n in range(1, self.size):
                r, c = row + n * down, column + n * right
                if 0 <= r < self.size and 0 <= c < self.size:
                    squares.append(1 << 8 * r + c)
            if len(squares) > 1:
                (higher if squares[0] < squares[1] else lower).append((squares[0], sum(squares)))
        return tuple(higher), tuple(lower)

    def initial(self, rng: random.Random) -> State:
        """Return the standard start: two discs of each side in the middle, x to move."""
        lower = self.size // 2
        o = 1 << 9 * (lower - 1) | 1 << 9 * lower
        x = 1 << 8 * lower + lower - 1 | 1 << 8 * (lower - 1) + lower
        return (x, o, 0, self.placements(x, o))

    def to_move(self, state: State) -> int:
        """Return 0 for x, 1 for o."""
        return state[2]

    def actions(self, state: State) -> Sequence[Action]:
        """Return the squares where a disc outflanks another, row by row; `pass` if there are none; none at the end."""
        moves = state[3]
        if moves <= 0:
            return () if moves else ONLY_PASS
        found: tuple[str, ...] = ()
        for named, row in zip(self._named, moves.to_bytes(8, "little"), strict=False):
            if row:
                found += named[row]
        return found

    def result(self, state: State, action: Action) -> State:
        """Place a disc and turn over the discs that it outflanks, or pass."""
        x, o, seat, moves = state
        own, other = (o, x) if seat else (x, o)
        if moves:
            turned = self._outflank(action, own, other)
            own |= turned | self._bit[action]
            other ^= turned
        moves = self._moves(other, own)
        return (other, own, 0, moves) if seat else (own, other, 1, moves)

    def _outflank(self, square: str, own: int, other: int) -> int:
        """Return the discs of `other` between a square and the nearest disc of `own`, on all rays."""
        higher, lower = self._rays[square]
        turned = 0
        for beside, ray in higher:
            if other & beside:
                stops = ray & ~other
                end = stops & -stops
                if end & own:
                    turned |= ray & (end - 1)
        for beside, ray in lower:
            if other & beside:
                stops = ray & ~other
                end = 1 << stops.bit_length() >> 1
                if end & own:
                    turned |= ray & -(end << 1)
        return turned

    def placements(self, own: int, other: int) -> int:
        """Return the squares where a disc of `own` would outflank a disc of `other`, by shifts in eight directions."""
        found = 0
        for step, inside in self._directions:
            turning = other & inside
            run = turning & (own << step)
            while run:
                run <<= step
                found |= run
                run &= turning
            run = turning & (own >> step)
            while run:
                run >>= step
                found |= run
                run &= turning
        return found & self.squares & ~(own | other)

    def _moves(self, own: int, other: int) -> int:
        """Return the last part of a state in which `own` is to move."""
        moves = self.placements(own, other)
        return moves if moves or self.placements(other, own) else OVER

    def is_terminal(self, state: State) -> bool:
        """Return whether neither side can place a disc."""
        return state[3] < 0

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the side with more discs and -1 for the other side; 0 for both if the numbers are equal."""
        more = state[0].bit_count() - state[1].bit_count()
        if not more:
            return (0.0, 0.0)
        return (1.0, -1.0) if more > 0 else (-1.0, 1.0)

    def action_space(self) -> Sequence[Action]:
        """Return all squares, row by row, and `pass`."""
        return (*self._bit, *ONLY_PASS)

    def disguise(self, rng: random.Random) -> Disguise:
        """Return a story about villages (the squares) on roads (the rows, columns and diagonals)."""
        size = self.size
        squares = dict(zip(self._bit, draw_names(rng, size * size), strict=True))
        first, second = rng.sample(COLOURS, 2)
        steps = ((0, 1, 0), (1, 0, 0), (1, 1, 3), (1, -1, 3))
        roads = []
        for row, column, (down, right, fewest) in product(range(size), range(size), steps):
            before = (row - down, column - right)
            if not (0 <= before[0] < size and 0 <= before[1] < size):  # a road begins here
                reach = [(row + n * down, column + n * right) for n in range(size)]
                road = [squares[f"{LETTERS[c]}{r + 1}"] for r, c in reach if 0 <= r < size and 0 <= c < size]
                roads += ["-".join(road[:: rng.choice((1, -1))])] * (len(road) >= fewest)
        rules = (
            f"{size * size} villages lie on roads, each road in the order that is given: "
            f"{', '.join(rng.sample(roads, len(roads)))}. A village may fly a flag. The flags of player 1 are {first}, and the "
            f"flags of player 2 are {second}. Two players take turns, player 1 first. In a move, a player raises one of their "
            "flags in a village without one. This is allowed only if on some road from this village, in either direction, the "
            "next villages in an unbroken row, at least one, fly flags of the other player and the village behind them flies "
            "one of their own flags. The flags of all such rows, on all roads and in both directions, change to the colour of "
            "this player. A player who has no such move must `rest`. When neither player can raise a flag, the player with "
            "more flags wins, and equal numbers are a draw. A move is the name of a village, or `rest`. A position lists the "
            "villages, each with its flag, or - without one."
        )
        return make_disguise(
            {"x": first, "o": second, "pass": "rest"}, squares, rules, lambda state: mark_signs(squares, self._rows(state))
        )

    def compiled(self) -> DiscRules:
        """Return the rules written with whole numbers."""
        names = [""] * 64 + list(ONLY_PASS)
        for name, bit in self._bit.items():
            names[bit.bit_length() - 1] = name
        return DiscRules(names, self.squares, self._directions)

    def render(self, state: State) -> str:
        """Return the board with its letters and numbers, the side to move, and the number of discs."""
        rows = [f"{number} {' '.join(row)}" for number, row in enumerate(self._rows(state), 1)]
        last = "over" if state[3] < 0 else f"{'xo'[state[2]]} to move"
        counts = f"{last}, x {state[0].bit_count()}, o {state[1].bit_count()}"
        return "\n".join([f"  {' '.join(LETTERS[: self.size])}", *rows, counts])

    def _rows(self, state: State) -> list[str]:
        marks = ["x" if state[0] & bit else "o" if state[1] & bit else "." for bit in self._bit.values()]
        return ["".join(marks[start : start + self.size]) for start in range(0, len(marks), self.size)]

    def format_state(self, state: State) -> str:
        """Return the rows from the top joined by `/`, and the side to move."""
        return f"{'/'.join(self._rows(state))} {'xo'[state[2]]}"

    def parse_state(self, text: str) -> State:
        """Parse the rows from the top, joined by `/`, and the side to move.

        Raises ValueError for another size, other marks, a missing side to move, or an empty square among the four in the middle.
        It does not check whether the position can be reached.
        """
        board, _, mover = text.strip().lower().partition(" ")
        if mover.strip() not in ("x", "o"):
            raise ValueError(f"expected the board, a space, and x or o for the side to move, got {abbreviate(text)}")
        marks = "".join(parse_rows(board, self.size, self.size, text, "squares"))
        x, o = (sum(bit for mark, bit in zip(marks, self._bit.values(), strict=True) if mark == side) for side in "xo")
        start = self.initial(random.Random(0))
        empty = [name for name, bit in self._bit.items() if bit & (start[0] | start[1]) & ~(x | o)]
        if empty:
            raise ValueError(f"expected discs on the four squares in the middle, got {empty[0]} empty in {abbreviate(text)}")
        seat = "xo".index(mover.strip())
        return (x, o, seat, self._moves(o, x) if seat else self._moves(x, o))

    def parse_action(self, state: State, text: str) -> Action:
        """Return the action that a text such as `d3`, `D3` or `pass` names."""
        return super().parse_action(state, text.lower())


@heuristic("discs", game="othello")
def discs(game: Othello, state: State, player: int = 0) -> float:
    """Return the difference between the numbers of discs divided by their sum, within [-0.99, 0.99].

    P. Norvig, Paradigms of Artificial Intelligence Programming, 1992, chapter 18, begins with this difference.
    """
    x, o = state[0].bit_count(), state[1].bit_count()
    value = 0.99 * (x - o) / (x + o)
    return -value if player else value


@discs.compiled  # type: ignore[attr-defined,untyped-decorator]
def _compiled_discs(game: Othello, rules: DiscRules) -> DiscDifference:
    return DiscDifference(rules)


CORNERS_SHARE = 0.7
"""The weight of the corners in the value; the rest is the weight of the mobility."""


@heuristic("corners-mobility", game="othello")
def corners_mobility(game: Othello, state: State, player: int = 0) -> float:
    """Combine two differences between the sides: the corners, divided by four, and the squares where a disc can be placed,
    divided by their sum.

    Corners cannot be turned over, and a side with few actions is soon forced to give one away: P. Rosenbloom, A World-
    Championship-Level Othello Program, 1982. Both numbers are computed for each side, whichever side is to move.
    """
    x, o, seat, moves = state
    others = game.placements(x, o) if seat else game.placements(o, x)
    moves = max(moves, 0)
    x_moves, o_moves = (others.bit_count(), moves.bit_count()) if seat else (moves.bit_count(), others.bit_count())
    corners = ((x & game.corners).bit_count() - (o & game.corners).bit_count()) / 4
    mobility = (x_moves - o_moves) / (x_moves + o_moves or 1)
    value = 0.99 * (CORNERS_SHARE * corners + (1 - CORNERS_SHARE) * mobility)
    return -value if player else value


@corners_mobility.compiled  # type: ignore[attr-defined,untyped-decorator]
def _compiled_corners_mobility(game: Othello, rules: DiscRules) -> CornersMobility:
    return CornersMobility(rules, game.corners, CORNERS_SHARE)


@encoding("planes", game="othello", shape=lambda game: (3, game.size, game.size))
class OthelloPlanes:
    """The discs of the seat, the discs of the opponent, and the squares where the seat may place a disc now."""

    def __init__(self, game: Othello) -> None:
        self._bits = [1 << 8 * row + column for row in range(game.size) for column in range(game.size)]

    def __call__(self, observation: State, seat: int) -> list[int]:
        """Return three planes."""
        bits, mover, moves = self._bits, observation[2], observation[3]
        legal = moves if mover == seat and moves > 0 else 0
        return list_marks(observation[seat], bits) + list_marks(observation[1 - seat], bits) + list_marks(legal, bits)
