"""The kit passes sound heuristics, and finds every promise that a heuristic can break, one planted bug for each."""

import random
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from arena import Game, Puzzle, Refused, heuristic
from arena.plugins.registry import Registry
from arena.testing import check_heuristic, heuristic_verdicts
from arena_check.distances import near_goal
from arena_games.n_queens import NQueens
from arena_games.sliding_tiles import Manhattan, SlidingTiles
from arena_games.sudoku import Sudoku
from arena_games.tic_tac_toe import OpenLanes, TicTacToe
from tests.extensions.check.conftest import Corridor, Inside

Finding = Callable[[Callable[[], object]], dict[str, str]]
Heuristic = Callable[..., Any]

TOE = TicTacToe()
TILES = SlidingTiles(rows=2, columns=3)
TOE_NAME = "tic-tac-toe"
TILES_NAME = "sliding-tiles"
OWN_TESTS = {TILES_NAME, "hanoi", "pancake", "rubik-2x2", "top-spin"}


class DearCorridor(Corridor):
    """A corridor in which a step costs two."""

    def step_cost(self, state: Any, action: Any, successor: Any) -> float:
        return 2


class Endless(DearCorridor):
    """A corridor without a right end."""

    name = "endless"

    def actions(self, state: Any) -> Any:
        return ["right"]

    def is_goal(self, state: Any) -> bool:
        return False


class Torn(DearCorridor):
    """A corridor with a hole: the rules blow up there."""

    name = "torn"

    def result(self, state: Any, action: Any) -> Any:
        raise OSError("a hole in the floor")


class Shares(TicTacToe):
    """Tic-tac-toe where values need not be opposite."""

    name = "shares"
    zero_sum = False


CORRIDOR = DearCorridor()


# Sound heuristics, as a newcomer would write them


@heuristic("way", game="corridor", admissible=True, consistent=True)
def way(game: DearCorridor, state: int, player: int = 0) -> float:
    """The distance itself."""
    return 2 * (game.length - 1 - state)


@heuristic("doubled", game="corridor")
def doubled(game: DearCorridor, state: int, player: int = 0) -> float:
    """Overestimates, and does not claim otherwise."""
    return 2 * way(game, state)


@heuristic("middle", game=TOE_NAME)
def middle(game: TicTacToe, state: tuple[int, int], player: int = 0) -> float:
    """The value is 1 for the owner of the middle cell."""
    own, other = state[player], state[1 - player]
    cell = 1 << 5
    return 0.5 * (bool(own & cell) - bool(other & cell))


@heuristic("table", game="corridor", admissible=True)
class Table:
    """Half the distance, from a table that is filled when it is needed."""

    def __init__(self, game: DearCorridor, *, factor: float = 1.0) -> None:
        self.game = game
        self.factor = factor
        self.known: dict[int, float] = {}

    def __call__(self, state: int, player: int = 0) -> float:
        return self.known.setdefault(state, self.factor * (self.game.length - 1 - state))


@heuristic("generous", game="shares")
def generous(game: Shares, state: Any, player: int = 0) -> float:
    """Everybody is doing well."""
    return 0.9


@pytest.mark.parametrize(
    ("target", "game", "passed"),
    [
        (way, CORRIDOR, ("range", "repeats", "goals", "consistent", "admissible at 6 states")),
        (doubled, DearCorridor, ("range", "repeats", "goals")),
        (Table, CORRIDOR, ("range", "repeats", "goals", "admissible at 6 states")),
        (middle, TOE, ("range", "repeats", "antisymmetric")),
        (generous, Shares(), ("range", "repeats")),
    ],
    ids=["way", "doubled", "table", "middle", "generous"],
)
def test_a_correct_heuristic_passes_the_checks(target: Heuristic, game: Game, passed: tuple[str, ...]) -> None:
    """Heuristics as newcomers write them pass, and the output lists the checks."""
    assert check_heuristic(target, game) == passed


@pytest.mark.parametrize("name", ["manhattan", "misplaced"])
@pytest.mark.parametrize(
    ("parameters", "states"),
    [
        ({"rows": 2, "columns": 2}, 12),
        ({"rows": 2, "columns": 3}, 360),
        ({"rows": 3, "columns": 2, "goal": "blank-first"}, 360),
        ({"rows": 2, "columns": 4}, 20_160),
    ],
    ids=str,
)
def test_a_built_in_heuristic_of_a_small_puzzle_passes(name: str, parameters: dict[str, Any], states: int) -> None:
    """Every solvable position is checked: half of the permutations of the cells, up to 20,000 states."""
    passed = check_heuristic(name, SlidingTiles(**parameters), matches=5)
    assert passed[:4] == ("range", "repeats", "goals", "consistent")
    if states <= 20_000:
        assert passed[4] == f"admissible at {states} states"
    else:
        assert re.fullmatch(r"admissible at 5,\d\d\d states, compared with paths of up to \d\d to a goal", passed[4])


@pytest.mark.parametrize("name", ["manhattan", "misplaced"])
def test_a_built_in_heuristic_of_a_larger_puzzle_passes(name: str) -> None:
    """3,000 states are searched backwards from the goal. From positions twelve moves away, shortest paths are found with at most
    13 states each.
    """
    passed = check_heuristic(name, SlidingTiles(rows=4, columns=4, shuffle=12), matches=3)
    states = re.fullmatch(r"admissible at (\d,\d+) states, compared with paths of up to (\d+) to a goal", passed[-1])
    assert states
    assert 3_000 <= int(states[1].replace(",", "")) <= 3_000 + 3 * 13
    assert 10 <= int(states[2]) <= 12


def test_open_lanes_passes_on_every_board() -> None:
    """The heuristic of tic-tac-toe keeps its range and is opposite for the two seats."""
    for parameters in ({}, {"rows": 4, "columns": 4, "in_a_row": 4}, {"rows": 5, "columns": 4, "in_a_row": 3}):
        assert check_heuristic(OpenLanes, TicTacToe(**parameters)) == ("range", "repeats", "antisymmetric")


@pytest.mark.parametrize(("game", "name"), [("tic-tac-toe", "open-lanes"), ("sliding-tiles", "manhattan")])
def test_a_heuristic_and_its_game_can_be_named(game: str, name: str) -> None:
    """The default board of the 8-puzzle is at most 31 moves from the goal."""
    passed = check_heuristic(name, game, matches=2)
    assert passed[:2] == ("range", "repeats")
    states = re.fullmatch(r"admissible at 2,\d\d\d states, compared with paths of up to (\d+) to a goal", passed[-1])
    assert states is None if game == "tic-tac-toe" else states and int(states[1]) <= 31


def test_every_installed_heuristic_passes(registry: Registry) -> None:
    """Each heuristic must keep its claims on the default board. Puzzles with their own test are left out."""
    others = [(game, name) for game, name in registry.heuristics if game not in OWN_TESTS]
    for game, name in others:
        assert check_heuristic(name, game, matches=1)[:2] == ("range", "repeats")
    assert (TOE_NAME, "open-lanes") in others


# Planted bugs


@heuristic("too-high", game=TOE_NAME)
def too_high(game: Game, state: Any, player: int = 0) -> float:
    return 1.0 if player == 0 else -1.0


@heuristic("selfish", game=TOE_NAME)
def selfish(game: Game, state: Any, player: int = 0) -> float:
    """Ignores the player for which a value is requested."""
    return 0.25


@heuristic("not-a-number", game=TOE_NAME)
def not_a_number(game: Game, state: Any, player: int = 0) -> float:
    return nan


@heuristic("a-word", game=TOE_NAME)
def a_word(game: Game, state: Any, player: int = 0) -> Any:
    return "good"


@heuristic("nothing", game="corridor")
def nothing(game: Game, state: Any, player: int = 0) -> Any:
    """Has no value where random play does not come, since the puzzle is over there."""
    return None if game.is_terminal(state) else 1


@heuristic("raising", game=TOE_NAME)
def raising(game: Game, state: Any, player: int = 0) -> float:
    return {(0, 0): 0.0}[state]


@heuristic("exiting", game=TOE_NAME)
def exiting(game: Game, state: Any, player: int = 0) -> float:
    raise SystemExit(0)


@heuristic("one-seat", game=TOE_NAME)
def one_seat(game: Game, state: Any) -> float:
    """Does not take the player."""
    return 0.0


@heuristic("at-random", game=TOE_NAME)
def at_random(game: Game, state: Any, player: int = 0) -> float:
    return random.Random().uniform(-0.5, 0.5)


@heuristic("rolling", game=TOE_NAME)
def rolling(game: Game, state: Any, player: int = 0) -> float:
    return 0.0 * random.random()


@heuristic("rolling-when-made", game=TOE_NAME)
class RollingWhenMade:
    def __init__(self, game: Game) -> None:
        self.weight = random.random()

    def __call__(self, state: Any, player: int = 0) -> float:
        return self.weight - 2 * player * self.weight if self.weight < 0.99 else 0.0


@heuristic("cannot-be-made", game=TOE_NAME)
class CannotBeMade:
    def __init__(self, game: Game) -> None:
        raise LookupError("no table")

    def __call__(self, state: Any, player: int = 0) -> float:
        return 0.0


@heuristic("counting", game="corridor")
class Counting:
    """Returns a larger value each time."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.calls = 0

    def __call__(self, state: Any, player: int = 0) -> float:
        self.calls += not self.game.is_terminal(state)
        return self.calls


@heuristic("remembering", game=TOE_NAME)
class Remembering:
    """Compares with the state before, so a second call says the same, and a call in another order does not."""

    def __init__(self, game: Game) -> None:
        self.last: Any = None
        self.value = 0.0

    def __call__(self, state: Any, player: int = 0) -> float:
        if state != self.last:
            self.value = 0.0 if self.last is None else (sum(self.last) % 7) / 10
            self.last = state
        return self.value if player == 0 else -self.value


@heuristic("caching", game=TOE_NAME)
class Caching:
    """Keeps values under a key that leaves out where the marks of o are."""

    def __init__(self, game: TicTacToe) -> None:
        self.lanes = OpenLanes(game)
        self.known: dict[Any, float] = {}

    def __call__(self, state: Any, player: int = 0) -> float:
        value: float = self.known.setdefault(state[0], self.lanes(state))
        return value if player == 0 else -value


@heuristic("negative", game="corridor")
def negative(game: DearCorridor, state: Any, player: int = 0) -> float:
    return float(state - game.length + 1)


@heuristic("endless", game="corridor", admissible=True)
def without_end(game: DearCorridor, state: Any, player: int = 0) -> float:
    return 0 if game.is_goal(state) else inf


@heuristic("off-at-the-goal", game="corridor")
def off_at_the_goal(game: Game, state: Any, player: int = 0) -> float:
    return 1


@heuristic("off-at-far-goals", game=TILES_NAME)
class OffAtFarGoals(Manhattan):
    """Random play never solves the 15-puzzle, so the goal must be looked for."""

    def __call__(self, state: Any, player: int = 0) -> float:
        return super().__call__(state) + 1


@heuristic("twice-manhattan", game=TILES_NAME, admissible=True)
class TwiceManhattan(Manhattan):
    def __call__(self, state: Any, player: int = 0) -> float:
        return 2 * super().__call__(state)


@heuristic("almost-manhattan", game=TILES_NAME, admissible=True)
class AlmostManhattan(Manhattan):
    """Overestimates, by one, a single state: the one that is farthest from the goal."""

    def __init__(self, game: SlidingTiles) -> None:
        super().__init__(game)
        self.farthest, self.distance = farthest(game)

    def __call__(self, state: Any, player: int = 0) -> float:
        return self.distance + 1 if state == self.farthest else super().__call__(state)


@heuristic("dear", game="corridor", admissible=True)
def dear(game: DearCorridor, state: int, player: int = 0) -> float:
    """Takes a step to cost three, where it costs two."""
    return 3 * (game.length - 1 - state)


@heuristic("raising-far-away", game=TILES_NAME, admissible=True)
class RaisingFarAway(AlmostManhattan):
    """Cannot evaluate a state that random play is not likely to meet."""

    def __call__(self, state: Any, player: int = 0) -> float:
        if state == self.farthest:
            raise LookupError("never seen")
        return super().__call__(state)


@heuristic("bumpy", game="corridor", admissible=True, consistent=True)
def bumpy(game: DearCorridor, state: int, player: int = 0) -> float:
    """Never too much, but it drops from the distance to nothing within a step."""
    return way(game, state) if state % 2 == 0 else 0


def farthest(game: SlidingTiles) -> tuple[Any, int]:
    """The last state that breadth-first search from the goal comes to, and its distance: slides can be undone."""
    distance = {game.goal: 0}
    waiting = deque([game.goal])
    while waiting:
        state = waiting.popleft()
        for action in game.actions(state):
            successor = game.result(state, action)
            if successor not in distance:
                distance[successor] = distance[state] + 1
                waiting.append(successor)
    return state, distance[state]


LARGE = SlidingTiles(rows=4, columns=4)

PLANTED: list[tuple[Heuristic, Game, str]] = [
    (too_high, TOE, r"h\(.*\) must be in range"),
    (selfish, TOE, r"h\(.*\) for one seat must be minus the value for the other seat"),
    (not_a_number, TOE, r"h\(.*\) must be a finite number"),
    (a_word, TOE, r"h\(.*\) must be a finite number"),
    (nothing, CORRIDOR, r"h\(5\) must be a number, or infinity at a dead end"),
    (raising, TOE, r"h\(.*x.*\)"),
    (exiting, TOE, r"h\(\.\.\./\.\.\./\.\.\.\)"),
    (one_seat, TOE, r"h\(.*\)"),
    (at_random, TOE, r"h\(.*\) must return the same value twice"),
    (rolling, TOE, "the heuristic uses the global random generator"),
    (RollingWhenMade, TOE, "the heuristic uses the global random generator"),
    (CannotBeMade, TOE, "making the heuristic"),
    (Counting, CORRIDOR, r"h\(.\) must return the same value twice"),
    (Remembering, TOE, r"h\(.*\) depends on earlier evaluations"),
    (Caching, TOE, r"h\(.*\) depends on earlier evaluations"),
    (negative, CORRIDOR, r"h\(.\) must be 0 or more"),
    (without_end, CORRIDOR, r"h\(.\) must be at most the true distance"),
    (off_at_the_goal, CORRIDOR, "h must be 0 at the goal 5"),
    (OffAtFarGoals, LARGE, r"h must be 0 at the goal 1 2 3 4 / 5 6 7 8 / 9 10 11 12 / 13 14 15 \."),
    (TwiceManhattan, TILES, r"h\(.*\) must be at most the true distance"),
    (AlmostManhattan, TILES, r"h\(.*\) must be at most the true distance"),
    (dear, CORRIDOR, r"h\(.\) must be at most the true distance"),
    (RaisingFarAway, TILES, r"h\(.*\)"),
    (bumpy, CORRIDOR, r"h\(.\) must be at most the cost of (left|right) plus h after it"),
]


@pytest.mark.parametrize(("target", "game", "what"), [pytest.param(*row, id=row[0].__name__) for row in PLANTED])
def test_a_broken_promise_of_a_heuristic_is_reported(target: Heuristic, game: Game, what: str, finding: Finding) -> None:
    """The message gives the heuristic, the game, the state, the promise and the seed."""
    found = finding(lambda: check_heuristic(target, game, seed=7))
    info: Any = target
    assert found["subject"] == f"{info.heuristic_info.name} of {game.name}"
    assert re.fullmatch(what, found["what"])
    again = finding(lambda: check_heuristic(target, game, seed=int(found["seed"]), matches=int(found["matches"])))
    assert re.fullmatch(what, again["what"])


@pytest.mark.parametrize("seed", range(1, 3))
@pytest.mark.parametrize("target", [Remembering, Caching])
def test_a_bug_that_depends_on_earlier_calls_is_found_from_any_seed(target: Heuristic, seed: int, finding: Finding) -> None:
    """The heuristic keeps a value between calls. The bug is found even with a lucky seed."""
    assert int(finding(lambda: check_heuristic(target, TOE, seed=seed))["seed"]) in range(seed, seed + 20)


def test_one_wrong_state_of_360_is_found(finding: Finding) -> None:
    """The farthest position of the 2x3 puzzle takes 21 moves (from an exhaustive search), so 22 is too many."""
    state, distance = farthest(TILES)
    assert distance == 21
    found = finding(lambda: check_heuristic(AlmostManhattan, TILES))
    assert found["what"] == f"h({TILES.format_state(state)}) must be at most the true distance"
    assert (found["expected"], found["got"]) == ("at most 21.0", "22")


def test_an_exception_in_a_state_that_random_play_does_not_reach_is_found(finding: Finding) -> None:
    """Exact distances need every state, so this state is visited, too."""
    found = finding(lambda: check_heuristic(RaisingFarAway, TILES, matches=1))
    assert found["what"] == f"h({TILES.format_state(farthest(TILES)[0])})"
    assert found["expected"] == "no exception"
    assert "LookupError: never seen" in found["got"]


def test_a_value_that_is_a_string_is_shown_with_quotes(finding: Finding) -> None:
    """The string "9" is not the number 9."""

    @heuristic("text", game="corridor")
    def text(game: Game, state: Any, player: int = 0) -> Any:
        return "9"

    found = finding(lambda: check_heuristic(text, CORRIDOR))
    assert (found["expected"], found["got"]) == ("a number of at least 0, or infinity", "'9'")


def test_a_value_at_goals_fails_one_check() -> None:
    """The value is the distance plus one, which is in range everywhere, but not 0 at the goal. Counted by hand, one check
    fails.
    """
    verdicts = {one.check: one for one in heuristic_verdicts(OffAtFarGoals, TILES, matches=2)}
    assert verdicts["range"].reached
    assert [name for name, one in verdicts.items() if not one.kept] == ["goals"]
    violation = verdicts["goals"].violation
    assert violation is not None
    assert (violation.finding.expected, violation.finding.got) == ("0", "1")


def test_a_claim_that_cannot_be_checked_is_not_confirmed() -> None:
    """Without a goal, there is no distance to compare with, and no state where the value must be 0."""

    @heuristic("claim", game="endless", admissible=True)
    def claim(game: Game, state: Any, player: int = 0) -> float:
        return 3

    assert check_heuristic(claim, Endless(), matches=1)[2:] == (
        "goals not checked: no goal was found",
        "admissible not checked: no goal was found",
    )


@heuristic("steep", game=TILES_NAME, admissible=True)
class Steep(Manhattan):
    """Exact up to four moves from the goal, and one too much at most states that are five away."""

    def __call__(self, state: Any, player: int = 0) -> float:
        value = super().__call__(state)
        return value + (value == 5)


@pytest.mark.parametrize("seed", range(1))
def test_an_overestimate_near_the_goal_of_a_large_puzzle_is_found(seed: int, finding: Finding) -> None:
    """No shortest path from a drawn position of the 15-puzzle is found, but it is not needed, because slides can be undone."""
    found = finding(lambda: check_heuristic(Steep, LARGE, seed=seed, matches=1))
    assert re.fullmatch(r"h\(.*\) must be at most the true distance", found["what"])
    assert (found["expected"], found["got"]) == ("at most 5.0", "6")


def test_more_matches_compare_states_farther_from_the_goal(finding: Finding) -> None:
    """The 15-puzzle has 860 states up to eight moves from the goal, and 946 at nine moves (Korf; OEIS A089484)."""

    @heuristic("steep-further-away", game=TILES_NAME, admissible=True)
    class SteepFurtherAway(Manhattan):
        def __call__(self, state: Any, player: int = 0) -> float:
            value = super().__call__(state)
            return value + 2 * (value == 11)

    passed = check_heuristic(SteepFurtherAway, LARGE, matches=1)[-1]
    assert passed == "admissible at 1,000 states, compared with paths of up to 9 to a goal"
    assert finding(lambda: check_heuristic(SteepFurtherAway, LARGE, matches=4))["expected"] == "at most 11.0"


def test_a_heuristic_that_always_returns_nan_is_not_reported_as_nondeterministic() -> None:
    """It is reported only as out of range, although nan is not equal to nan."""

    @heuristic("new-nan", game=TOE_NAME)
    def new_nan(game: Game, state: Any, player: int = 0) -> float:
        return float("nan")

    kept = {verdict.check: verdict.kept for verdict in heuristic_verdicts(new_nan, TOE_NAME, matches=1)}
    assert (kept["range"], kept["repeats"]) == (False, True)


class Climb(Puzzle):
    """Steps of one or two that cannot be undone, on endless stairs, to the eighth."""

    name = "climb"

    def initial(self, rng: random.Random) -> int:
        return 0

    def actions(self, state: int) -> Sequence[int]:
        return (1, 2)

    def result(self, state: int, action: int) -> int:
        return state + action

    def is_goal(self, state: int) -> bool:
        return state == 8

    def render(self, state: int) -> str:
        return str(state)


@heuristic("stairs", game="climb", admissible=True)
def stairs(game: Climb, state: int, player: int = 0) -> float:
    """Half of the stairs left, which is the distance."""
    return max(0, 8 - state) / 2


def test_too_few_states_do_not_confirm_a_claim() -> None:
    """Actions cannot be undone, and the shortest path has five states. The last step of another path could lead to a sixth."""
    told = check_heuristic(stairs, Climb(), matches=1)[-1]
    assert re.fullmatch(r"admissible too few to be sure: [56] states; raise --matches to search more states", told)
    verdict = {verdict.check: verdict for verdict in heuristic_verdicts(stairs, Climb(), matches=1)}["admissible"]
    assert (verdict.kept, verdict.reached) == (True, False)


class Slope(Puzzle):
    """Places on an endless slope; a step down costs 1, a step up 3, and at the goal, place 0, there is none."""

    name = "slope"

    def initial(self, rng: random.Random) -> int:
        return 3

    def actions(self, state: int) -> Sequence[str]:
        return () if state == 0 else ("down", "up")

    def result(self, state: int, action: str) -> int:
        return state + (1 if action == "up" else -1)

    def step_cost(self, state: int, action: str, successor: int) -> float:
        return 3 if action == "up" else 1

    def is_goal(self, state: int) -> bool:
        return state == 0

    def render(self, state: int) -> str:
        return str(state)


def test_costs_are_summed_along_the_path_to_the_goal() -> None:
    """The search starts at the goal, and place n is n steps away from it. The goal itself has no actions."""
    assert list(near_goal(Slope(), [(0, 0.0), (1, 1.0)], 6)) == [(place, float(place)) for place in range(6)]


class Ladder(Puzzle):
    """Rungs of an endless ladder, with a goal at the foot. From every tenth rung, a slide that cannot be undone leads there."""

    name = "ladder"

    def initial(self, rng: random.Random) -> int:
        return 10**6

    def actions(self, state: int) -> Sequence[str]:
        return ("up", "down", "slide") if state and state % 10 == 0 else ("up", "down")

    def result(self, state: int, action: str) -> int:
        return {"up": state + 1, "down": max(0, state - 1), "slide": 0}[action]

    def is_goal(self, state: int) -> bool:
        return state == 0

    def render(self, state: int) -> str:
        return str(state)


@heuristic("rungs", game="ladder", admissible=True)
def rungs(game: Ladder, state: int, player: int = 0) -> float:
    """The distance: to the next slide above or below, and down it; or down all rungs."""
    return min(state, state % 10 + 1, -state % 10 + 1)


def test_the_check_reports_the_length_of_the_longest_path_that_it_has_compared(registry: Registry) -> None:
    """No state is farther than six steps from the goal, but the paths back from it are longer, because steps cannot be undone."""
    assert max(rungs(Ladder(), state) for state in range(10_000)) == 6
    passed = check_heuristic(rungs, Ladder(), matches=1)[-1]
    found = re.fullmatch(r"admissible at (\S+) states, compared with paths of up to (\d+) to a goal", passed)
    assert found
    assert int(found[2]) > 100


def test_states_near_a_goal_agree_with_published_counts() -> None:
    """OEIS A089484 lists the numbers of states of the 15-puzzle by their distance from a goal with the blank in a corner."""
    found = Counter(distance for _, distance in near_goal(LARGE, [(LARGE.goal, 0.0)], 3_754))
    assert [found[distance] for distance in range(11)] == [1, 2, 4, 10, 24, 54, 107, 212, 446, 946, 1_948]


@pytest.mark.parametrize(
    "puzzle", [SlidingTiles(rows=2, columns=4, shuffle=60), Sudoku(), NQueens()], ids=lambda one: str(one.name)
)
def test_goals_are_found_with_a_constant_heuristic(puzzle: Puzzle, finding: Finding) -> None:
    """A constant value does not guide the search. It is a fault if it is not 0 at a goal, and passes otherwise."""
    name = puzzle.name

    @heuristic("flat", game=name)
    def flat(game: Game, state: Any, player: int = 0) -> float:
        return 3

    @heuristic("flat-to-goals", game=name)
    def flat_to_goals(game: Puzzle, state: Any, player: int = 0) -> float:
        return 0 if game.is_goal(state) else 3

    found = finding(lambda: check_heuristic(flat, puzzle, matches=1))
    assert found["what"].startswith("h must be 0 at the goal ")
    assert found["got"] == "3"
    assert check_heuristic(flat_to_goals, puzzle, matches=1) == ("range", "repeats", "goals")


def test_an_exception_in_the_game_does_not_end_the_check(finding: Finding) -> None:
    """The rules raise an exception while a heuristic is checked. The message names the place."""

    @heuristic("innocent", game="torn")
    def innocent(game: Game, state: Any, player: int = 0) -> float:
        return 0

    found = finding(lambda: check_heuristic(innocent, Torn()))
    assert re.fullmatch("result of '(left|right)'", found["what"])
    assert found["expected"] == "no exception"
    assert "OSError: a hole in the floor" in found["got"]


def test_a_heuristic_of_another_game_is_refused() -> None:
    """A check that cannot test anything fails with the reason, and does not pass."""
    with pytest.raises(Refused, match="heuristic open-lanes belongs to tic-tac-toe, not to sliding-tiles"):
        check_heuristic(OpenLanes, SlidingTiles())


def test_a_function_without_a_declaration_is_refused() -> None:
    """Its claims are unknown, so they cannot be checked."""
    with pytest.raises(TypeError, match="decorated with @heuristic"):
        check_heuristic(lambda game, state, player=0: 0.0, TOE)


def test_infinity_at_a_dead_end_is_accepted() -> None:
    """A search never expands such a state, so the heuristic is admissible and consistent. A* accepts it, too."""

    class Hole(DearCorridor):
        """A corridor with a hole at each place, from which no step leads out."""

        name = "hole"

        def actions(self, state: Any) -> Any:
            return [*super().actions(state), "fall"] if state >= 0 else ["fall"]

        def result(self, state: Any, action: Any) -> Any:
            return -1 if action == "fall" else super().result(state, action)

    @heuristic("to-the-end", game="hole", admissible=True, consistent=True)
    def to_the_end(game: Hole, state: Any, player: int = 0) -> float:
        return 2.0 * (game.length - 1 - state) if state >= 0 else inf

    assert check_heuristic(to_the_end, Hole()) == ("range", "repeats", "goals", "consistent", "admissible at 6 states")


def test_a_heuristic_that_always_raises_passes_no_check() -> None:
    @heuristic("raising", game="corridor")
    def raising(game: Game, state: Any, player: int = 0) -> float:
        raise ValueError("no value")

    verdicts = list(heuristic_verdicts(raising, CORRIDOR, matches=2))
    assert "range" in [verdict.check for verdict in verdicts if not verdict.kept]
    assert {verdict.check for verdict in verdicts if verdict.kept and verdict.reached} <= {"the game"}


@pytest.mark.process
@pytest.mark.parametrize("command", ["check", "try"])
def test_the_option_game_chooses_heuristics_of_a_file_without_agents(tmp_path: Path, inside: Inside, command: str) -> None:
    """A game without a heuristic in the file is refused."""
    text = "from arena import heuristic, hookimpl\n"
    for game in ("pancake", "sliding-tiles"):
        text += f'@heuristic("bad", game="{game}")\ndef {game[:3]}(game, state, player=0): return -1.0\n'
    (tmp_path / "bad.py").write_text(f"{text}@hookimpl\ndef arena_heuristics(): return [pan, sli]\n")
    done = inside(command, "bad.py", "--game", "pancake")
    assert done.returncode == 1
    assert "heuristic pancake bad: FAILED" in done.stdout
    assert "sliding-tiles" not in done.stdout
    refused = inside(command, "bad.py", "--game", "sudoku")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "--game sudoku: bad.py has no agent, and no heuristic or encoding of sudoku\n"
