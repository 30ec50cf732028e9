"""Connect four with whole numbers, for compiled searches on boards of at most 62 bits."""

from collections.abc import Iterator

from arena.compiled import Estimate, Rules, Words

MAX_BITS = 62


class StoneRules(Rules):
    """A state is the state of the game: the stones of the side to move, all stones, the ending. An action is a column from 1."""

    words = 3

    def __init__(self, rows: int, columns: int, in_a_row: int) -> None:
        self.width = columns
        self.in_a_row = in_a_row
        self.stride = rows + 1
        self.feet = sum(1 << column * self.stride for column in range(columns))
        self.squares = self.feet * ((1 << rows) - 1)
        self.top = 1 << rows - 1
        self.steps = [1, self.stride, self.stride + 1, self.stride - 1]

    def encode(self, state: Words) -> Words:
        """Return the state itself."""
        return state

    def to_move(self, state: Words) -> int:
        """Return 0 for x if both sides have the same number of stones, otherwise 1 for o."""
        return state[1].bit_count() & 1

    def actions(self, state: Words) -> Iterator[int]:
        """Yield the columns that are not full; none at the end."""
        if state[2] == 0:
            top = self.top
            for column in range(1, self.width + 1):
                if not state[1] & top:
                    yield column
                top <<= self.stride

    def along(self, stones: int, step: int) -> int:
        """Return the cells at which sufficiently long lines of stones begin, in one direction."""
        if self.in_a_row == 4:
            run = stones & (stones >> step)
            return run & (run >> 2 * step)
        run = stones
        for n in range(1, self.in_a_row):
            run &= stones >> n * step
        return run

    def has_line(self, stones: int) -> bool:
        """Return whether enough stones are in a line."""
        up = self.along(stones, 1) | self.along(stones, self.stride)
        return (up | self.along(stones, self.stride + 1) | self.along(stones, self.stride - 1)) != 0

    def result(self, state: Words, action: int) -> Words:
        """Drop a stone of the side to move into a column."""
        own, filled, _ = state
        after = filled | (filled + (1 << (action - 1) * self.stride))
        stones = own | (after ^ filled)
        if self.has_line(stones):
            return (own ^ filled, after, 1)
        return (own ^ filled, after, 2 if after == self.squares else 0)

    def is_terminal(self, state: Words) -> bool:
        """Return whether a side has a line or the board is full."""
        return state[2] != 0

    def returns(self, state: Words) -> tuple[float, float]:
        """Return 1 for the side with a line and -1 for the other side; 0 for both if neither side has a line."""
        if state[2] != 1:
            return (0.0, 0.0)
        return (1.0, -1.0) if state[1].bit_count() & 1 else (-1.0, 1.0)

    def above(self, cells: int, n: int) -> int:
        """Return the cells that are n bits above some cells, and on the board."""
        return (cells & (self.squares >> n)) << n

    def completed(self, stones: int, step: int) -> int:
        """Return the cells that would complete a line in one direction. Some bits may be outside the board."""
        if self.in_a_row == 4:
            two = stones & (stones >> step)
            three = two & (stones >> 2 * step)
            inner = (two >> step) & self.above(stones, step) | self.above(two, 2 * step) & (stones >> step)
            return self.above(three, 3 * step) | three >> step | inner
        found = 0
        for place in range(self.in_a_row):
            cells = self.squares
            for other in range(self.in_a_row):
                if other < place:
                    cells &= self.above(stones, (place - other) * step)
                elif other > place:
                    cells &= stones >> (other - place) * step
            found |= cells
        return found

    def threats(self, state: Words, seat: int) -> Iterator[int]:
        """Yield the columns in which a stone of `seat` completes a line."""
        own, filled, ending = state
        if ending == 0:
            stones = own if filled.bit_count() & 1 == seat else own ^ filled
            wins = self.completed(stones, 1) | self.completed(stones, self.stride)
            wins |= self.completed(stones, self.stride + 1) | self.completed(stones, self.stride - 1)
            wins &= (filled + self.feet) & self.squares
            while wins:
                lowest = wins & -wins
                yield lowest.bit_length() // self.stride + 1
                wins ^= lowest


class Lines4(Estimate):
    """The heuristic `open-lines` for lines of four."""

    def __init__(self, rules: StoneRules, scale: float) -> None:
        self.steps = rules.steps
        squares = rules.squares
        self.lines = [squares & squares >> step & squares >> 2 * step & squares >> 3 * step for step in rules.steps]
        """For each direction, the cells at which a line may begin."""
        self.scale = scale

    def counted(self, own: int, other: int, step: int, lines: int) -> int:
        """Return the sum over the lines of one direction. A line without stones of `other` counts 1, 3 or 9 if it has one, two or
        three stones of `own`.
        """
        free = lines & ~(other | other >> step | other >> 2 * step | other >> 3 * step)
        one, two, three, four = own, own >> step, own >> 2 * step, own >> 3 * step
        either, both, other_one, others = one | two, one & two, three | four, three & four
        first = ((either | other_one) & free).bit_count()
        second = ((both | others | either & other_one) & free).bit_count()
        third = ((both & other_one | others & either) & free).bit_count()
        return first + 2 * second + 6 * third

    def evaluate(self, state: Words, player: int) -> float:
        """Return the value of an unfinished state for `player`."""
        own, filled, _ = state
        theirs = own ^ filled
        total = 0
        for number in range(4):
            step, lines = self.steps[number], self.lines[number]
            total += self.counted(own, theirs, step, lines) - self.counted(theirs, own, step, lines)
        value = max(-0.99, min(0.99, total / self.scale))
        return value if filled.bit_count() & 1 == player else -value


class Nearness(Estimate):
    """The heuristic `centre`."""

    def __init__(self, inner: list[int], scale: float) -> None:
        self.inner = inner
        self.scale = scale

    def evaluate(self, state: Words, player: int) -> float:
        """Return the value of a state for `player`."""
        own, filled, _ = state
        x, o = (own ^ filled, own) if filled.bit_count() & 1 else (own, own ^ filled)
        total = 0
        for cells in self.inner:
            total += (x & cells).bit_count() - (o & cells).bit_count()
        return (-total if player else total) * self.scale
