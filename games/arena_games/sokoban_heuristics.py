"""Lower bounds on the pushes that solve a level of sokoban, from the pushes of single boxes."""

from arena import heuristic
from arena_games.sokoban import Sokoban, State
from arena_games.sokoban_level import LOST


@heuristic("deadlock-squares", game="sokoban", admissible=True, consistent=True)
class DeadlockSquares:
    """The number of boxes that are not on a goal; 10,000 if a box is on a square from which no push leads to any goal.

    A. Junghanns, J. Schaeffer, Sokoban: Enhancing General Single-Agent Search Methods Using Domain Knowledge, Artificial
    Intelligence 129, 2001, call these squares dead.
    """

    def __init__(self, game: Sokoban) -> None:
        self._goals = game.goals
        nearest = [min(pushes) for pushes in zip(*game.xsb.push_distances(), strict=True)]
        self._dead = sum(1 << cell for cell in game.places if nearest[cell] == LOST)

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of pushes."""
        return LOST if state[0] & self._dead else (state[0] & ~self._goals).bit_count()


@heuristic("nearest-goal", game="sokoban", admissible=True, consistent=True)
class NearestGoal:
    """The sum of the pushes from each box to its nearest goal, as if no other box were there; 10,000 if there is no way.

    A. Junghanns, J. Schaeffer, Sokoban: Enhancing General Single-Agent Search Methods Using Domain Knowledge, Artificial
    Intelligence 129, 2001, begin with this bound and replace it by `matching`.
    """

    def __init__(self, game: Sokoban) -> None:
        self._places = game.places
        self._nearest = tuple([min(pushes) for pushes in zip(*game.xsb.push_distances(), strict=True)])

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of pushes."""
        total = 0
        for cell in self._places:
            if state[0] >> cell & 1:
                total += self._nearest[cell]
        return min(total, LOST)


@heuristic("matching", game="sokoban", admissible=True, consistent=True)
class Matching:
    """The smallest sum of pushes that bring each box to a different goal, as if no other box were there; 10,000 if this is
    impossible.

    It is found by the Hungarian method: H. Kuhn, The Hungarian Method for the Assignment Problem, 1955; J. Munkres, Algorithms
    for the Assignment and Transportation Problems, 1957. The program Rolling Stone uses this bound: A. Junghanns, J. Schaeffer,
    Sokoban: Enhancing General Single-Agent Search Methods Using Domain Knowledge, Artificial Intelligence 129, 2001.
    """

    def __init__(self, game: Sokoban) -> None:
        self._places = game.places
        self._boxes = game.boxes
        self._pushes = tuple([pushes for of_cell in zip(*game.xsb.push_distances(), strict=True) for pushes in of_cell])

    def __call__(self, state: State, player: int = 0) -> float:
        """Return the estimated number of pushes."""
        size = self._boxes
        rows = [0] * (self._boxes + 1)  # the place of each box in the table of pushes, from 1
        box = 0
        for cell in self._places:
            if state[0] >> cell & 1:
                box += 1
                rows[box] = cell * size
        of_box = [0] * (self._boxes + 1)  # the dual variables of the Hungarian method
        of_goal = [0] * (self._boxes + 1)
        owner = [0] * (self._boxes + 1)
        previous = [0] * (self._boxes + 1)
        slack = [0] * (self._boxes + 1)
        done = [0] * (self._boxes + 1)
        for added in range(1, size + 1):
            owner[0] = added
            for goal in range(size + 1):
                slack[goal] = 4 * LOST * LOST
                done[goal] = 0
            current = 0
            while owner[current] != 0:
                done[current] = 1
                box, least, nearest = owner[current], 4 * LOST * LOST, 0
                for goal in range(1, size + 1):
                    if done[goal] == 0:
                        reduced = self._pushes[rows[box] + goal - 1] - of_box[box] - of_goal[goal]
                        if reduced < slack[goal]:
                            slack[goal] = reduced
                            previous[goal] = current
                        if slack[goal] < least:
                            least = slack[goal]
                            nearest = goal
                for goal in range(size + 1):
                    if done[goal] == 1:
                        of_box[owner[goal]] += least
                        of_goal[goal] -= least
                    else:
                        slack[goal] -= least
                current = nearest
            while current != 0:
                owner[current] = owner[previous[current]]
                current = previous[current]
        return min(-of_goal[0], LOST)
