"""A cube of two by two by two pieces, with quarter turns. The corner at the bottom, at the back and on the left stays in place.

A state holds, for each of the other seven places, the number of the corner there times 3, plus the number of its twists. Corners
and twists are numbered as in the two-phase algorithm of H. Kociemba, with the places URF, UFL, ULB, UBR, DFR, DLF and DRB.
"""

import random
from collections.abc import Sequence
from functools import partial
from math import perm
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Puzzle, encoding, heuristic
from arena.api.errors import abbreviate
from arena_games.pattern_tables import load_table, search_backward

State = tuple[int, ...]

CORNERS = ("URF", "UFL", "ULB", "UBR", "DFR", "DLF", "DRB", "DBL")
FACELETS = (
    ("U3", "R0", "F1"), ("U2", "F0", "L1"), ("U0", "L0", "B1"), ("U1", "B0", "R1"),
    ("D1", "F3", "R2"), ("D0", "L3", "F2"), ("D3", "R3", "B2"), ("D2", "B3", "L2"),
)  # fmt: skip
"""The stickers of each place, clockwise from the upper or lower face. A sticker is written as its face and its number on this
face, row by row.
"""
FACES = "URFDLB"
TURNS = ("U", "U'", "R", "R'", "F", "F'")
SOURCES = {"U": (3, 0, 1, 2, 4, 5, 6), "R": (4, 1, 2, 0, 6, 5, 3), "F": (1, 5, 2, 3, 0, 4, 6)}
"""For each clockwise turn and each place: the place from which its new corner comes."""
TWISTS = {"U": (0, 0, 0, 0, 0, 0, 0), "R": (2, 0, 0, 1, 1, 0, 2), "F": (1, 2, 0, 0, 2, 1, 0)}
SOLVED = tuple(range(0, 21, 3))
SETS = ((0, 1, 2), (2, 3, 4), (4, 5, 6))
"""The corners of each pattern."""


class Rubik2x2(Puzzle):
    """Turn the faces of a cube with eight corners, by quarter turns, until each face has a single colour.

    Also called the pocket cube, or Rubik's cube of 2x2x2. Actions are `U`, `R`, `F` for clockwise turns, and `U'`, `R'`, `F'` for
    counter-clockwise turns. `shuffle` is the number of random turns. Text notation: the colours of the faces U, R, F, D, L, B,
    each row by row, `UUUU RRRR FFFF DDDD LLLL BBBB`.
    """

    name = "rubik-2x2"
    rules_text = (
        "A cube of 2 by 2 by 2 corner pieces has six faces: U (up), R (right), F (front), D (down), L (left) and B (back). "
        "The goal is that each face has a single colour, with as few quarter turns as possible. A move turns one face by 90 "
        "degrees: `U`, `R` and `F` clockwise, as seen from outside in front of this face, `U'`, `R'` and `F'` "
        "counter-clockwise. The corner between D, B and L never moves. A position is written as the colours on the faces U, "
        "R, F, D, L and B, four for each face, row by row. Each colour has the letter of its face in the solved cube: `UUUU "
        "RRRR FFFF DDDD LLLL BBBB`."
    )
    default_heuristic: ClassVar[str | None] = "pattern-db"
    board = "boards/rubik_2x2.js"

    def __init__(self, *, shuffle: Annotated[int, Field(ge=0, le=100_000)] = 50) -> None:
        self.shuffle = shuffle
        sources: list[int] = []
        twists: list[int] = []
        for face in "URF":
            back = [SOURCES[face].index(place) for place in range(7)]
            sources += [*SOURCES[face], *back]
            twists += [*TWISTS[face], *[-TWISTS[face][place] % 3 for place in back]]
        self.sources = tuple(sources)
        self.twists = tuple(twists)
        """For each turn, and for each of the seven places: the twist that the turn adds to the corner there."""

    def initial(self, rng: random.Random) -> State:
        """Return the state after `shuffle` random turns of a solved cube."""
        state: State = SOLVED
        for _ in range(self.shuffle):
            state = self.result(state, rng.randrange(6))
        return state

    def actions(self, state: State) -> Sequence[int]:
        """Return the numbers of the six turns."""
        return range(6)

    def result(self, state: State, action: int) -> State:
        """Turn a face."""
        first = 7 * action
        return tuple(
            [
                state[self.sources[first + place]] // 3 * 3
                + (state[self.sources[first + place]] + self.twists[first + place]) % 3
                for place in range(7)
            ]
        )

    def is_goal(self, state: State) -> bool:
        """Return whether all corners are in place, without a twist."""
        return all(state[place] == 3 * place for place in range(7))

    def is_terminal(self, state: State) -> bool:
        """Return whether the cube is solved. This puzzle has no dead ends."""
        return self.is_goal(state)

    def action_space(self) -> Sequence[int]:
        """Return the six turns."""
        return range(6)

    def render(self, state: State) -> str:
        """Return the unfolded cube: U above, then L, F, R and B side by side, D below."""
        faces = dict(zip(FACES, self.format_state(state).split(), strict=True))
        rows = [[faces[face][:2], faces[face][2:]] for face in "ULFRBD"]
        up, *sides, down = rows
        middle = [" ".join([side[row] for side in sides]) for row in (0, 1)]
        return "\n".join([*[f"   {row}" for row in up], *middle, *[f"   {row}" for row in down]])

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `UUUU RRRR FFFF DDDD LLLL BBBB`."""
        stickers: dict[str, str] = {}
        for place, corner in enumerate((*state, 21)):
            for number, colour in enumerate(CORNERS[corner // 3]):
                stickers[FACELETS[place][(number + corner) % 3]] = colour
        return " ".join(["".join([stickers[f"{face}{number}"] for number in range(4)]) for face in FACES])

    def parse_state(self, text: str) -> State:
        """Parse 24 colours. Raises ValueError for impossible corners, or if turns cannot solve the cube."""
        colours = "".join(text.upper().split())
        if len(colours) != 24:
            raise ValueError(f"expected 24 colours, four for each of U, R, F, D, L and B, got {abbreviate(text)}")
        stickers = {f"{face}{number}": colours[4 * f + number] for f, face in enumerate(FACES) for number in range(4)}
        known = {
            "".join(corner[-twist:] + corner[:-twist]): 3 * c + twist for c, corner in enumerate(CORNERS) for twist in range(3)
        }
        found = []
        for place, facelets in enumerate(FACELETS):
            corner = "".join([stickers[facelet] for facelet in facelets])
            if corner not in known:
                raise ValueError(f"no corner has the colours {corner}, which are at {CORNERS[place]} in {abbreviate(text)}")
            found.append(known[corner])
        if sorted(corner // 3 for corner in found) != list(range(8)):
            raise ValueError(f"expected each corner once, got {abbreviate(text)}")
        if found[7] != 21:
            raise ValueError(f"expected the corner DBL in its place, because no turn moves it, got {abbreviate(text)}")
        if sum(found) % 3:
            raise ValueError(f"unsolvable: no sequence of turns twists only one corner, as in {abbreviate(text)}")
        return tuple(found[:7])

    def format_action(self, state: State, action: int) -> str:
        """Return the text of an action, such as `U` or `U'`."""
        return TURNS[action]


@heuristic("pattern-db", game="rubik-2x2", admissible=True, consistent=True)
class CubePatterns:
    """The fewest turns that bring a set of three corners into place, regardless of the other corners; there are three sets, and
    the largest number counts.

    Tables are built once and kept in the user's cache folder. R. Korf, Finding Optimal Solutions to Rubik's Cube Using Pattern
    Databases, AAAI 1997.
    """

    def __init__(self, game: Rubik2x2) -> None:
        weights: list[int] = []
        self._table = b""
        for wanted in SETS:
            weights += [21 ** wanted.index(corner) if corner in wanted else 0 for corner in range(7)]
            self._table += load_table(f"rubik-2x2-{'.'.join(map(str, wanted))}", 21**3, partial(_build, game, wanted))
        self._weights = tuple(weights)
        """For each set and each corner: the factor of its place and twist in the index of the table; 0 outside the set."""

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of turns to the goal."""
        best = 0
        for number in range(3):
            entry = number * 9261
            for place in range(7):
                entry += (3 * place + state[place] % 3) * self._weights[7 * number + state[place] // 3]
            best = max(best, self._table[entry])
        return best


@heuristic("coordinates", game="rubik-2x2", admissible=True, consistent=True)
class CubeCoordinates:
    """The fewest turns that remove all twists, or that bring all corners into place regardless of their twists; the larger number
    counts.

    H. Kociemba, Close to God's Algorithm, Cubism for Fun 28, 1992, describes a cube by these two coordinates. Tables are built
    once and kept in the user's cache folder.
    """

    def __init__(self, game: Rubik2x2) -> None:
        twists = load_table("rubik-2x2-twists", 3**7, partial(_build_coordinate, game, "twists", 3**6))
        self._table = twists + load_table("rubik-2x2-places", 7**7, partial(_build_coordinate, game, "places", perm(7)))

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of turns to the goal."""
        twists, places = 0, 0
        for place in range(7):
            twists = 3 * twists + state[place] % 3
            places = 7 * places + state[place] // 3
        return max(self._table[twists], self._table[2187 + places])


def _build_coordinate(game: Rubik2x2, kind: str, total: int) -> bytes:
    """Search the twists or the places of all corners from the goal. In states for twists, every corner is corner 0; in states for
    places, no corner is twisted.
    """
    base = 3 if kind == "twists" else 7
    found = bytearray(base**7)

    def project(state: State) -> State:
        return tuple([corner % 3 if kind == "twists" else corner // 3 * 3 for corner in state])

    def expand(state: State) -> list[State]:
        return [project(game.result(state, action)) for action in range(6)]

    def enter(state: State, distance: int) -> None:
        entry = 0
        for corner in state:
            entry = base * entry + (corner if kind == "twists" else corner // 3)
        found[entry] = distance

    search_backward(f"table of the {kind} of all corners", project(SOLVED), total, expand, enter)
    return bytes(found)


def _build(game: Rubik2x2, wanted: tuple[int, ...]) -> bytes:
    found = bytearray(21**3)
    goal = tuple([corner if corner // 3 in wanted else 21 for corner in SOLVED])  # 21 to 23 are the other corners

    def expand(state: State) -> list[State]:
        return [tuple([min(corner, 21) for corner in game.result(state, action)]) for action in range(6)]

    def enter(state: State, distance: int) -> None:
        places = {corner // 3: 3 * place + corner % 3 for place, corner in enumerate(state)}
        found[sum(places[corner] * 21**digit for digit, corner in enumerate(wanted))] = distance

    what = f"pattern database of corners {', '.join(map(str, wanted))}"
    search_backward(what, goal, perm(7, len(wanted)) * 3 ** len(wanted), expand, enter)
    return bytes(found)


@encoding("features", game="rubik-2x2", shape=(7, 21))
def rubik_2x2_features(game: Rubik2x2, observation: State, seat: int) -> list[float]:
    """Return, for each place, a 1 at the number of its corner and twist."""
    return [float(corner == other) for corner in observation for other in range(21)]
