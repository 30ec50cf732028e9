"""Random play in which plugins are checked: it records its actions, so that a violation can tell them."""

import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

from arena import Action, Game, State
from arena.api.cli import call_foreign, cut, describe
from arena.api.spec import load_plugins, name_of
from arena.errors import Interrupted, represent
from arena_check.finding import NO_RETURN, Abandoned, Finding, Violation
from arena_check.patience import CallTooLong, overdue

Value = TypeVar("Value")

PLAY = "play"
"""The check of the methods without which there is no play; it is running if no other is."""
SEEDS = 2**63
MAX_VALUE_CHARACTERS = 300
"""Characters of a value in a message."""
MAX_ACTIONS = 100_000
"""Actions of one state: a list of more is told, and not made."""

Watcher = Callable[["Trial", str, str | None], None]
"""Is told before each call of a plugin: the play, the name of the function, and the text of the state if a decision is made."""
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watch_calls(watcher: Watcher) -> Iterator[None]:
    """Tell `watcher` of every call that is checked inside the block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@dataclass(slots=True)
class CheckLog:
    """The checks that have passed somewhere, and those that are known to fail."""

    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    """A further violation of one of these raises Abandoned instead of Violation."""
    over: bool = False
    """True if nothing more is called, since a call has not returned or has left a thread running."""


@dataclass(slots=True)
class Trial:
    """One random play: its seed, and its actions so far."""

    subject: str
    seed: int
    number: int
    """Play k of a seed is play 0 of the seed that is larger by k."""
    log: CheckLog = field(default_factory=CheckLog)
    actions: list[str] = field(default_factory=list)
    plies: int | None = None
    """The number of actions that a violation tells; None for all."""
    position: str | None = None
    check: str = PLAY

    def now(self) -> "Trial":
        """The play as it is now; actions that follow are not told."""
        return replace(self, plies=len(self.actions))

    @contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """Run one check; if it meets a known fault, the play goes on after the block."""
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
        """Check the successor by `action` without playing it."""
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
        """A fresh generator of this play; always the same numbers."""
        return random.Random(str(self.play))

    def expect(self, holds: bool, what: str, expected: object, got: object) -> None:
        """Raise Violation unless `holds`, or Abandoned if the check is known to fail."""
        if not holds:
            raise self.violation(what, expected, got)

    def violation(self, what: str, expected: object, got: object) -> Violation | Abandoned:
        """The exception for a broken promise, with all that shows it again; Abandoned if the check is known to fail."""
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
        """The value of a plugin's function; Violation if it raises or does not return in time."""
        self.tell(what)
        try:
            value = function(*arguments)
        except (Violation, Abandoned):
            raise
        except Interrupted as error:
            self._note(error)
            raise
        except BaseException as error:
            self.on_time()
            raise self.violation(what, "no exception", describe(error)) from error
        self.on_time()
        return value

    def tell(self, what: str, asked_at: Callable[[], str | None] | None = None) -> None:
        """Tell whoever watches the checks that a function of a plugin is called; `asked_at` gives the state of a decision."""
        watcher = _watcher.get()
        if watcher is not None:
            watcher(self, what, None if asked_at is None else asked_at())

    def on_time(self) -> None:
        """Raise Violation if a call did not return in time, even if it swallowed the exception that ended it."""
        late: CallTooLong | None = overdue()
        if late is not None:
            self.log.over = True
            expected = f"an answer within {late.seconds:g} s"
            raise self.violation(f"{late.call} {NO_RETURN}", expected, f"none; it was at {late.place}") from late

    def _note(self, interrupt: Interrupted) -> None:
        """Add a note to the user's interrupt: the check that was running, for users who interrupt what takes long."""
        if not any(self.subject in note for note in getattr(interrupt, "__notes__", ())):
            place = describe(interrupt).partition(" (")[2].rstrip(")")
            finding = Finding(self.subject, self.check, self.check, "", "", self.play, 1, self.position, tuple(self.actions))
            lines = [f"{self.subject}: {self.check}", f"  position: {self.position}", f"  actions: {finding.played_out()}"]
            interrupt.add_note("\n".join([*lines, *([f"  at: {place}"] if place else [])]))

    def list_values(self, what: str, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """The values of a plugin's function; Violation if it raises, does not return in time, or gives no iterable.

        So it is for more than MAX_ACTIONS values, which are not waited for.
        """
        given = self.call(what, function, *arguments)
        self.expect(isinstance(given, Iterable), f"{what} gives a list", "a list or a tuple", given)
        values = self.call(what, lambda: list(islice(given, MAX_ACTIONS + 1)))
        few = len(values) <= MAX_ACTIONS
        self.expect(few, f"{what} gives too many", f"at most {MAX_ACTIONS:,}", f"more, from {_short(given)}")
        return values

    def text(self, game: Game, state: State, action: Action) -> str:
        """The text of an action; Violation as for `call`."""
        return str(self.call("format_action", game.format_action, state, action))

    def legal(self, game: Game, state: State) -> list[Action]:
        """The actions of a state; Violation as for `call`, if they are no sequence, or more than MAX_ACTIONS."""
        given = self.call("actions", game.actions, state)
        self.expect(isinstance(given, Sequence), "actions gives a sequence", "a list or a tuple", given)
        number = self.call("actions", len, given)
        self.expect(number <= MAX_ACTIONS, "actions gives too many", f"at most {MAX_ACTIONS:,} actions", f"{number:,}")
        return list(given)

    @contextmanager
    def own_randomness(self, what: str) -> Iterator[None]:
        """Raise Violation if the global generator is used or seeded in the block."""
        before = random.getstate()
        random.seed("a seed that nobody else would choose")
        unused = random.getstate()
        try:
            yield
            used = random.getstate() != unused
        finally:
            random.setstate(before)
        with self.checking("randomness"):
            self.expect(not used, f"{what} uses the global random generator", "only the generator handed in", "random.*")


def given_game(game: Game | type[Game] | str) -> Game:
    """Return a game that is given by its name, its class or itself; Violation if it cannot be made."""
    kind = load_plugins().game(game) if isinstance(game, str) else game
    return Trial(name_of(kind), 0, 0).call("the game cannot be made", kind) if isinstance(kind, type) else kind


def copy_value(value: Value) -> Value:
    """A copy through pickle, which shares nothing with `value`."""
    copy: Value = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes
    return copy


def position_text(game: Game, state: State) -> str | None:
    """The text of a position for a message; None if the game has none of one line."""
    # the check of the notation reports an exception
    text = call_foreign(lambda: _short(game.format_state(copy_value(state))), lambda _: "\n")
    return None if "\n" in text else text


def walk(game: Game, trial: Trial, longest: int) -> Iterator[tuple[State, Action, State]]:
    """Play at random from a drawn position; yield (state, action, successor), at most `longest` times."""
    rng = trial.rng
    state = trial.call("initial", game.initial, rng)
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


def some_action(trial: Trial, legal: Sequence[Action]) -> None:
    """Check that a state that is not terminal has an action."""
    trial.expect(len(legal) > 0, "a state that is not terminal has no actions", "at least one action", legal)


def _short(value: object) -> str:
    return cut(value if isinstance(value, str) else represent(value), MAX_VALUE_CHARACTERS)
