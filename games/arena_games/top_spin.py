"""TopSpin: tokens on a ring, with a turntable that reverses some of them. The puzzle is by Binary Arts, 1989.

A state holds the tokens along the ring, beginning with token 1. So turns of the whole ring, which are free, do not change a
state.
"""

import random
from collections.abc import Sequence
from math import perm
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Puzzle, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.pattern_tables import load_table, search_backward

State = tuple[int, ...]

MAX_TABLE_ENTRIES = 1 << 20


class TopSpin(Puzzle):
    """Reverse `k` neighbouring tokens on a ring of `n` tokens, repeatedly, until all tokens are in order.

    An action is the place of the first token that is reversed, counted along the ring; token 1 is at place 1. `shuffle` is the
    number of random actions from the goal to a position. Text notation: the tokens along the ring, `1 3 2 4 5`.
    """

    name = "top-spin"
    rules_text = (
        "A ring has `n` tokens numbered 1 to `n`. A move reverses the order of `k` tokens that lie next to each "
        "other. The goal is that the tokens are in order, with token 1 at place 1, and with as few moves as possible. A "
        "move is the place of the first token that is reversed, counted along the ring from 1; place 1 follows the last "
        "place. A position is written as the tokens along the ring: `1 3 2 4 5`."
    )
    default_heuristic: ClassVar[str | None] = "pattern-db"
    board = "boards/top_spin.js"

    def __init__(
        self,
        *,
        n: Annotated[int, Field(ge=4, le=30)] = 12,
        k: Annotated[int, Field(ge=2, le=28)] = 4,
        shuffle: Annotated[int, Field(ge=0, le=100_000)] = 100,
    ) -> None:
        if k > n - 2 or (k % 2 and n % 2 == 0):  # a larger k only mirrors the ring; an odd k keeps tokens on even or odd places
            raise ValueError(f"k: expected at most {n - 2}{'' if n % 2 else ' and an even number'} with {n} tokens, got {k}")
        self.n = n
        self.k = k
        self.shuffle = shuffle
        self.goal = tuple(range(1, n + 1))

    def initial(self, rng: random.Random) -> State:
        """Return the state after `shuffle` random actions from the goal."""
        state = self.goal
        for _ in range(self.shuffle):
            state = self.result(state, rng.randrange(1, self.n + 1))
        return state

    def actions(self, state: State) -> Sequence[int]:
        """Return all places."""
        return range(1, self.n + 1)

    def result(self, state: State, action: int) -> State:
        """Reverse `k` tokens from a place on, and list the ring from token 1 again."""
        n, last = self.n, action + self.k - 2
        first = 0  # the place to which token 1 moves, from 0
        if last >= n:  # the last tokens come around to the first places, and token 1 is among them
            first = action - 1 + last - n
        elif action == 1:
            first = last
        return tuple(
            [
                state[
                    (action - 1 + last - (place + first)) % n
                    if (place + first - action + 1) % n < self.k
                    else (place + first) % n
                ]
                for place in range(self.n)
            ]
        )

    def is_goal(self, state: State) -> bool:
        """Return whether the tokens are in order."""
        return all(state[place] == place + 1 for place in range(self.n))

    def is_terminal(self, state: State) -> bool:
        """Return whether the tokens are in order. This puzzle has no dead ends."""
        return self.is_goal(state)

    def action_space(self) -> Sequence[int]:
        """Return all places."""
        return range(1, self.n + 1)

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `1 3 2 4 5`."""
        return " ".join(map(str, state))

    def parse_state(self, text: str) -> State:
        """Parse a text such as `1 3 2 4 5`, which may begin at any token. Raises ValueError if the tokens are wrong or the
        position has no solution.
        """
        words = text.split()
        tokens = tuple([int(word) if word.isdecimal() else 0 for word in words])
        if sorted(tokens) != list(self.goal):
            raise ValueError(f"expected each of 1 to {self.n} once, got {abbreviate(text)}")
        start = tokens.index(1)
        state = tokens[start:] + tokens[:start]
        swaps = self.k * (self.k - 1) // 2
        odd = sum(state[j] < state[i] for i in range(self.n) for j in range(i + 1, self.n)) % 2
        if odd and self.n % 2 and swaps % 2 == 0:  # neither an action nor a turn of the ring changes the parity
            raise ValueError(
                f"unsolvable: each action is an even permutation of the tokens, and {abbreviate(text)} is an odd one"
            )
        return state


@heuristic("pattern-db", game="top-spin", admissible=True, consistent=True)
class TopSpinPatterns:
    """The fewest actions that bring a set of tokens into place, regardless of the other tokens; there are several sets, and
    the largest number counts.

    Each set has token 1 and `tokens` other tokens that are neighbours in the goal; neighbouring sets share half of these tokens.
    Tables are built once and kept in the user's cache folder. J. Culberson, J. Schaeffer, Pattern Databases, 1998; R. Korf, A.
    Felner used the largest of several tables.
    """

    def __init__(self, game: TopSpin, *, tokens: Annotated[int, Field(ge=1, le=8)] = 3) -> None:
        tokens = min(tokens, game.n - 1)
        if game.n**tokens > MAX_TABLE_ENTRIES:
            raise ValueError(f"tokens: a table for {tokens} of {game.n} tokens is too large; use fewer tokens")
        step = max(1, tokens // 2)
        firsts = [*range(2, game.n - tokens + 1, step), game.n - tokens + 1]
        self._n = game.n
        self._sets = len(firsts)
        self._size = game.n**tokens
        weights = []
        self._table = b""
        for first in firsts:
            wanted = tuple(range(first, first + tokens))
            self._table += distance_table(game, wanted)
            weights += [game.n ** wanted.index(token) if token in wanted else 0 for token in range(game.n + 1)]
        self._weights = tuple(weights)
        """For each set and each token: the factor of its place in the index of the table; 0 outside the set."""

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of actions to the goal."""
        best = 0
        for number in range(self._sets):
            entry = number * self._size
            start = number * (self._n + 1)
            for place in range(self._n):
                entry += place * self._weights[start + state[place]]
            best = max(best, self._table[entry])
        return best


def distance_table(game: TopSpin, wanted: tuple[int, ...]) -> bytes:
    """Return the fewest actions to the goal by the places of the tokens in `wanted`. The first token is the lowest digit."""
    n = game.n

    def index(state: State) -> int:
        return sum(state.index(token) * n**digit for digit, token in enumerate(wanted))

    def build() -> bytes:
        found = bytearray(n ** len(wanted))

        def enter(state: State, distance: int) -> None:
            found[index(state)] = distance

        goal = tuple([token if token in wanted or token == 1 else 0 for token in game.goal])
        what = f"pattern database of tokens {', '.join(map(str, wanted))}"
        placements = perm(n - 1, len(wanted))
        search_backward(what, goal, placements, lambda state: [game.result(state, one) for one in game.actions(state)], enter)
        return bytes(found)

    return load_table(f"top-spin-{n}-{game.k}-{'.'.join(map(str, wanted))}", n ** len(wanted), build)


@encoding("features", game="top-spin", shape=lambda game: (game.n, game.n))
def top_spin_features(game: TopSpin, observation: State, seat: int) -> list[float]:
    """Return, for each place from token 1 on, a 1 at the number of its token."""
    return [float(token == other) for token in observation for other in game.goal]
