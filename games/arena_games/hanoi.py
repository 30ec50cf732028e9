"""The towers of Hanoi with any number of pegs (E. Lucas, 1883); with four pegs, it is the Reve's puzzle (H. Dudeney, 1907).

A state holds the peg of each disc, the smallest disc first.
"""

import random
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from arena import Puzzle, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.pattern_tables import load_table, search_backward

State = tuple[int, ...]

LETTERS = "abcdefgh"
MAX_TABLE_ENTRIES = 1 << 20
MAX_DISTANCE = 255
"""The largest number in a table. On three pegs, nine discs or more need more moves than this."""


class Hanoi(Puzzle):
    """Move a tower of discs to the last peg, one disc at a time, and never a disc onto a smaller one.

    Also called the Tower of Hanoi. There are `discs` discs and `pegs` pegs. An action names the peg to take a disc from and the
    peg to put it on, `ad`. With `start: tower`, all discs begin on peg a; otherwise each begins on a random peg. Text notation:
    the discs of each peg from the bottom, `4 3 / 2 1 / - / -`.
    """

    name = "hanoi"
    rules_text = (
        "Discs of different sizes lie on pegs with the letters a, b, c and so on. A move takes the top disc of one peg "
        "and puts it onto another peg, but never onto a smaller disc. The goal is that all discs lie on the last peg, "
        "with as few moves as possible. The move `ad` takes a disc from peg a and puts it onto peg d. A position is "
        "written as the discs of each peg from the bottom, with 1 for the smallest disc and - for an empty peg: `4 3 / 2 "
        "1 / - / -`."
    )
    default_heuristic: ClassVar[str | None] = "pattern-db"
    board = "boards/hanoi.js"

    def __init__(
        self,
        *,
        discs: Annotated[int, Field(ge=1, le=30)] = 7,
        pegs: Annotated[int, Field(ge=3, le=8)] = 4,
        start: Literal["random", "tower"] = "random",
    ) -> None:
        self.discs = discs
        self.pegs = pegs
        self.start = start
        self.goal = (pegs - 1,) * discs
        self._highest_sum = (pegs - 1) * discs

    def initial(self, rng: random.Random) -> State:
        """Return the tower on peg a with `start: tower`, otherwise a random state."""
        if self.start == "tower":
            return (0,) * self.discs
        return tuple([rng.randrange(self.pegs) for _ in range(self.discs)])

    def actions(self, state: State) -> Sequence[int]:
        """Return the moves of an uppermost disc to an empty peg or onto a larger disc, as numbers `from * pegs + to`."""
        tops = [self.discs] * self.pegs
        for above in range(self.discs):
            disc = self.discs - 1 - above
            tops[state[disc]] = disc
        return [move for move in range(self.pegs * self.pegs) if tops[move // self.pegs] < tops[move % self.pegs]]

    def result(self, state: State, action: int) -> State:
        """Move the uppermost disc of a peg to another peg."""
        source, target = divmod(action, self.pegs)
        top = 0
        while state[top] != source:
            top += 1
        return tuple([target if disc == top else peg for disc, peg in enumerate(state)])

    def is_goal(self, state: State) -> bool:
        """Return whether all discs are on the last peg."""
        return sum(state) == self._highest_sum

    def is_terminal(self, state: State) -> bool:
        """Return whether all discs are on the last peg. This puzzle has no dead ends."""
        return self.is_goal(state)

    def action_space(self) -> Sequence[int]:
        """Return a move from each peg to each other peg."""
        return [move for move in range(self.pegs**2) if move // self.pegs != move % self.pegs]

    def render(self, state: State) -> str:
        """Return a line for each peg with its discs from the bottom."""
        return "\n".join([f"{LETTERS[number]} {tower}" for number, tower in enumerate(self._towers(state))])

    def _towers(self, state: State) -> list[str]:
        discs = range(self.discs, 0, -1)
        return [" ".join([str(disc) for disc in discs if state[disc - 1] == peg]) or "-" for peg in range(self.pegs)]

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `4 3 / 2 1 / - / -`."""
        return " / ".join(self._towers(state))

    def parse_state(self, text: str) -> State:
        """Parse a text such as `4 3 / 2 1 / - / -`. Raises ValueError for wrong discs or pegs, or a disc on a smaller one."""
        towers = [tower.split() for tower in text.split("/")]
        if len(towers) != self.pegs:
            raise ValueError(f"expected {self.pegs} pegs joined by /, got {len(towers)} in {abbreviate(text)}")
        places: dict[int, int] = {}
        for peg, tower in enumerate(towers):
            try:
                discs = [int(disc) for disc in tower if disc != "-"]
            except ValueError:
                raise ValueError(f"expected numbers of discs, or - for an empty peg, got {abbreviate(text)}") from None
            if discs != sorted(discs, reverse=True):
                raise ValueError(f"peg {LETTERS[peg]} has a disc on a smaller one in {abbreviate(text)}")
            places.update(dict.fromkeys(discs, peg))
        if sorted(places) != list(range(1, self.discs + 1)) or sum(map(len, towers)) - text.count("-") != self.discs:
            raise ValueError(f"expected each disc from 1 to {self.discs} once, got {abbreviate(text)}")
        return tuple([places[disc] for disc in sorted(places)])

    def format_action(self, state: State, action: int) -> str:
        """Return the text of an action, such as `ad` for a move from peg a to peg d."""
        return f"{LETTERS[action // self.pegs]}{LETTERS[action % self.pegs]}"


@heuristic("pattern-db", game="hanoi", admissible=True, consistent=True)
class HanoiPatterns:
    """The sum, over disjoint sets of discs, of the fewest moves that would solve the puzzle if only the discs in the set existed.

    A move moves one disc, so the sum never overestimates. `partition` gives the sizes of the sets, from the smallest disc on, as
    in `6-1`; by default, sets have at most 6 discs. A set of k discs has a table of `pegs` to the power of k entries, which is
    built once and kept in the user's cache folder. A. Felner, R. Korf, S. Hanan, Additive Pattern Database Heuristics, 2004.
    """

    def __init__(self, game: Hanoi, *, partition: str | None = None) -> None:
        self._pegs = game.pegs
        sizes = _read_sizes(game, partition)
        self._starts = [-1] * game.discs
        """For the last disc of each set, the start of its table; -1 for other discs."""
        self._table = b""
        last = -1
        for size in sizes:
            last += size
            self._starts[last] = len(self._table)
            self._table += distance_table(size, game.pegs)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of moves to the goal."""
        total = entry = 0
        for disc, peg in enumerate(state):
            entry = entry * self._pegs + peg
            if self._starts[disc] >= 0:
                total += self._table[self._starts[disc] + entry]
                entry = 0
        return total


def _read_sizes(game: Hanoi, partition: str | None) -> list[int]:
    if partition is None:
        return [min(6, game.discs - first) for first in range(0, game.discs, 6)]
    words = partition.split("-")
    sizes = [int(word) if word.isdecimal() else 0 for word in words]
    if min(sizes) < 1 or sum(sizes) != game.discs:
        raise ValueError(f"partition: expected sizes that add up to {game.discs}, such as 6-1, got {partition!r}")
    if game.pegs ** max(sizes) > MAX_TABLE_ENTRIES:
        raise ValueError(f"partition: a table for {max(sizes)} discs on {game.pegs} pegs is too large; use smaller sets")
    return sizes


def distance_table(discs: int, pegs: int) -> bytes:
    """Return the distances of all states to the goal. The lowest digit of an index is the peg of the largest disc."""
    game = Hanoi(discs=discs, pegs=pegs)

    def build() -> bytes:
        found = bytearray(pegs**discs)

        def enter(state: State, distance: int) -> None:
            entry = 0
            for peg in state:
                entry = entry * pegs + peg
            found[entry] = min(distance, MAX_DISTANCE)

        what = f"pattern database of {discs} discs on {pegs} pegs"
        search_backward(
            what, game.goal, pegs**discs, lambda state: [game.result(state, one) for one in game.actions(state)], enter
        )
        return bytes(found)

    return load_table(f"hanoi-{pegs}-{discs}", pegs**discs, build)


@encoding("features", game="hanoi", shape=lambda game: (game.discs, game.pegs))
def hanoi_features(game: Hanoi, observation: State, seat: int) -> list[float]:
    """Return, for each disc from the smallest, a 1 at its peg."""
    return [float(peg == place) for peg in observation for place in range(game.pegs)]
