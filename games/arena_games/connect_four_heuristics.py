"""Heuristics of connect four: lines that are still open, and stones near the middle."""

from arena import heuristic
from arena_games.connect_four import ConnectFour, State
from arena_games.connect_four_rules import Lines4, Nearness, StoneRules


@heuristic("open-lines", game="connect-four")
class OpenLines:
    """Counts lines with stones of only one side. Lines with more stones count more.

    A line of `in_a_row` cells with k stones of one side and none of the other counts 3^(k-1) for that side. Written for this
    project after `open-lanes` of tic-tac-toe, which is by S. Russell and P. Norvig. The sum is divided by 10 * 3^(in_a_row - 2)
    and clipped to [-0.99, 0.99].
    """

    def __init__(self, game: ConnectFour) -> None:
        self._moved = tuple(game.moved)
        self._lines = -1  # a bit at the last cell of each line, in four copies of the board
        for moved in game.moved:
            self._lines &= game.squares * moved
        self._worth = (1, *(2 * 3**k for k in range(game.in_a_row - 2)))  # the value of the first stone and of each further stone
        self._at_least = self._of_four if game.in_a_row == 4 else self._of_any
        self._scale = 10 * 3.0 ** (game.in_a_row - 2)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of an unfinished state for `player`, within [-0.99, 0.99]."""
        own, filled, _ = state
        mine, theirs = self._at_least(own), self._at_least(own ^ filled)
        free, lost = self._lines & ~theirs[0], self._lines & ~mine[0]
        total = 0
        for worth, more, less in zip(self._worth, mine, theirs, strict=True):
            total += worth * ((more & free).bit_count() - (less & lost).bit_count())
        value = max(-0.99, min(0.99, total / self._scale))
        return value if filled.bit_count() & 1 == player else -value

    def compiled(self, rules: StoneRules) -> Lines4 | None:
        """Return the same heuristic with whole numbers; None unless lines have four stones."""
        return Lines4(rules, self._scale) if rules.in_a_row == 4 else None

    def _of_four(self, stones: int) -> tuple[int, ...]:
        """Return the lines with at least 1, 2 and 3 stones, for lines of four."""
        one, two, three, four = self._moved
        one, two, three, four = stones * one, stones * two, stones * three, stones * four
        either, both = one | two, one & two
        other, others = three | four, three & four
        return either | other, both | others | either & other, both & other | others & either

    def _of_any(self, stones: int) -> tuple[int, ...]:
        """Return the lines with at least 1, 2, ... in_a_row - 1 stones."""
        found = [self._lines] + [0] * len(self._worth)
        for moved in self._moved:
            cells = stones * moved
            for count in range(len(found) - 1, 0, -1):
                found[count] |= found[count - 1] & cells
        return tuple(found[1:])


@heuristic("centre", game="connect-four")
class Centre:
    """Counts stones. Stones nearer to the middle column count more.

    Folklore, written for this project: more lines of four pass through the middle columns. A stone in the n-th column from the
    nearer edge counts n. The difference between the sides is divided by the count of a board
    full of one side's stones, so it stays within [-0.99, 0.99].
    """

    def __init__(self, game: ConnectFour) -> None:
        self._game = game
        stride, column_cells = game.rows + 1, (1 << game.rows) - 1
        self._inner = []
        for nearness in range((game.columns + 1) // 2):
            columns = range(nearness, game.columns - nearness)
            self._inner.append(sum(column_cells << column * stride for column in columns))
        self._scale = 0.99 / sum(cells.bit_count() for cells in self._inner)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the value of a state for `player`, within [-0.99, 0.99]."""
        x, o = self._game.seats(state)
        total = 0
        for cells in self._inner:
            total += (x & cells).bit_count() - (o & cells).bit_count()
        return (-total if player else total) * self._scale

    def compiled(self, rules: StoneRules) -> Nearness:
        """Return the same heuristic with whole numbers."""
        return Nearness(self._inner, self._scale)
