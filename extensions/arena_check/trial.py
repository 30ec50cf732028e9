"""Random play during which plugins are checked. The actions are recorded, so that a violation can list them."""

import pickle
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf
from typing import Any, TypeVar

from arena import Action, Game, State, load_plugins
from arena.api.errors import Interrupted, call_foreign, cut, describe, expect
from arena.api.games import name_of
from arena_check.finding import NO_RETURN, Abandoned, Finding, Violation
from arena_check.patience import CallTooLong, overdue

Value = TypeVar("Value")

PLAY = "play"
"""Name of the check for the methods that every play needs. It is the current check whenever no other check is running."""
SEEDS = 2**63
A_GAME = "a game, its class or its name"
MAX_VALUE_CHARACTERS = 300
"""Maximum length of a value in a message, in characters."""
MAX_ACTIONS = 100_000
"""Maximum number of actions in a state. If there are more, this is reported as a fault, and the rest is not read."""

Watcher = Callable[["Trial", str, str | None], None]
"""A function that is called before each call of a plugin, with the play, the name of the function and, for a decision, the text
of the state.
"""
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watch_calls(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` for every checked call inside the block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@dataclass(slots=True)
class CheckLog:
    """The checks that have passed in some state, and the checks that are known to fail."""

    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    """Checks that are known to fail. If one of them fails again, Abandoned is raised instead of Violation."""
    nodes: int = 0
    """The nodes that an agent has used in its plays."""
    answers: int = 0
    """How often an agent has decided, or a heuristic has returned a value, without raising an exception."""
    ended: int = 0
    """The number of matches of a game that ended by themselves, and of matches that the move limit stops."""
    stopped: int = 0
    notes: dict[str, str] = field(default_factory=dict)
    """Facts that the author should know, although they break no promise, by the names of the checks."""
    samples: dict[str, str] = field(default_factory=dict)
    """For each check that looks at a sample only, a description of the sample."""
    until: float = inf
    """The time at which the plays of an agent end. Each play has at least one decision of it."""
    over: bool = False
    """True if the plugin is not called any more, because a call has not returned in time or has left a thread running."""


@dataclass(slots=True)
class Trial:
    """One random play: its seed, and its actions so far."""

    subject: str
    seed: int
    number: int
    """The number of the play, from 0. Play k with the seed s is the same as play 0 with the seed s + k."""
    log: CheckLog = field(default_factory=CheckLog)
    actions: list[str] = field(default_factory=list)
    plies: int | None = None
    """Number of actions in the message of a violation; None for all."""
    position: str | None = None
    check: str = PLAY

    def now(self) -> "Trial":
        """Return the play up to this moment; later actions are not included."""
        return replace(self, plies=len(self.actions))

    @contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """Run one check inside the block. If the check meets a known fault, the play continues after the block."""
        before, self.check = self.check, name
        try:
            yield
            self.log.passed.add(name)
        except Abandoned:
            pass
        finally:
            self.check = before

    @contextmanager
    def after(self, action: str) -> Iterator[None]:
        """Check the successor that `action` leads to, without playing the action."""
        self.actions.append(action)
        try:
            yield
        except Abandoned:
            self.actions.pop()
            raise
        self.actions.pop()

    @property
    def play(self) -> int:
        """The seed of this play."""
        return (self.seed + self.number) % SEEDS

    @property
    def rng(self) -> random.Random:
        """Return a new generator for this play. It always yields the same numbers."""
        return random.Random(str(self.play))

    def expect(self, holds: bool, what: str, expected: object, got: object) -> None:
        """Raise Violation unless `holds`, or Abandoned if the check is known to fail."""
        if not holds:
            raise self.violation(what, expected, got)

    def violation(self, what: str, expected: object, got: object) -> Violation | Abandoned:
        """Return the exception for a broken promise, with everything that is needed to reproduce it; Abandoned if the check is
        known to fail.
        """
        if self.check in self.log.failed:
            return Abandoned()
        actions = tuple(self.actions[: self.plies])
        return Violation(
            Finding(
                self.subject,
                self.check,
                what,
                _short(expected),
                _short(got),
                self.play,
                1,
                self.position,
                actions,
                len(actions),
            )
        )

    def call(self, what: str, function: Callable[..., Value], *arguments: Any) -> Value:
        """Return the value of a plugin's function. Raises Violation if it raises or does not return in time."""
        self.tell(what)
        try:
            value = function(*arguments)
        except (Violation, Abandoned):
            raise
        except Interrupted as interrupt:  # users interrupt slow checks: name the one that was running
            if not any(self.subject in note for note in getattr(interrupt, "__notes__", ())):
                place = describe(interrupt).partition(" (")[2].rstrip(")")
                finding = Finding(self.subject, self.check, self.check, "", "", self.play, 1, self.position, tuple(self.actions))
                lines = [f"{self.subject}: {self.check}", f"  position: {self.position}", f"  actions: {finding.played_out()}"]
                interrupt.add_note("\n".join([*lines, *([f"  at: {place}"] if place else [])]))
            raise
        except BaseException as error:
            self.on_time()
            raise self.violation(what, "no exception", describe(error)) from error
        self.on_time()
        return value

    def tell(self, what: str, asked_at: Callable[[], str | None] | None = None) -> None:
        """Report a call of a plugin's function to the watcher. For a decision, `asked_at` returns the state as text."""
        watcher = _watcher.get()
        if watcher is not None:
            watcher(self, what, None if asked_at is None else asked_at())

    def on_time(self) -> None:
        """Raise Violation if a call did not return in time, even if the plugin swallowed the exception that ended the call."""
        late: CallTooLong | None = overdue()
        if late is not None:
            self.log.over = True
            expected = f"an answer within {late.seconds:g} s"
            raise self.violation(f"{late.call} {NO_RETURN}", expected, f"none; it was at {late.place}") from late

    def list_values(self, what: str, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the values that a function of a plugin yields, as a list.

        Raises Violation if the function raises, does not return in time, returns something that is not iterable, or yields more
        than MAX_ACTIONS values. In the last case, the remaining values are not read.
        """
        given = self.call(what, function, *arguments)
        self.expect(isinstance(given, Iterable), f"{what} must return a list", "a list or a tuple", given)
        values = self.call(what, lambda: list(islice(given, MAX_ACTIONS + 1)))
        few = len(values) <= MAX_ACTIONS
        self.expect(few, f"{what} returns too many values", f"at most {MAX_ACTIONS:,}", f"more, from {_short(given)}")
        return values

    def text(self, game: Game, state: State, action: Action) -> str:
        """Return the text of an action. Raises Violation like `call`."""
        return str(self.call("format_action", game.format_action, state, action))

    def legal(self, game: Game, state: State) -> list[Action]:
        """Return the actions of a state. Raises Violation like `call`, and if they are not a sequence or there are more than
        MAX_ACTIONS.
        """
        given = self.call("actions", game.actions, state)
        self.expect(isinstance(given, Sequence), "actions must return a sequence", "a list or a tuple", given)
        number = self.call("actions", len, given)
        self.expect(number <= MAX_ACTIONS, "actions returns too many actions", f"at most {MAX_ACTIONS:,} actions", f"{number:,}")
        return list(given)

    @contextmanager
    def own_randomness(self, what: str) -> Iterator[None]:
        """Raise Violation if the global random generator of Python or numpy is used or seeded inside the block."""
        before = random.getstate()
        random.seed("its own seed")
        unused, of_numpy = random.getstate(), _numpy_state()
        try:
            yield
            used = random.getstate() != unused
        finally:
            random.setstate(before)
        with self.checking("randomness"):
            self.expect(not used, f"{what} uses the global random generator", "only the given generator", "random.*")
            same = of_numpy is None or of_numpy == _numpy_state()
            only = "only the given generator, or numpy.random.default_rng(rng.getrandbits(64))"
            self.expect(same, f"{what} uses numpy's global random generator", only, "numpy.random.*")


def _numpy_state() -> str | None:
    """Return the state of numpy's global random generator; None if numpy is not imported."""
    numpy = sys.modules.get("numpy.random")
    return None if numpy is None else repr([part.tolist() if hasattr(part, "tolist") else part for part in numpy.get_state()])


def given_game(game: Game | type[Game] | str) -> Game:
    """Return the game that is given as a name, a class or an object. Raises Violation if the game cannot be created."""
    expect("game", game, (Game, type, str), A_GAME)
    kind = load_plugins().game(game) if isinstance(game, str) else game
    return Trial(name_of(kind), 0, 0).call("making the game", kind) if isinstance(kind, type) else kind


def copy_value(value: Value) -> Value:
    """Return a copy through pickle, which shares nothing with `value`."""
    copy: Value = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes
    return copy


def position_text(game: Game, state: State) -> str | None:
    """Return the text of a position for a message; None if the text is missing or has several lines."""
    # An exception is reported by the check of the notation.
    text = call_foreign(lambda: _short(game.format_state(copy_value(state))), lambda _: "\n")
    return None if "\n" in text else text


def own_move_limit(game: Game) -> int | None:
    """Return the move limit that the game itself declares as `default_moves`; None if it declares none."""
    own = game.default_moves
    return own if type(own) is int and own > 0 else None


def walk(
    game: Game, trial: Trial, longest: int, drawn: tuple[State, random.Random] | None = None
) -> Iterator[tuple[State, Action, State]]:
    """Play at random from a position; yield (state, action, successor), at most `longest` times.

    `drawn` is the position and the generator that drew it. Without it, the position is drawn here.
    """
    if drawn is None:
        rng = trial.rng
        drawn = trial.call("initial", game.initial, rng), rng
    state, rng = drawn
    trial.position = position_text(game, state)
    for _ in range(longest):
        if trial.call("is_terminal", game.is_terminal, state):
            return
        legal = trial.legal(game, state)
        some_action(trial, legal)
        action = rng.choice(legal)
        successor = trial.call(f"result of {action!r}", game.result, state, action)
        yield state, action, successor
        trial.actions.append(trial.text(game, state, action))
        state = successor


def play_matches(start: Trial, matches: int, subject: str, check: Callable[[Trial], None]) -> None:
    """Let `check` play matches with the plugin `subject`. A known fault ends its match, and the next match begins."""
    for number in range(matches):
        trial = Trial(start.subject, start.seed, number, start.log, check="the game")
        with suppress(Abandoned):
            with trial.own_randomness(subject):
                trial.call("a method of the game", check, trial)
            start.log.passed.add("the game")


def some_action(trial: Trial, legal: Sequence[Action]) -> None:
    """Check that there is a legal action, because the state is not terminal."""
    trial.expect(len(legal) > 0, "a state that is not terminal has no actions", "at least one action", legal)


def _short(value: object) -> str:
    """Return a text, or the `repr` of a value. If the author's `repr` fails, return the name of its type."""
    if not isinstance(value, str):
        value = call_foreign(lambda: repr(value), lambda _: f"an object of type {type(value).__name__}")
    return cut(value, MAX_VALUE_CHARACTERS)
