"""Checks of heuristics: their range and symmetry, and their claims about the true distance."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite, isnan
from typing import Any

from arena import Action, Game, Puzzle, Refused, State, load_plugins
from arena.api.errors import abbreviate
from arena.api.games import Evaluation, HeuristicInfo, Returns, bind, is_finite
from arena.api.processes import user_interrupts
from arena_check.admissibility import TOLERANCE, WHOLE_PUZZLE_STATES, Admissibility, Extent
from arena_check.distances import Known, way_to_goal
from arena_check.finding import Abandoned, Finding
from arena_check.minimal_actions import Reproduction
from arena_check.patience import CALL_SECONDS
from arena_check.trial import CheckLog, Trial, given_game, play_matches, walk
from arena_check.verdicts import CheckSuite, Verdict

MAX_ACTIONS = 200
"""Maximum number of actions in one random play."""
MAX_STATES = 300_000
"""Maximum number of states in the search for a goal."""
LED_STATES = 5_000
"""Maximum number of states in a search with the heuristic. It is multiplied by the number of matches of the check."""
BOUND = 0.99

Met = list[tuple[Trial, State, list[float]]]
"""Evaluated states. Each comes with its values for all seats."""

CHECKS = {
    "range": "values are in range",
    "repeats": "a state has the same value each time, regardless of earlier evaluations",
    "antisymmetric": "in a zero-sum game, the values for the two seats are opposite",
    "goals": "a goal was reached, and its value is 0",
    "consistent": "a step lowers the value by at most the cost of the step",
    "admissible": "the value never exceeds the true distance",
    "randomness": "no random number is used",
    "the game": "the game itself passes its checks",
}
"""Promises (properties to be checked) of a heuristic; the keys are the names of their checks."""


@user_interrupts()
def check_heuristic(
    h: Callable[..., Any] | str,
    game: Game | type[Game] | str,
    *,
    seed: int = 0,
    matches: int = 20,
    patience: float = CALL_SECONDS,
) -> tuple[str, ...]:
    """Evaluate the states of `matches` random plays and check the heuristic `h`. Return the names of the checks.

    For a game, values must be within [-0.99, 0.99], or within the range of the returns if this range is infinite. In a zero-sum
    game for two seats, the values of the seats must be opposite. For a puzzle, values must be 0 or more, and 0 at goals; infinity
    means a dead end, so at a state from which a goal can be reached, it is an overestimate. Every call must return the same
    value, no matter which states were evaluated before. The claims of the heuristic are checked, too: consistency at every step,
    and admissibility by comparison with the distance to a goal. If the puzzle has at most 20,000 states, all distances are
    computed. Otherwise, they are computed along the cheapest paths from a few positions and, if actions can be undone, backward
    from a goal. More `matches` give more states. With too few states, the claim is not confirmed, even if no fault was found. No
    call may take longer than `patience` seconds.

    A broken promise raises Violation, an AssertionError. Its message gives the promise, as few preceding actions as
    possible, and a `seed` that reproduces the fault with one match on `game`.
    """
    setup = _setup(h, game)
    setup.suite(seed, matches, patience).passed()
    return setup.describe_checks()


def heuristic_verdicts(
    h: Callable[..., Any] | str,
    game: Game | type[Game] | str,
    *,
    seed: int = 0,
    matches: int = 20,
    patience: float = CALL_SECONDS,
) -> Iterator[Verdict]:
    """Do as `check_heuristic` does, but continue after a fault: yield a verdict for every promise."""
    setup = _setup(h, game)
    with user_interrupts():
        found = list(setup.suite(seed, matches, patience).verdicts())
    for verdict in found:
        extent = setup.extents.get(verdict.check) if verdict.kept else None
        if extent is None:
            yield verdict
        elif extent.told:
            yield replace(verdict, promise=f"{verdict.promise}, {extent.words}")
        else:
            yield replace(verdict, promise=extent.words, reached=False)


@dataclass(slots=True)
class HeuristicSetup:
    """A heuristic and the game for its checks."""

    target: Callable[..., Any]
    info: HeuristicInfo
    game: Game
    extents: dict[str, Extent] = field(default_factory=dict)
    """For some checks, by name, how many states they have covered, such as `at 120 states`."""
    way: list[Known] = field(default_factory=list)
    """The states on some path to a goal, the goal first, each with the cost from this state to the goal; empty if no goal was
    found.
    """

    def suite(self, seed: int, matches: int, patience: float) -> CheckSuite:
        """Return the checks of the heuristic on its game."""
        promises = {name: promise for name, promise in CHECKS.items() if name not in self.inapplicable()}

        def reproduce(finding: Finding) -> Reproduction:
            position = self.game.initial(Trial(finding.subject, finding.seed, 0).rng)
            return Reproduction(self.game, position, partial(_examine, self, bind(self.target, self.game)))

        return CheckSuite(partial(_play, self), reproduce, promises, seed, matches, patience)

    def describe_checks(self) -> tuple[str, ...]:
        """Return the checks that were made, some of them with the number of states that they have covered."""
        words = ["range", "repeats"]
        if isinstance(self.game, Puzzle):
            claims = {"consistent": self.info.consistent, "admissible": self.info.admissible}
            words += ["goals", *[name for name, claimed in claims.items() if claimed]]
        elif _is_duel(self.game):
            words.append("antisymmetric")
        return tuple([f"{word} {self.extents[word].words}" if word in self.extents else word for word in words])

    def inapplicable(self) -> set[str]:
        """Return the checks for claims that this heuristic does not make, or that do not apply to its kind of game."""
        claims = {"consistent": self.info.consistent, "admissible": self.info.admissible}
        if isinstance(self.game, Puzzle):
            return {"antisymmetric", *[name for name, claimed in claims.items() if not claimed]}
        return {"goals", *claims, *([] if _is_duel(self.game) else ["antisymmetric"])}


def _setup(h: Callable[..., Any] | str, game: Game | type[Game] | str) -> HeuristicSetup:
    made = given_game(game)
    target = load_plugins().heuristic(made.name, h) if isinstance(h, str) else h
    info = HeuristicInfo.of(target)
    if info is None:
        raise TypeError(f"h: expected a function or class decorated with @heuristic, got {target!r}")
    if info.game != made.name:
        raise Refused(f"heuristic {info.name} belongs to {info.game}, not to {made.name}")
    return HeuristicSetup(target, info, made)


def _play(setup: HeuristicSetup, seed: int, matches: int, log: CheckLog) -> None:
    game = setup.game
    start = Trial(f"{setup.info.name} of {game.name}", seed, 0, log)
    with start.own_randomness("the heuristic"):
        evaluate, afresh = [start.call("making the heuristic", bind, setup.target, game) for _ in range(2)]
    met: Met = []

    def check_play(trial: Trial) -> None:
        for state, action, successor in walk(game, trial, MAX_ACTIONS):
            met.append((trial.now(), state, _check_step(setup, evaluate, trial, state, action, successor)))
            if isinstance(game, Puzzle) and game.is_goal(successor):
                _check_values(game, evaluate, trial, successor)

    try:
        play_matches(start, matches, "the heuristic", check_play)
    finally:
        if not log.answers:  # an exception alone does not show that no random number is used
            log.passed.discard("randomness")
    for trial, state, values in reversed(met):  # `afresh` has not evaluated any of these states before
        with trial.checking("repeats"):
            again = _values(game, afresh, trial, state)
            trial.expect(_are_same(values, again), f"h({game.format_state(state)}) depends on earlier evaluations", values, again)
    if isinstance(game, Puzzle):
        start.check = "the game"
        with start.checking("goals"):
            setup.way = start.call("a method of the game", _find_way, game, evaluate, start, matches)
            if setup.way:
                _check_values(game, evaluate, start, setup.way[0][0])
            else:
                setup.extents["goals"] = Extent("not checked: no goal was found", told=False)
        if setup.info.admissible:
            with start.checking("admissible"):
                check = Admissibility(game, lambda state: _check_values(game, evaluate, start, state)[0], start, matches)
                setup.extents["admissible"] = start.call("a method of the game", check.check, setup.way)


def _is_duel(game: Game) -> bool:
    return not isinstance(game, Puzzle) and game.zero_sum and game.players == 2


def _examine(setup: HeuristicSetup, evaluate: Evaluation, trial: Trial, state: State) -> None:
    """Evaluate a state and, to check consistency, its successors."""
    game = setup.game
    if game.is_terminal(state):
        if isinstance(game, Puzzle) and game.is_goal(state):
            _check_values(game, evaluate, trial, state)
        return
    for action in game.actions(state):
        _check_step(setup, evaluate, trial, state, action, game.result(state, action))


def _check_step(
    setup: HeuristicSetup, evaluate: Evaluation, trial: Trial, state: State, action: Action, successor: State
) -> list[float]:
    """Check the values of a state, and that they drop by no more than the cost of `action`. Return the values."""
    game = setup.game
    values = _check_values(game, evaluate, trial, state)
    if isinstance(game, Puzzle) and setup.info.consistent:
        with trial.checking("consistent"):
            most = game.step_cost(state, action, successor) + _check_values(game, evaluate, trial, successor)[0]
            trial.expect(
                values[0] <= most + TOLERANCE,
                f"h({game.format_state(state)}) must be at most the cost of {game.format_action(state, action)} plus h after it",
                f"at most {most}",
                values[0],
            )
    return values


def _values(game: Game, evaluate: Evaluation, trial: Trial, state: State) -> list[float]:
    return [trial.call(f"h({game.format_state(state)})", evaluate, state, seat) for seat in range(game.players)]


def _are_same(values: list[float], again: list[float]) -> bool:
    """Return whether a heuristic has returned the same values twice. NaN does not equal NaN, but is the same."""
    return values == again or repr(values) == repr(again)


def _check_values(game: Game, evaluate: Evaluation, trial: Trial, state: State) -> list[float]:
    text = game.format_state(state)
    before, trial.check = trial.check, "range"
    values = _values(game, evaluate, trial, state)
    trial.log.answers += 1
    trial.check = before
    with trial.checking("repeats"):
        again = _values(game, evaluate, trial, state)
        trial.expect(_are_same(values, again), f"h({text}) must return the same value twice", values, again)
    with trial.checking("range"):
        _check_range(game, trial, state, text, values)
    if not all(map(_is_number, values)):
        raise Abandoned  # the check `range` is known to fail, and the other checks need numbers
    if isinstance(game, Puzzle) and game.is_goal(state):
        with trial.checking("goals"):
            trial.expect(values[0] == 0, f"h must be 0 at the goal {text}", 0, values[0])
    if _is_duel(game):
        with trial.checking("antisymmetric"):
            opposite = abs(values[0] + values[1]) < TOLERANCE
            trial.expect(
                opposite,
                f"h({text}) for one seat must be minus the value for the other seat",
                f"{values[0]} and {-values[0]}",
                values,
            )
    return values


def _is_number(value: object) -> bool:
    """Return whether a value is a float or a whole number in its range."""
    return isinstance(value, float) or (isinstance(value, int) and is_finite(value))


def _check_range(game: Game, trial: Trial, state: State, text: str, values: list[float]) -> None:
    if isinstance(game, Puzzle):
        number = _is_number(values[0]) and not isnan(values[0])
        promise = f"h({text}) must be a number, or infinity at a dead end"
        trial.expect(number, promise, "a number of at least 0, or infinity", abbreviate(values[0]))
        trial.expect(values[0] >= 0, f"h({text}) must be 0 or more", "0 or more", values[0])
        return
    for value in values:
        number = _is_number(value) and isfinite(value)
        trial.expect(number, f"h({text}) must be a finite number", "a finite number", abbreviate(value))
    least, most = Returns(game).range
    if isfinite(least) and isfinite(most):
        least, most = -BOUND, BOUND
    for value in values:
        trial.expect(least <= value <= most, f"h({text}) must be in range", f"within [{least}, {most}]", value)


def _find_way(puzzle: Puzzle, evaluate: Evaluation, trial: Trial, matches: int) -> list[Known]:
    """Return the states on a path to a goal, found by best-first search with the heuristic itself, because random play seldom
    reaches a goal.
    """
    position = trial.call("initial", puzzle.initial, trial.rng)
    led = way_to_goal(
        puzzle,
        position,
        min(MAX_STATES, max(WHOLE_PUZZLE_STATES, LED_STATES * matches)),
        lambda state: _check_values(puzzle, evaluate, trial, state)[0],
    )
    return led or way_to_goal(puzzle, position, MAX_STATES if puzzle.path_matters else WHOLE_PUZZLE_STATES)
