"""Finds the rules to compile for a game. They are called an edition: either rules that the author has written with integers only,
or the ordinary methods of the game.
"""

import inspect
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from arena import Game, Puzzle, State, overrides
from arena.api.errors import Interrupted, describe
from arena.api.games import Evaluation, Returns, gives, name_of
from arena.clock import perf_counter
from arena.compiled import METHODS, Estimate, Grid, NoEstimate, NotCompilable, Rules, rules_of
from arena_compiled.module import add_functions, add_helpers
from arena_compiled.specialiser import Specialiser

OPTIONAL = ("threats", "step_cost")
"""Methods that the compiled rules must have if the game has them."""
SAMPLE_PLAYOUTS, SAMPLE_PLIES, SAMPLE_SECONDS = 6, 60, 0.05
"""Before its rules are compiled, a game is tried out within these limits: the number of playouts, the plies of each playout, and
seconds.
"""


class Edition(NamedTuple):
    """The rules of a game with integers only. An edition also converts states into integers, and the numbers of actions into
    actions of the game.
    """

    game: Game
    rules: Any
    """The object whose methods are compiled: a `Rules` object, or the game itself."""
    words: int
    width: int
    players: int
    encode: Callable[[State], tuple[int, ...]]
    action: Callable[[State, int], Any]
    samples: tuple[State, ...]
    """States that a few random playouts have reached."""

    def specialise(self) -> Specialiser:
        """Return a new specialiser for the rules, which rewrites their methods."""
        made = Specialiser("rules", self.rules, {"width": self.width, "words": self.words})
        made.scratch = tuple(self.rules.scratch) if isinstance(self.rules, Rules) else ()
        made.changes = bool(made.scratch)
        if not self.in_place:
            add_helpers(made, self.words)
        return made

    @property
    def in_place(self) -> bool:
        """Return True if states are arrays that actions change in place."""
        return isinstance(self.rules, Grid)

    @property
    def tree(self) -> bool:
        """Return True if every state can be reached in only one way."""
        return isinstance(self.rules, Rules) and self.rules.tree is True

    def path(self, start: State, numbers: Sequence[int]) -> list[Any]:
        """Convert the numbers of successive actions into actions of the game. The first action is taken in the state `start`."""
        if getattr(type(self.rules), "action", Rules.action) is Rules.action:
            return list(numbers)
        path, state = list[Any](), start
        for number in numbers:
            path.append(self.action(state, number))
            state = self.game.result(state, path[-1])
        return path

    def has(self, method: str) -> bool:
        """Return True if the rules have an optional method."""
        if isinstance(self.rules, Game):
            return overrides(self.rules, method)
        return getattr(type(self.rules), method, None) is not None


class GradedReturns(NotCompilable):
    """A game that could be compiled, perhaps, if its returns were from -1 to 1."""


def edition_of(game: Game, *, searched: bool = True) -> Edition:
    """Return the edition of a game. Raises NotCompilable with the reason if there is none.

    `searched` is false if the game is only played at random.
    """
    if searched:
        for method, why in (("chance_outcomes", "it has chance events"), ("observation", "it has hidden information")):
            if gives(game, method):
                raise NotCompilable(why)
        if Returns(game).range != (-1.0, 1.0):
            raise GradedReturns("its returns are not from -1 to 1")
    shadowed = [method for method in METHODS if method in vars(game)]
    if shadowed:
        raise NotCompilable(f"this object overrides {shadowed[0]}")
    samples = tuple(_samples(game))
    rules = rules_of(game)
    if gives(game, "chance_outcomes") and not hasattr(type(rules), "chance"):
        raise NotCompilable("it has chance events, but no compiled() with a method chance")
    if rules is None:
        return _plain_edition(game, samples)
    for method in OPTIONAL:
        if overrides(game, method) and not hasattr(type(rules), method):
            raise NotCompilable(f"{type(rules).__name__} does not define {method}, but the game does")
    return Edition(game, rules, rules.words, rules.width, rules.players, rules.encode, rules.action, samples)


def why_plain(game: Game, evaluation: Evaluation | None = None) -> str | None:
    """Return the reason why searches of a game are not compiled, in general or with the given heuristic; None if they can be
    compiled.
    """
    try:
        edition = edition_of(game)
        specialised = edition.specialise()
        for method in ("is_goal",) if isinstance(game, Puzzle) else ("to_move", "is_terminal", "returns"):
            specialised.method(method)
        specialised.method("actions")
        specialised.method("apply" if edition.in_place else "result")
        if not edition.in_place:  # searches that change a state in place do not use an estimate
            estimate_of(edition, evaluation)
    except NotCompilable as reason:
        return str(reason)
    return None


def _plain_edition(game: Game, samples: tuple[State, ...]) -> Edition:
    """Return the edition of a game whose states and actions already are numbers."""
    name = type(game).__name__
    lengths = set()
    width = 0
    for state in samples:
        if type(state) is not tuple or not all(type(word) is int for word in state) or not state:
            raise NotCompilable(f"the states of {name} are not tuples of whole numbers, and it has no compiled()")
        lengths.add(len(state))
        legal = game.actions(state)
        if not all(type(action) is int for action in legal):
            raise NotCompilable(f"the actions of {name} are not whole numbers, and it has no compiled()")
        width = max(width, len(legal))
    if len(lengths) != 1:
        raise NotCompilable(f"the states of {name} differ in length")
    return Edition(game, game, lengths.pop(), 2 * width + 8, game.players, tuple, lambda _, number: number, samples)


def _samples(game: Game) -> Iterator[State]:
    rng, until = random.Random(0), perf_counter() + SAMPLE_SECONDS
    try:
        for _ in range(SAMPLE_PLAYOUTS):
            state = game.initial(rng)
            for _ in range(SAMPLE_PLIES):
                yield state
                legal = game.actions(state)
                if not legal or game.is_terminal(state) or perf_counter() > until:
                    break
                state = game.result(state, rng.choice(legal))
            if perf_counter() > until:
                return
    except Interrupted:
        raise
    except Exception as error:
        raise NotCompilable(f"{name_of(game)} raised {describe(error)}") from error


def estimate_of(edition: Edition, evaluation: Evaluation | None) -> Specialiser:
    """Return a specialiser with the functions that kernels (inner loops of searches) call to get heuristic values. Raises
    NotCompilable with the reason if there are none.
    """
    puzzle = isinstance(edition.game, Puzzle)
    if evaluation is None:
        return _add_estimate(Specialiser("estimate", None), 1, _NO_COST if puzzle else _NO_VALUE)
    if isinstance(evaluation, partial):  # a heuristic with bound keyword parameters
        target, parameters = evaluation.func, dict(evaluation.keywords)
    else:
        target, parameters = getattr(evaluation, "__self__", evaluation), {}
    made = _author_estimate(edition, target, parameters)
    if made is not None:
        specialised = Specialiser("estimate", made)
        if not puzzle:
            specialised.method("evaluate")
            return specialised
        for method in ("first", "after", "value"):
            specialised.method(method)
        return _add_estimate(specialised, made.words, _CARRIED)
    if edition.rules is not edition.game:
        raise NoEstimate(f"the heuristic {_name_of(target)} has no compiled()")
    if inspect.isfunction(target):
        if parameters:
            raise NoEstimate(f"the heuristic {_name_of(target)} has parameters and no compiled()")
        specialised = Specialiser("estimate", edition.game)
        specialised.function("estimate_plain", target, "")
    else:
        specialised = Specialiser("estimate", target)
        specialised.function("estimate_plain", type(target).__call__, "")
    seats = len(specialised.functions["estimate_plain"].args.args) > 2
    if puzzle:
        return _add_estimate(
            specialised, 1, _PLAIN_COST.replace("(estimate, state))", "(estimate, state, 0))") if seats else _PLAIN_COST
        )
    if not seats:
        raise NotCompilable(f"the heuristic {_name_of(target)} does not take a player")
    add_functions(specialised, _PLAIN_VALUE)
    return specialised


def owner_of(evaluation: Evaluation | None) -> object:
    """Return the object that identifies a heuristic. It is the same for every evaluation that is bound to the heuristic."""
    return None if evaluation is None else getattr(evaluation, "__self__", evaluation)


def _author_estimate(edition: Edition, target: Any, parameters: dict[str, Any]) -> Estimate | None:
    function = inspect.isfunction(target)
    compiled = getattr(target, "estimate" if function else "compiled", None)
    if compiled is None or edition.rules is edition.game:
        return None
    try:
        made = compiled(edition.game, edition.rules, **parameters) if function else compiled(edition.rules)
    except Interrupted:
        raise
    except Exception as error:
        raise NotCompilable(f"compiled() of the heuristic {_name_of(target)} raised {describe(error)}") from error
    if not isinstance(made, Estimate):
        raise NoEstimate(f"the heuristic {_name_of(target)} does not support this board")
    return made


def _name_of(target: Any) -> str:
    info = getattr(target, "heuristic_info", None)
    return info.name if info is not None else getattr(target, "__name__", type(target).__name__)


def _add_estimate(specialised: Specialiser, words: int, text: str) -> Specialiser:
    add_helpers(specialised, words)
    add_functions(specialised, text)
    specialised.words = words
    return specialised


_NOTHING = """
def estimate_first(estimate, state):
    return (0,)

def estimate_after(estimate, carried, state, action, successor):
    return (0,)
"""
_NO_COST = _NOTHING + "def estimate_of(estimate, carried, state):\n    return 0.0\n"
_NO_VALUE = "def estimate_evaluate(estimate, state, player):\n    return 0.0\n"
_PLAIN_COST = _NOTHING + "def estimate_of(estimate, carried, state):\n    return float(estimate_plain(estimate, state))\n"
_PLAIN_VALUE = "def estimate_evaluate(estimate, state, player):\n    return float(estimate_plain(estimate, state, player))\n"
_CARRIED = "def estimate_of(estimate, carried, state):\n    return float(estimate_value(estimate, carried))\n"
