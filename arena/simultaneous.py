"""Games in which several seats choose at the same time. The referee knows only turns, so these games are played in turns.

The seats that choose at the same time are asked one after another, and none sees the choices of the others. Before the first
choice, the state is the author's own. Until the last seat has chosen, it is an `OpenTurn`, which the author's methods never get.
"""

import json
import random
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from inspect import getattr_static
from types import FunctionType
from typing import Any

from arena.game import CHANCE, Action, Game, State

CHOSEN = "chosen "
"""How the text of an `OpenTurn` begins. Then come the chosen actions as a JSON list, a colon, and the author's text."""


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn in which some of the seats have already chosen."""

    state: State
    """The author's own state at the beginning of the turn."""
    chosen: tuple[Action, ...]
    """The actions chosen so far, in the order of the movers; None for an action that the observer may not know."""


class Simultaneous(Game):
    """The rules of a game in which several seats act at the same time.

    A subclass defines `name`, `begin`, `movers`, `legal`, `joint` and `payoffs`, and `seen` if a seat does not see the whole
    state. These methods use the author's own states; this class adds the methods for turns. `movers`, `legal`, `render` and the
    notations must also accept the values that `seen` returns. These methods also get the author's states, if the subclass defines
    them: `chance_outcomes`, `chance_stream`, `standing`, `resample`, `threats`, `is_quiet`, `grid`, `render`, `format_state`,
    `parse_state`, `format_action` and `parse_action`. None is not allowed as an action.

    >>> from arena_games.rock_paper_scissors import RockPaperScissors
    >>> game = RockPaperScissors()
    >>> game.payoffs(game.joint((), ("rock", "paper")))
    (-1.0, 1.0)
    """

    @abstractmethod
    def begin(self, rng: random.Random) -> State:
        """Return a start state; all random numbers come from `rng`."""

    @abstractmethod
    def movers(self, state: State) -> Sequence[int]:
        """Return the seats that act now, at the same time; `(CHANCE,)` if chance moves, `()` at the end of the game."""

    @abstractmethod
    def legal(self, state: State, seat: int) -> Sequence[Action]:
        """Return the legal actions of `seat`, one of the movers, in a fixed order without duplicates. There is at least one."""

    @abstractmethod
    def joint(self, state: State, actions: Sequence[Action]) -> State:
        """Return the state after all movers have acted; `actions` has their choices in order, or the outcome of chance."""

    @abstractmethod
    def payoffs(self, state: State) -> Sequence[float]:
        """Return the result of each seat at the end of the game; each is between `min_return` and `max_return`."""

    def seen(self, state: State, seat: int) -> State:
        """Return `state` as `seat` sees it at the beginning of a turn. The default is the whole state."""
        return state

    def settled(self, state: State) -> State:
        """Return the author's own state, for heuristics: the state itself or, in an unfinished turn, the one at its beginning."""
        return state.state if isinstance(state, OpenTurn) else state

    def initial(self, rng: random.Random) -> State:
        """Return the start state that `begin` returns."""
        return self.begin(rng)

    def to_move(self, state: State) -> int:
        """Return the first mover that has not chosen; CHANCE if chance moves, 0 at the end of the game."""
        own, chosen = _split(state)
        movers = self.movers(own)
        return movers[len(chosen)] if len(movers) else 0

    def actions(self, state: State) -> Sequence[Action]:
        """Return the legal actions of the seat to move, or the outcomes when chance moves."""
        own, chosen = _split(state)
        movers = self.movers(own)
        if not len(movers):
            return ()
        seat = movers[len(chosen)]
        return [outcome for outcome, _ in self.chance_outcomes(own)] if seat == CHANCE else self.legal(own, seat)

    def result(self, state: State, action: Action) -> State:
        """Return the turn with this choice or, after the last one, the state from `joint`. ValueError for an observation."""
        own, chosen = _split(state)
        chosen = (*chosen, action)
        if len(chosen) < len(self.movers(own)):
            return OpenTurn(own, chosen)
        if None in chosen:
            raise ValueError("expected a state, got an observation, which hides the choices of the others")
        return self.joint(own, chosen)

    def is_terminal(self, state: State) -> bool:
        """Return whether no seat is to move."""
        return not isinstance(state, OpenTurn) and not len(self.movers(state))

    def returns(self, state: State) -> Sequence[float]:
        """Return the results from `payoffs`."""
        return self.payoffs(state)

    def observation(self, state: State, seat: int) -> State:
        """Return what `seat` sees: the state before this turn, its own choice, and None for the choices of the others."""
        if not isinstance(state, OpenTurn):
            return self.seen(state, seat)
        movers = self.movers(state.state)
        own = [action if mover == seat else None for mover, action in zip(movers, state.chosen, strict=False)]
        return OpenTurn(self.seen(state.state, seat), tuple(own))

    def format_state(self, state: State) -> str:
        """Return the author's text or, if some seats have already chosen in this turn, `chosen ["rock", null]: TEXT`."""
        return _format(Game.format_state, self, state)

    def parse_state(self, text: str) -> State:
        """Return the state with this notation. Raises ValueError with a description of the fault."""
        return _parse(Game.parse_state, self, text)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Wrap the author's methods so that they only get the author's states."""
        super().__init_subclass__(**kwargs)
        for name in (*_OF_A_STATE, *_OF_TURNS):
            given = getattr_static(cls, name, None)
            own = given not in (getattr(Game, name, None), getattr(Simultaneous, name, None))
            if own and isinstance(given, (FunctionType, staticmethod)) and not hasattr(given, "adapted"):
                setattr(cls, name, _adapt(given, _OF_TURNS.get(name, _call_settled)))


def _split(state: State) -> tuple[State, tuple[Action, ...]]:
    return (state.state, state.chosen) if isinstance(state, OpenTurn) else (state, ())


def _adapt(given: Any, adapt: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an author's method, so that the referee and agents can call it with any state."""

    def call(game: Simultaneous, *arguments: Any) -> Any:
        return given.__get__(game, type(game))(*arguments)

    def method(self: Simultaneous, *arguments: Any) -> Any:
        return adapt(call, self, *arguments)

    method.adapted = True  # type: ignore[attr-defined]  # subclasses do not wrap it again
    return update_wrapper(method, given) if isinstance(given, FunctionType) else method


def _call_settled(given: Callable[..., Any], game: Simultaneous, state: State, *rest: Any) -> Any:
    return given(game, game.settled(state), *rest)


def _resample(given: Callable[..., State], game: Simultaneous, observation: State, seat: int, rng: random.Random) -> State:
    """Return a state from the author's `resample`, with random choices, all equally likely, for the other seats in this turn."""
    own, chosen = _split(observation)
    state = given(game, own, seat, rng)
    if not chosen:
        return state
    pairs = zip(game.movers(state), chosen, strict=False)
    return OpenTurn(state, tuple([rng.choice(game.legal(state, mover)) if act is None else act for mover, act in pairs]))


def _format(given: Callable[..., str], game: Simultaneous, state: State) -> str:
    own, chosen = _split(state)
    text = given(game, own)
    if not chosen:
        return text
    turns = [OpenTurn(own, chosen[:place]) if place else own for place in range(len(chosen))]  # texts may depend on the seat
    texts = [None if act is None else game.format_action(turn, act) for turn, act in zip(turns, chosen, strict=True)]
    return f"{CHOSEN}{json.dumps(texts, ensure_ascii=False)}: {text}"


def _parse(given: Callable[..., State], game: Simultaneous, text: str) -> State:
    if not text.startswith(CHOSEN + "["):
        return given(game, text)
    try:
        texts, end = json.JSONDecoder().raw_decode(text, len(CHOSEN))
    except ValueError as error:
        raise ValueError(f"expected {CHOSEN}, a JSON list of actions, a colon and a state, got {text!r}") from error
    state = given(game, text[end:].removeprefix(": "))
    movers = len(game.movers(state))
    if not 0 < len(texts) < movers or not all(isinstance(each, str | None) for each in texts):
        raise ValueError(
            f"expected a list of actions (strings or null) of 1 to {movers - 1} of the {movers} players to move, got {texts} "
            f"in {text!r}"
        )
    chosen: tuple[Action, ...] = ()
    for each in texts:
        turn = OpenTurn(state, chosen) if chosen else state
        chosen = (*chosen, None if each is None else game.parse_action(turn, each))
    return OpenTurn(state, chosen)


_OF_A_STATE = (
    "chance_outcomes",
    "chance_stream",
    "standing",
    "threats",
    "is_quiet",
    "render",
    "grid",
    "format_action",
    "parse_action",
)
"""The author's methods that get the author's own state if they are called with an `OpenTurn`."""
_OF_TURNS: dict[str, Callable[..., Any]] = {"resample": _resample, "format_state": _format, "parse_state": _parse}
"""Functions that replace these methods of an author: they call the method with the author's state and handle the choices."""
