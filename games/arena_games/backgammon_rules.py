"""Backgammon with whole numbers, for compiled random play.

The points of a side, from its own view, are two numbers: one for points 0 (off) to 12 and one for 13 to 25 (the bar), with four
bits per point. The positions after a throw are written into rows of a work array, in the same order as in the dictionaries of the
uncompiled rules.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from arena import CHANCE
from arena.compiled import Rules, Words

BAR, ALL_OFF, HOME = 25, 15, 6
HALF, HALF_BITS = 13, 52
LOW = (1 << HALF_BITS) - 1
OWN, OTHER, MOVES, ROW = 0, 2, 4, 5
"""The columns of a row: two numbers for the points of the side that moves, two for the other side, and the moves so far."""
ROOM = 3_072
"""The number of rows in each of the four parts of the work array. It exceeds the 3,060 ways to distribute four moves among
fifteen checkers.
"""
START = 4 * ROOM
"""The row with the position before the first move. It follows the four parts."""
ONES = sum(1 << 4 * point for point in range(HALF))
"""The lowest bit of every point in one number."""


class CheckerRules(Rules):
    """A state is (points of a, points of b, seat, throw), with two numbers for the points of each side. The last part is 0 until
    the dice are thrown.

    An action is up to four moves of eight bits each, the highest point first. A move is the point times eight plus the die. The
    action 0 is to pass. An outcome of chance is the index of a roll, from 1.
    """

    words = 6
    scratch = ("rows", "counts")
    width = ROOM

    def __init__(self, rolls: Mapping[str, tuple[Sequence[int], float]], names: Mapping[tuple[int, int], str]) -> None:
        self.rolls = ["", *rolls]
        self.names = names
        self.high = [0, *[dice[0] for dice, _ in rolls.values()]]
        self.low = [0, *[dice[1] for dice, _ in rolls.values()]]
        self.reached = [0.0, *accumulate([probability for _, probability in rolls.values()])]
        self.in_low = [1 << 4 * point if point < HALF else 0 for point in range(BAR + 1)]
        self.in_high = [1 << 4 * (point - HALF) if point >= HALF else 0 for point in range(BAR + 1)]
        """For each point, the number that a checker there adds to the high number of its side; `in_low` has the same for
        the low number.
        """
        self.rows = array("q", bytes(8 * ROW * (START + 1)))
        self.counts = array("q", bytes(8 * 5))
        """`rows` holds the positions after a throw, in four parts, and `counts` the number of positions in each part. For equal
        dice, the parts have the positions after one, two, three and four dice. Otherwise, they have the positions after the
        higher die, after the lower one, after both, and after both in the other order.
        """
        self.sources = [[4, 4, 1, 0], [4, 0, 1, 2]]
        """For each part, the part from whose positions it is filled; 4 stands for the position before the throw."""

    def encode(self, state: tuple[int, int, int, str]) -> Words:
        """Return a state of the game as numbers."""
        x, o, seat, roll = state
        return x & LOW, x >> HALF_BITS, o & LOW, o >> HALF_BITS, seat, self.rolls.index(roll)

    def action(self, state: tuple[int, int, int, str], number: int) -> str:
        """Return the action of the game for a number: a roll before the throw, otherwise the moves."""
        if not state[3]:
            return self.rolls[number]
        moves = [number >> 8 * place & 255 for place in range(4)]
        return " ".join([self.names[1 << 4 * (move >> 3), move & 7] for move in reversed(moves) if move]) or "pass"

    def to_move(self, state: Words) -> int:
        """Return the seat whose turn it is, or CHANCE before its throw."""
        return CHANCE if state[5] == 0 else state[4]

    def chance(self, state: Words, number: float) -> int:
        """Return the roll for a random number."""
        roll = 1
        while roll < len(self.reached) - 1 and number >= self.reached[roll]:
            roll += 1
        return roll

    def count(self, low: int, high: int, point: int) -> int:
        """Return the checkers on a point of a side."""
        return (low >> 4 * point) & 15 if point < HALF else (high >> 4 * (point - HALF)) & 15

    def is_off(self, low: int, high: int) -> bool:
        """Return whether a side has borne off all its checkers."""
        return low == ALL_OFF and high == 0

    def with_move(self, moves: int, move: int) -> int:
        """Insert a move into the moves of an action, and return them. The move from the highest point has the highest bits."""
        place = 0
        while 0 < (moves >> place) & 255 < move:
            place += 8
        return (moves & ((1 << place) - 1)) | move << place | (moves >> place) << (place + 8)

    def known(self, part: int, count: int, row: int) -> int:
        """Return the first row of a part that has the same position as `row`; the row after the part if there is none."""
        rows = self.rows
        base = ROW * row
        place = part
        while place < part + count:
            one = ROW * place
            own = rows[one] == rows[base] and rows[one + 1] == rows[base + 1]
            if own and rows[one + OTHER] == rows[base + OTHER] and rows[one + OTHER + 1] == rows[base + OTHER + 1]:
                return place
            place += 1
        return place

    def add(self, part: int, count: int, row: int, point: int, die: int) -> int:
        """Make a move in the position of a row, and add the new position to a part, unless the part already has it.

        Return the new number of positions in the part.
        """
        rows = self.rows
        base, made = ROW * row, ROW * (part + count)
        reached = max(point - die, 0)
        self.rows[made] = rows[base] - self.in_low[point] + self.in_low[reached]
        self.rows[made + 1] = rows[base + 1] - self.in_high[point] + self.in_high[reached]
        hit = BAR - reached if reached > 0 and self.count(rows[base + OTHER], rows[base + OTHER + 1], BAR - reached) == 1 else BAR
        self.rows[made + OTHER] = rows[base + OTHER] - self.in_low[hit]
        self.rows[made + OTHER + 1] = rows[base + OTHER + 1] - self.in_high[hit] + self.in_high[BAR]
        self.rows[made + MOVES] = self.with_move(rows[base + MOVES], 8 * point + die)
        if count < ROOM - 1 and self.known(part, count, part + count) == part + count:
            return count + 1
        return count

    def is_open(self, row: int, point: int) -> bool:
        """Return whether fewer than two checkers of the other side stand on a point."""
        return self.count(self.rows[ROW * row + OTHER], self.rows[ROW * row + OTHER + 1], BAR - point) < 2

    def leaving(self, row: int, half: int, die: int) -> int:
        """Return the points from which a move could start, one bit each, in the low number (`half` is 0) or the high number (1).
        If `half` is 2, return the point from which a checker can be borne off.
        """
        low, high = self.rows[ROW * row], self.rows[ROW * row + 1]
        if half == 2:
            if high > 0 or low >> 4 * (HOME + 1) > 0:
                return 0
            return self.in_low[min(die, (low.bit_length() - 1) // 4)] & self.taken(low) & ~1
        if high >= self.in_high[BAR]:  # a checker on the bar must move first
            return self.in_high[BAR] if half == 1 else 0
        return self.taken(high) if half == 1 else self.taken(low) >> 4 * (die + 1) << 4 * (die + 1)

    def taken(self, side: int) -> int:
        """Return the points with a checker in one of the two numbers, one bit each."""
        return (side | side >> 1 | side >> 2 | side >> 3) & ONES

    def part_filled(self, source: int, number: int, part: int, die: int) -> int:
        """Fill a part with every position to which one more move leads from `number` rows, beginning with `source`.

        Return the number of positions in the part.
        """
        count = 0
        for row in range(source, source + number):
            for half in range(3):
                points = self.leaving(row, half, die)
                while points > 0:
                    point = HALF * (half % 2) + (points & -points).bit_length() // 4
                    points &= points - 1
                    if half == 2 or self.is_open(row, point - die):
                        count = self.add(part, count, row, point, die)
        return count

    def plays(self, state: Words) -> int:
        """Write the positions after a throw. Return the row of the first one, plus START times the number of positions."""
        other = 0 if state[4] == 1 else 2
        for half in range(2):
            self.rows[ROW * START + half] = state[2 - other + half]
            self.rows[ROW * START + OTHER + half] = state[other + half]
        self.rows[ROW * START + MOVES] = 0
        self.counts[4] = 1
        high, low = self.high[state[5]], self.low[state[5]]
        equal = 1 if high == low else 0
        last = 0
        for turn in range(4):
            source = self.sources[equal][turn]
            self.counts[turn] = self.part_filled(ROOM * source, self.counts[source], ROOM * turn, low if turn % 2 == 1 else high)
            if self.counts[turn] > 0:
                last = turn
        if equal == 0:
            last = 0 if self.counts[0] > 0 else 1
            both = self.merged(self.counts[2], self.counts[3])
            if both > 0:
                return START * both + ROOM * 2
        return START * self.counts[last] + ROOM * last

    def merged(self, both: int, others: int) -> int:
        """Add the last part to the part before it, and return the number of positions. If both parts have a position, the moves
        from the last part are kept.
        """
        rows = self.rows
        for row in range(3 * ROOM, 3 * ROOM + others):
            place = self.known(2 * ROOM, both, row)
            for word in range(ROW):
                self.rows[ROW * place + word] = rows[ROW * row + word]
            if place == 2 * ROOM + both:
                both += 1
        return both

    def actions(self, state: Words) -> Iterator[int]:
        """Yield one action for each position after the throw; 0 if no move is possible."""
        plays = self.plays(state)
        count, first = plays // START, plays % START
        if count == 0:
            yield 0
        for row in range(first, first + count):
            yield self.rows[ROW * row + MOVES]

    def result(self, state: Words, action: int) -> Words:
        """Throw the dice, or move checkers; a checker that is hit goes to the bar."""
        x_low, x_high, o_low, o_high, seat, roll = state
        if roll == 0:
            return (x_low, x_high, o_low, o_high, seat, action)
        low, high = (o_low, o_high) if seat == 1 else (x_low, x_high)
        other_low, other_high = (x_low, x_high) if seat == 1 else (o_low, o_high)
        moves = action
        while moves > 0:
            point = (moves & 255) >> 3
            reached = max(point - (moves & 7), 0)
            low += self.in_low[reached] - self.in_low[point]
            high += self.in_high[reached] - self.in_high[point]
            if reached > 0 and self.count(other_low, other_high, BAR - reached) == 1:
                other_low -= self.in_low[BAR - reached]
                other_high += self.in_high[BAR] - self.in_high[BAR - reached]
            moves >>= 8
        if seat == 1:
            return (other_low, other_high, low, high, 0, 0)
        return (low, high, other_low, other_high, 1, 0)

    def is_terminal(self, state: Words) -> bool:
        """Return whether a side has borne off all its checkers."""
        return self.is_off(state[0], state[1]) or self.is_off(state[2], state[3])

    def returns(self, state: Words) -> tuple[float, float]:
        """Return 1 for the side that has borne off all its checkers and -1 for the other side."""
        return (1.0, -1.0) if self.is_off(state[0], state[1]) else (-1.0, 1.0)
