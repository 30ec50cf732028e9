"""Othello with whole numbers, for compiled searches. Bitboards are signed 64-bit numbers."""

from collections.abc import Iterator

from arena.compiled import Estimate, Rules, Words

PASS = 64


def signed(bits: int) -> int:
    """Return the signed 64-bit number with these bits."""
    return bits - (1 << 64) if bits >> 63 else bits


class DiscRules(Rules):
    """A state is (discs of x, discs of o, seat to move, squares where it may place a disc, whether the game is over).

    An action is the number of the bit of a square, from 0, or 64 to pass.
    """

    words = 5
    width = 64

    def __init__(self, names: list[str], squares: int, directions: tuple[tuple[int, int], ...]) -> None:
        self.names = names
        """The action for every bit, and for 64."""
        self.squares = signed(squares)
        self.steps = [step for step, _ in directions]
        self.inner = [signed(inside) for _, inside in directions]
        """For each direction, the squares over which a line may continue."""
        self.kept = [(1 << 64 - step) - 1 for step in self.steps]
        """For each direction, the mask to apply after a shift to the right."""
        self.room = [(1 << 63 - step) - 1 for step in self.steps]
        """For each direction, the bits that a shift to the left keeps below bit 63."""
        self.carried = [1 << 63 - step for step in self.steps]
        """For each direction, the bit that a shift to the left moves into the sign bit."""

    def encode(self, state: tuple[int, int, int, int]) -> Words:
        """Return a state of the game as numbers."""
        x, o, seat, moves = state
        return signed(x), signed(o), seat, signed(max(moves, 0)), int(moves < 0)

    def action(self, state: tuple[int, int, int, int], number: int) -> str:
        """Return the name of a square, or `pass`."""
        return self.names[number]

    def lower(self, bits: int, way: int) -> int:
        """Move bits down in one direction."""
        return (bits >> self.steps[way]) & self.kept[way]

    def higher(self, bits: int, way: int) -> int:
        """Move bits up in one direction. The bit of the last square is the sign bit."""
        moved = (bits & self.room[way]) << self.steps[way]
        return moved | self.lowest() if bits & self.carried[way] else moved

    def lowest(self) -> int:
        """Return the number with only the sign bit set."""
        return -(1 << 62) * 2

    def square(self, action: int) -> int:
        """Return the number in which only the bit of a square is set."""
        return self.lowest() if action == 63 else 1 << action

    def placements(self, own: int, other: int) -> int:
        """Return the squares where a disc of `own` would outflank a disc of `other`."""
        found = 0
        for way in range(4):
            turning = other & self.inner[way]
            run = turning & self.higher(own, way)
            while run:
                run = self.higher(run, way)
                found |= run
                run &= turning
            run = turning & self.lower(own, way)
            while run:
                run = self.lower(run, way)
                found |= run
                run &= turning
        return found & self.squares & ~(own | other)

    def outflanked(self, action: int, own: int, other: int) -> int:
        """Return the discs of `other` that a disc on a square turns over."""
        turned = 0
        for way in range(4):
            turning = other & self.inner[way]
            line = 0
            run = self.higher(self.square(action), way)
            while run & turning:
                line |= run
                run = self.higher(run, way)
            if run & own:
                turned |= line
            line = 0
            run = self.lower(self.square(action), way)
            while run & turning:
                line |= run
                run = self.lower(run, way)
            if run & own:
                turned |= line
        return turned

    def to_move(self, state: Words) -> int:
        """Return 0 for x, 1 for o."""
        return state[2]

    def actions(self, state: Words) -> Iterator[int]:
        """Yield the squares where a disc outflanks another, row by row; 64 if there are none; none at the end."""
        moves = state[3]
        if state[4] == 0:
            if moves == 0:
                yield 64
            elif moves < 0:
                moves &= 9223372036854775807
                while moves:
                    yield (moves & -moves).bit_length() - 1
                    moves &= moves - 1
                yield 63
            else:
                while moves:
                    yield (moves & -moves).bit_length() - 1
                    moves &= moves - 1

    def result(self, state: Words, action: int) -> Words:
        """Place a disc and turn over the discs that it outflanks, or pass."""
        x, o, seat, moves, _ = state
        own, other = (o, x) if seat == 1 else (x, o)
        if action != 64:
            turned = self.outflanked(action, own, other)
            own |= turned | self.square(action)
            other ^= turned
        moves = self.placements(other, own)
        over = 0
        if moves == 0 and self.placements(own, other) == 0:
            over = 1
        if seat == 1:
            return (other, own, 0, moves, over)
        return (own, other, 1, moves, over)

    def discs(self, bits: int) -> int:
        """Return the number of discs; the sign bit counts as one."""
        return (bits & 9223372036854775807).bit_count() + (1 if bits < 0 else 0)

    def is_terminal(self, state: Words) -> bool:
        """Return whether neither side can place a disc."""
        return state[4] == 1

    def returns(self, state: Words) -> tuple[float, float]:
        """Return 1 for the side with more discs and -1 for the other side; 0 for both if the numbers are equal."""
        more = self.discs(state[0]) - self.discs(state[1])
        if more == 0:
            return (0.0, 0.0)
        return (1.0, -1.0) if more > 0 else (-1.0, 1.0)


class DiscDifference(Estimate):
    """The heuristic `discs`."""

    def __init__(self, rules: DiscRules) -> None:
        self.rules = rules

    def evaluate(self, state: Words, player: int) -> float:
        """Return the value of a state for `player`."""
        x, o = self.rules.discs(state[0]), self.rules.discs(state[1])
        value = 0.99 * (x - o) / (x + o)
        return -value if player == 1 else value


class CornersMobility(Estimate):
    """The heuristic `corners-mobility`."""

    def __init__(self, rules: DiscRules, corners: int, share: float) -> None:
        self.rules = rules
        self.corners = signed(corners)
        self.share = share

    def evaluate(self, state: Words, player: int) -> float:
        """Return the value of a state for `player`."""
        x, o, seat, moves, _ = state
        others = self.rules.placements(x, o) if seat == 1 else self.rules.placements(o, x)
        here, there = self.rules.discs(moves), self.rules.discs(others)
        x_moves, o_moves = (there, here) if seat == 1 else (here, there)
        corners = (self.rules.discs(x & self.corners) - self.rules.discs(o & self.corners)) / 4
        total = x_moves + o_moves
        mobility = (x_moves - o_moves) / (total if total > 0 else 1)
        value = 0.99 * (self.share * corners + (1 - self.share) * mobility)
        return -value if player == 1 else value
