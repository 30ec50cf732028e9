"""Backgammon without a cube, where a gammon counts as any other win.

Each side counts the points in its own view: its checkers move from 24 down to 1, enter from the bar, 25, and bear off to 0. The
checkers of a side are one integer with four bits for each point: bits 4 * p and up have the number on point p. So a move is a
subtraction, and a few shifts give the points from which a die can be played.
"""

import random
from collections.abc import Sequence
from math import erf, sqrt
from operator import getitem
from typing import ClassVar

from arena import CHANCE, Action, Game, heuristic
from arena_games.backgammon_rules import CheckerRules

State = tuple[int, int, int, str]
"""The checkers of both sides, the seat to move, and its throw; '' before the throw."""
Sides = tuple[int, int]
"""The checkers of the side that moves and of the other, both in the view of the side that moves."""
Plays = dict[Sides, tuple[tuple[int, int], ...]]
"""Positions within a turn, each with its moves: the bit of the start point, and the die."""

BAR, POINTS = 25, range(1, 25)
ALL_OFF = 15
START = sum(count << 4 * point for point, count in ((24, 2), (13, 5), (8, 3), (6, 5)))
ONES = sum(1 << 4 * point for point in range(26))
BOARD = sum(1 << 4 * point for point in POINTS)
AT_HOME = 1 << 4 * 7
"""An upper bound of the checkers of a side whose checkers are all at home or off."""
ROLLS = {
    f"{high}-{low}": ((high,) * 4 if high == low else (high, low), (1 if high == low else 2) / 36)
    for high in range(1, 7)
    for low in range(1, high + 1)
}
"""The dice of every roll, and its probability."""
OUTCOMES = [(roll, probability) for roll, (_, probability) in ROLLS.items()]
ONLY_PASS = ("pass",)


def _name(point: int) -> str:
    return "bar" if point == BAR else str(point) if point > 0 else "off"


NAMES = {(1 << 4 * point, die): f"{_name(point)}/{_name(point - die)}" for point in range(1, 26) for die in range(1, 7)}
"""The text of a move, by the bit of its point and the die."""
PIPS = [[point * (byte & 15) + (point + 1) * (byte >> 4) for byte in range(256)] for point in range(0, BAR + 1, 2)]
"""The pips of the checkers on two points, by the byte of both."""
ENDS = {name: (bit, max(1, bit >> 4 * die)) for (bit, die), name in NAMES.items()}
"""The bits of the start and end points of a move, by its text."""


class Backgammon(Game):
    """Checkers run home against each other by the dice; who bears all fifteen off first wins.

    Seat 0 begins with any throw. As many dice as possible must be played, and the higher one if only one of them can be played.
    Actions name the moves in the view of the seat, from the highest point down: `24/23 13/11`, `bar/22 6/off`, `pass`. Text
    notation: points 25 (the bar) to 1 and the checkers off, for a, then for b in its own view, and the seat with its throw,
    `0.2.0... 0.2.0... a 3-1`.
    """

    name = "backgammon"
    default_heuristic: ClassVar[str | None] = "pip-count"
    board = "boards/backgammon.js"

    def initial(self, rng: random.Random) -> State:
        """Return the standard start, seat 0 to throw."""
        return (START, START, 0, "")

    def to_move(self, state: State) -> int:
        """Return the seat whose turn it is, CHANCE before its throw."""
        return state[2] if state[3] else CHANCE

    def chance_outcomes(self, state: State) -> Sequence[tuple[str, float]]:
        """Return the 21 rolls; doubles are half as likely as the others."""
        return OUTCOMES

    def chance_stream(self, state: State) -> int:
        """Return the seat that throws: each has dice of its own."""
        return state[2]

    def actions(self, state: State) -> Sequence[Action]:
        """Return the rolls, or one action for each position that the throw can lead to; `pass` if nothing can move."""
        if not state[3]:
            return () if self.is_terminal(state) else list(ROLLS)
        own, other = _in_view(state)
        blocked = BOARD & (other >> 1 | other >> 2 | other >> 3)
        dice = ROLLS[state[3]][0]
        plays = _play_both(own, other, dice, blocked) if len(dice) == 2 else _play_double(own, other, dice, blocked)
        return [" ".join([NAMES[move] for move in sorted(moves, reverse=True)]) for moves in plays.values()] or ONLY_PASS

    def result(self, state: State, action: Action) -> State:
        """Throw the dice, or move checkers; a checker that is hit goes to the bar."""
        x, o, seat, roll = state
        if not roll:
            return (x, o, seat, action)
        if action == "pass":
            return (x, o, 1 - seat, "")
        own, other = _play_moves(state, action.split(" "))
        return (mirror(other), own, 0, "") if seat else (own, mirror(other), 1, "")

    def is_terminal(self, state: State) -> bool:
        """Return whether a side has borne all off."""
        return ALL_OFF in state[:2]

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the side that has borne all off and -1 for the other."""
        return (1.0, -1.0) if state[0] == ALL_OFF else (-1.0, 1.0)

    def compiled(self) -> CheckerRules:
        """Return the rules over whole numbers, for random play."""
        return CheckerRules(ROLLS, NAMES)

    def render(self, state: State) -> str:
        """Return the board in the view of a, o for the checkers of b, with the bars, the checkers off and the throw."""
        x, o, seat, roll = state
        other = mirror(o)
        counts = {point: (count(x, point), count(other, point)) for point in POINTS}
        marks = {point: f"{a}x" if a else f"{b}o" if b else " ." for point, (a, b) in counts.items()}
        rows = [(range(13, 25), "13 to 24"), (range(12, 0, -1), "12 to 1")]
        lines = [f"{' '.join([marks[point] for point in row])}   {name}" for row, name in rows]
        sides = [
            f"{name} {mark}: bar {count(side, BAR)}, off {count(side, 0)}"
            for name, mark, side in zip("ab", "xo", (x, o), strict=True)
        ]
        turn = "over" if self.is_terminal(state) else f"{'ab'[seat]} {f'has thrown {roll}' if roll else 'to throw'}"
        return "\n".join([*lines, *sides, turn])

    def format_state(self, state: State) -> str:
        """Return the points of a and b, the seat and its throw."""
        x, o, seat, roll = state
        sides = [".".join([str(count(side, point)) for point in range(BAR, -1, -1)]) for side in (x, o)]
        return " ".join([*sides, "ab"[seat], roll]).rstrip()

    def parse_state(self, text: str) -> State:
        """Return the state of a text; ValueError for other numbers of checkers, two sides on a point, and an unknown throw."""
        words = text.split()
        if len(words) not in (3, 4) or words[2] not in ("a", "b") or (len(words) == 4 and words[3] not in ROLLS):
            raise ValueError(f"expected the checkers of a and b, the seat a or b and perhaps a throw such as 3-1, got {text!r}")
        x, o = _parse_side(words[0]), _parse_side(words[1])
        shared = [point for point in POINTS if count(x, point) and count(o, BAR - point)]
        if shared:
            raise ValueError(f"expected a point to be of one side, got both on {shared[0]} of a in {text!r}")
        return (x, o, "ab".index(words[2]), words[3] if len(words) == 4 else "")

    def parse_action(self, state: State, text: str) -> Action:
        """Return the action that leads to the same position as a text. The text may have its moves in another order or use other
        points.
        """
        moves = text.lower().split()
        if state[3] and moves and all(move in ENDS for move in moves):
            legal = self.actions(state)
            if (same := " ".join(moves)) in legal:
                return same
            wanted = _play_moves(state, moves)
            for action in legal:
                if action != "pass" and _play_moves(state, action.split(" ")) == wanted:
                    return action
        return super().parse_action(state, text.lower())


def count(side: int, point: int) -> int:
    """Return the number of checkers of a side on a point in its own view; 25 is the bar, 0 is off."""
    return side >> 4 * point & 15


def mirror(side: int) -> int:
    """Return a side in the view of the other one: point p becomes 25 - p."""
    return int(f"{side:026x}"[::-1], 16)


def _in_view(state: State) -> Sides:
    """The checkers of the side to move and of the other, in the view of the first."""
    x, o, seat, _ = state
    return (o, mirror(x)) if seat else (x, mirror(o))


def _play_moves(state: State, moves: Sequence[str]) -> Sides:
    """The checkers after some moves, in the view of the side that moves. Legality is not checked."""
    own, other = _in_view(state)
    for move in moves:
        own, other = _move(own, other, *ENDS[move])
    return own, other


def _move(own: int, other: int, leaves: int, reaches: int) -> Sides:
    own += reaches - leaves
    hit = reaches > 1 and other & reaches  # a blot is a single bit; 0 is their bar
    return (own, other - reaches + 1) if hit else (own, other)


def _step(positions: Plays, die: int, blocked: int) -> Plays:
    """Every position after one more move by a die, with a way to it."""
    after: Plays = {}
    for (own, other), moves in positions.items():
        taken = (own | own >> 1 | own >> 2 | own >> 3) & ONES & ~1
        on_bar = taken >> 4 * BAR << 4 * BAR
        leaving = (on_bar or taken) & ~(blocked << 4 * die) & -(1 << 4 * (die + 1))
        while leaving:
            bit = leaving & -leaving
            leaving ^= bit
            after.setdefault(_move(own, other, bit, bit >> 4 * die), (*moves, (bit, die)))
        if own < AT_HOME:
            exact = 1 << 4 * die
            bit = exact if taken & exact or taken >> 4 * die else 1 << taken.bit_length() >> 1  # the highest, if none is above
            if taken & bit:
                after.setdefault((own - bit + 1, other), (*moves, (bit, die)))
    return after


def _play_double(own: int, other: int, dice: Sequence[int], blocked: int) -> Plays:
    """The positions after as many moves as possible with equal dice."""
    plays: Plays = {(own, other): ()}
    for die in dice:
        further = _step(plays, die, blocked)
        if not further:
            break
        plays = further
    return plays if (own, other) not in plays else {}


def _play_both(own: int, other: int, dice: Sequence[int], blocked: int) -> Plays:
    """The positions after both dice, else after the higher one, else after the lower one."""
    high, low = dice
    nothing: Plays = {(own, other): ()}
    after_high, after_low = _step(nothing, high, blocked), _step(nothing, low, blocked)
    both = _step(after_low, high, blocked)
    both.update(_step(after_high, low, blocked))
    return both or after_high or after_low


def _parse_side(text: str) -> int:
    """The checkers of a side from its points; ValueError if it is not 26 numbers that add up to 15."""
    counts = text.split(".")
    if len(counts) != BAR + 1 or not all(one.isdecimal() for one in counts) or sum(map(int, counts)) != ALL_OFF:
        raise ValueError(f"expected 26 numbers that add up to 15, for the bar, points 24 to 1 and off, got {text!r}")
    return sum([int(one) << 4 * point for point, one in zip(range(BAR, -1, -1), counts, strict=True)])


def pips(side: int) -> int:
    """Return the pip count of a side; a checker on the bar counts 25."""
    return sum(map(getitem, PIPS, side.to_bytes(len(PIPS), "little")))


@heuristic("pip-count", game="backgammon")
def pip_count(game: Backgammon, state: State, player: int = 0) -> float:
    """The probability to win the race from the pip counts of both sides, without hits and blocks.

    With a lead of D pips, S pips of both, and the turn worth 4 pips, the probability is the normal distribution function at
    (D + 4) / sqrt(2 * (S - 4)): D. Kleinman, Vision Laughs at Counting, 1980. The scale is from -0.99 to 0.99.
    """
    x, o, seat, _ = state
    own, other = (pips(o), pips(x)) if seat else (pips(x), pips(o))
    value = 0.99 * erf((other - own + 4) / (2 * sqrt(max(1, own + other - 4))))
    return value if seat == player else -value
