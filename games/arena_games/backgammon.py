"""Backgammon without the doubling cube; a gammon counts like any other win.

Each side numbers the points from its own view. Its checkers move from 24 down to 1, enter from the bar (25), and bear off to 0.
The checkers of a side are stored in one integer with four bits per point: the bits from 4 * p on hold the number of checkers on
point p. So a move is a subtraction, and a few shifts give the points from which a die can be played.
"""

import random
from collections.abc import Sequence
from math import erf, sqrt
from operator import getitem
from typing import ClassVar

from arena import CHANCE, Action, Game, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.backgammon_rules import CheckerRules

State = tuple[int, int, int, str]
"""The checkers of both sides, the seat to move, and its throw, which is '' before the throw."""
Sides = tuple[int, int]
"""The checkers of the side that moves and of the other side, both from the view of the side that moves."""
Plays = dict[Sides, tuple[tuple[int, int], ...]]
"""Positions during a turn, each with the moves that lead to it. A move is the bit of its start point, and the die."""

BAR, POINTS = 25, range(1, 25)
ALL_OFF = 15
START = sum(count << 4 * point for point, count in ((24, 2), (13, 5), (8, 3), (6, 5)))
ONES = sum(1 << 4 * point for point in range(26))
BOARD = sum(1 << 4 * point for point in POINTS)
AT_HOME = 1 << 4 * 7
"""If the integer of a side is below this bound, all checkers of the side are at home or off the board."""
ROLLS = {
    f"{high}-{low}": ((high,) * 4 if high == low else (high, low), (1 if high == low else 2) / 36)
    for high in range(1, 7)
    for low in range(1, high + 1)
}
"""The dice of every roll, with its probability."""
OUTCOMES = [(roll, probability) for roll, (_, probability) in ROLLS.items()]
ONLY_PASS = ("pass",)


def _name(point: int) -> str:
    return "bar" if point == BAR else str(point) if point > 0 else "off"


NAMES = {(1 << 4 * point, die): f"{_name(point)}/{_name(point - die)}" for point in range(1, 26) for die in range(1, 7)}
"""The texts of the moves; a key is the bit of the start point and the number on the die."""
PIPS = [[point * (byte & 15) + (point + 1) * (byte >> 4) for byte in range(256)] for point in range(0, BAR + 1, 2)]
"""For every two neighbouring points, the pips of their checkers; the index is the byte that holds both points."""
ENDS = {name: (bit, max(1, bit >> 4 * die)) for (bit, die), name in NAMES.items()}
"""The bits of the start and end points of the moves; the keys are the texts of the moves."""


class Backgammon(Game):
    """Both sides move their checkers home by the dice; the first side that bears off all fifteen checkers wins.

    The first seat begins, and its first throw may also be doubles. As many dice as possible must be played. If only one of two
    dice can be played, it must be the higher one if possible. Actions name the moves from the view of the seat, beginning with
    the highest point: `24/23 13/11`, `bar/22 24/20`, `6/off 5/off`, `pass`. Text notation: the numbers of checkers on points 25
    (the bar) to 1 and off the board, for side a and then for side b, each from its own view, followed by the seat and its throw,
    `0.2.0... 0.2.0... a 3-1`.
    """

    name = "backgammon"
    rules_text = (
        "Two sides, a and b, move fifteen checkers each over 24 points, in opposite directions. Each side numbers the points "
        "from its own view, so point 1 of a side is point 24 of the other side. Checkers move from high to low numbers. a "
        "begins. A side throws two dice and plays each of them: it moves a checker down by as many points as the die shows. "
        "Equal dice are played four times. A checker cannot move to a point with two or more checkers of the other side. If "
        "it moves to a point with a single one, that checker goes to the bar. A side with checkers on the bar must first "
        "bring them back: a die of 3 leads from the bar to point 22. When all checkers of a side are on its points 1 to 6, "
        "it may bear them off: a die takes a checker off the point with its number; if that point and all higher points are "
        "empty, it takes one off the highest point. As many dice as possible must be played. If either of two dice can be "
        "played but not both, the higher one must be played. The first side that bears off all its checkers wins; all wins "
        "count the same. A move is written with its starts and ends, highest point first, such as `24/23 13/11`, `bar/22 "
        "24/20` or `6/off 5/off`; a side that cannot move plays `pass`. A position is written as the numbers of checkers of "
        "a on the bar, on the points 24 to 1 and off the board, joined by dots; then the same for b, from its own view; then "
        "the side to move and its throw, such as 3-1: `0.2.0.0.0.0.0.0.0.0.0.0.5.0.0.0.0.3.0.5.0.0.0.0.0.0 "
        "0.2.0.0.0.0.0.0.0.0.0.0.5.0.0.0.0.3.0.5.0.0.0.0.0.0 a 3-1`."
    )
    default_heuristic: ClassVar[str | None] = "pip-count"
    board = "boards/backgammon.js"

    def initial(self, rng: random.Random) -> State:
        """Return the standard start; seat 0 throws first."""
        return (START, START, 0, "")

    def to_move(self, state: State) -> int:
        """Return the seat whose turn it is, or CHANCE before its throw."""
        return state[2] if state[3] else CHANCE

    def chance_outcomes(self, state: State) -> Sequence[tuple[str, float]]:
        """Return the 21 rolls. Doubles are half as likely as the others."""
        return OUTCOMES

    def chance_stream(self, state: State) -> int:
        """Return the seat that throws; each seat has its own dice."""
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
        """Return whether a side has borne off all its checkers."""
        return ALL_OFF in state[:2]

    def returns(self, state: State) -> Sequence[float]:
        """Return 1 for the side that has borne off all its checkers and -1 for the other side."""
        return (1.0, -1.0) if state[0] == ALL_OFF else (-1.0, 1.0)

    def compiled(self) -> CheckerRules:
        """Return the rules written with whole numbers, for random play."""
        return CheckerRules(ROLLS, NAMES)

    def render(self, state: State) -> str:
        """Return the board from the view of side a (o is a checker of b), with the bars, the checkers off the board and the
        throw.
        """
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
        turn = "over" if self.is_terminal(state) else f"{'ab'[seat]} {f'has rolled {roll}' if roll else 'to roll'}"
        return "\n".join([*lines, *sides, turn])

    def format_state(self, state: State) -> str:
        """Return the checkers on the points of side a and of side b, and the seat with its throw."""
        x, o, seat, roll = state
        sides = [".".join([str(count(side, point)) for point in range(BAR, -1, -1)]) for side in (x, o)]
        return " ".join([*sides, "ab"[seat], roll]).rstrip()

    def parse_state(self, text: str) -> State:
        """Parse the text notation. Raises ValueError if there are wrong numbers of checkers, both sides are on one point, or the
        throw is wrong.
        """
        words = text.split()
        if len(words) not in (3, 4) or words[2] not in ("a", "b") or (len(words) == 4 and words[3] not in ROLLS):
            raise ValueError(
                f"expected the checkers of a and b, the seat a or b and optionally a roll such as 3-1, got {abbreviate(text)}"
            )
        x, o = _parse_side(words[0]), _parse_side(words[1])
        shared = [point for point in POINTS if count(x, point) and count(o, BAR - point)]
        if shared:
            raise ValueError(
                f"expected checkers of only one side on each point, got both on point {shared[0]} of a in {abbreviate(text)}"
            )
        return (x, o, "ab".index(words[2]), words[3] if len(words) == 4 else "")

    def parse_action(self, state: State, text: str) -> Action:
        """Return the legal action that leads to the same position as the moves in `text`.

        The moves may be in another order, or may pass over other points in between.
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
    """Return the number of checkers of a side on a point from its own view; 25 is the bar, 0 is off the board."""
    return side >> 4 * point & 15


def mirror(side: int) -> int:
    """Return a side from the view of the other side: point p becomes 25 - p."""
    return int(f"{side:026x}"[::-1], 16)


def _in_view(state: State) -> Sides:
    """Return the checkers of the side to move and of the other side, from the view of the side to move."""
    x, o, seat, _ = state
    return (o, mirror(x)) if seat else (x, mirror(o))


def _play_moves(state: State, moves: Sequence[str]) -> Sides:
    """Return the checkers after some moves, from the view of the side that moves. The moves are not checked."""
    own, other = _in_view(state)
    for move in moves:
        own, other = _move(own, other, *ENDS[move])
    return own, other


def _move(own: int, other: int, leaves: int, reaches: int) -> Sides:
    own += reaches - leaves
    hit = reaches > 1 and other & reaches  # a single checker is one bit; the lowest point is the other side's bar
    return (own, other - reaches + 1) if hit else (own, other)


def _step(positions: Plays, die: int, blocked: int) -> Plays:
    """Return every position after one more move with a die, and moves that lead to it."""
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
            bit = exact if taken & exact or taken >> 4 * die else 1 << taken.bit_length() >> 1  # otherwise the highest checker
            if taken & bit:
                after.setdefault((own - bit + 1, other), (*moves, (bit, die)))
    return after


def _play_double(own: int, other: int, dice: Sequence[int], blocked: int) -> Plays:
    """Return the positions after as many moves as possible with equal dice."""
    plays: Plays = {(own, other): ()}
    for die in dice:
        further = _step(plays, die, blocked)
        if not further:
            break
        plays = further
    return plays if (own, other) not in plays else {}


def _play_both(own: int, other: int, dice: Sequence[int], blocked: int) -> Plays:
    """Return the positions after both dice; if there are none, after the higher die; if there are none, after the lower die."""
    high, low = dice
    nothing: Plays = {(own, other): ()}
    after_high, after_low = _step(nothing, high, blocked), _step(nothing, low, blocked)
    both = _step(after_low, high, blocked)
    both.update(_step(after_high, low, blocked))
    return both or after_high or after_low


def _parse_side(text: str) -> int:
    """Return the checkers of a side from its points. Raises ValueError unless these are 26 numbers that add up to 15."""
    counts = text.split(".")
    if len(counts) != BAR + 1 or not all(one.isdecimal() for one in counts) or sum(map(int, counts)) != ALL_OFF:
        raise ValueError(f"expected 26 numbers that add up to 15, for the bar, points 24 to 1 and off, got {abbreviate(text)}")
    return sum([int(one) << 4 * point for point, one in zip(range(BAR, -1, -1), counts, strict=True)])


def pips(side: int) -> int:
    """Return the pip count of a side; a checker on the bar counts 25."""
    return sum(map(getitem, PIPS, side.to_bytes(len(PIPS), "little")))


@heuristic("pip-count", game="backgammon")
def pip_count(game: Backgammon, state: State, player: int = 0) -> float:
    """Estimate the probability of winning the race from the pip counts of both sides, ignoring hits and blocks.

    With a lead of D pips, a sum S of both pip counts, and 4 pips for having the turn, the probability is the normal distribution
    function at (D + 4) / sqrt(2 * (S - 4)): D. Kleinman, Vision Laughs at Counting, 1980. The value is this probability on a
    scale from -0.99 to 0.99.
    """
    x, o, seat, _ = state
    own, other = (pips(o), pips(x)) if seat else (pips(x), pips(o))
    value = 0.99 * erf((other - own + 4) / (2 * sqrt(max(1, own + other - 4))))
    return value if seat == player else -value


@encoding("features", game="backgammon", shape=(2 * (4 * 24 + 2) + 1 + 6,))
def backgammon_features(game: Backgammon, observation: State, seat: int) -> list[float]:
    """Return the checkers of both sides, each from its own view, whether it is the seat's turn, and the dice.

    A point has four numbers, for 1, 2, 3 and more checkers: G. Tesauro, Temporal difference learning and TD-Gammon, 1995. They
    are followed by the shares of checkers on the bar and off the board. Each face of the dice has a number: how often it can be
    played, divided by four.
    """
    first, second, mover, roll = observation
    own, other = (second, first) if seat else (first, second)
    dice = ROLLS[roll][0] if roll else ()
    return [
        *_checkers(own),
        *_checkers(other),
        float(mover == seat),
        *[dice.count(face) / 4 for face in range(1, 7)],
    ]


def _checkers(side: int) -> list[float]:
    found: list[float] = []
    for point in POINTS:
        number = count(side, point)
        found += (float(number > 0), float(number > 1), float(number > 2), max(0, number - 3) / (ALL_OFF - 3))
    return [*found, count(side, BAR) / ALL_OFF, count(side, 0) / ALL_OFF]
