"""Games in which several seats choose at once, played in turns by a referee that only knows turns.

The seats that move at once are asked one after another, and none sees the choices of the others. The state is the author's
own until the first seat has chosen. Then it is an `OpenTurn`, which the author's methods never meet, until the last has chosen.
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
"""How the text of an `OpenTurn` begins; the chosen actions follow as a JSON list, then a colon and the author's text."""


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn in which some of the movers have chosen."""

    state: State
    """The author's own state, in which the turn began."""
    chosen: tuple[Action, ...]
    """The actions so far, in the order of the movers; None for one that the observer may not know."""


class Simultaneous(Game):
    """The rules of a game in which several seats act at once.

    A subclass gives `name`, `begin`, `movers`, `legal`, `joint` and `payoffs`, with `seen` if a seat does not see the whole
    state, all in its own states; the methods for turns are supplied. `movers`, `legal`, `render` and the
    notations also get what `seen` has returned. The optional `chance_outcomes`, `chance_stream`, `standing`, `resample`,
    `threats`, `is_quiet` and `grid`, and own `render`, `format_state`, `parse_state`, `format_action` and `parse_action`,
    get the author's states too. No action is None.

    >>> from arena_games.rock_paper_scissors import RockPaperScissors
    >>> game = RockPaperScissors()
    >>> game.payoffs(game.joint((), ("rock", "paper")))
    (-1.0, 1.0)
    """

    @abstractmethod
    def begin(self, rng: random.Random) -> State:
        """Return a starting state; all randomness comes from `rng`."""

    @abstractmethod
    def movers(self, state: State) -> Sequence[int]:
        """Return the seats that act now, at once; `(CHANCE,)` if chance moves, `()` at the end."""

    @abstractmethod
    def legal(self, state: State, seat: int) -> Sequence[Action]:
        """Return the legal actions of `seat`, one of the movers, in a fixed order without duplicates; at least one."""

    @abstractmethod
    def joint(self, state: State, actions: Sequence[Action]) -> State:
        """Return the state after all movers have acted; `actions` holds their choices in order, or the outcome of chance."""

    @abstractmethod
    def payoffs(self, state: State) -> Sequence[float]:
        """Return the result of each seat at the end, each from `min_return` to `max_return`."""

    def seen(self, state: State, seat: int) -> State:
        """Return `state` as `seat` sees it at the start of a turn; by default the whole state."""
        return state

    def settled(self, state: State) -> State:
        """Return the author's own state. If some seats have chosen, this is the state in which the turn began. For heuristics."""
        return state.state if isinstance(state, OpenTurn) else state

    def initial(self, rng: random.Random) -> State:
        """Return the starting state of `begin`."""
        return self.begin(rng)

    def to_move(self, state: State) -> int:
        """Return the first of the movers that has not chosen; CHANCE if chance moves, 0 at the end."""
        own, chosen = _split(state)
        movers = self.movers(own)
        return movers[len(chosen)] if len(movers) else 0

    def actions(self, state: State) -> Sequence[Action]:
        """Return the legal actions of the seat to move; the outcomes if chance moves."""
        own, chosen = _split(state)
        movers = self.movers(own)
        if not len(movers):
            return ()
        seat = movers[len(chosen)]
        return [outcome for outcome, _ in self.chance_outcomes(own)] if seat == CHANCE else self.legal(own, seat)

    def result(self, state: State, action: Action) -> State:
        """Return the turn with one more choice; after the last one, the result of `joint`. ValueError if a choice is unknown."""
        own, chosen = _split(state)
        chosen = (*chosen, action)
        if len(chosen) < len(self.movers(own)):
            return OpenTurn(own, chosen)
        if None in chosen:
            raise ValueError("expected a state, got an observation in which what others have chosen is hidden")
        return self.joint(own, chosen)

    def is_terminal(self, state: State) -> bool:
        """Return whether no seat moves any more."""
        return not isinstance(state, OpenTurn) and not len(self.movers(state))

    def returns(self, state: State) -> Sequence[float]:
        """Return the results of `payoffs`."""
        return self.payoffs(state)

    def observation(self, state: State, seat: int) -> State:
        """Return the view of `seat` before this turn, with its own choice and None for the choices of the others."""
        if not isinstance(state, OpenTurn):
            return self.seen(state, seat)
        movers = self.movers(state.state)
        own = [action if mover == seat else None for mover, action in zip(movers, state.chosen, strict=False)]
        return OpenTurn(self.seen(state.state, seat), tuple(own))

    def format_state(self, state: State) -> str:
        """Return the author's text; in a turn in which some have chosen, as `chosen ["rock", null]: TEXT`."""
        return _format(Game.format_state, self, state)

    def parse_state(self, text: str) -> State:
        """Return the state that `text` stands for; ValueError describes the fault."""
        return _parse(Game.parse_state, self, text)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Wrap the author's methods so that they only meet the author's states."""
        super().__init_subclass__(**kwargs)
        for name in (*_OF_A_STATE, *_OF_TURNS):
            given = getattr_static(cls, name, None)
            own = given not in (getattr(Game, name, None), getattr(Simultaneous, name, None))
            if own and isinstance(given, (FunctionType, staticmethod)) and not hasattr(given, "adapted"):
                setattr(cls, name, _adapt(given, _OF_TURNS.get(name, _call_settled)))


def _split(state: State) -> tuple[State, tuple[Action, ...]]:
    return (state.state, state.chosen) if isinstance(state, OpenTurn) else (state, ())


def _adapt(given: Any, adapt: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of an author as the referee and agents may call it: with any state."""

    def call(game: Simultaneous, *arguments: Any) -> Any:
        return given.__get__(game, type(game))(*arguments)

    def method(self: Simultaneous, *arguments: Any) -> Any:
        return adapt(call, self, *arguments)

    method.adapted = True  # type: ignore[attr-defined]  # classes that derive from this one leave it as it is
    return update_wrapper(method, given) if isinstance(given, FunctionType) else method


def _call_settled(given: Callable[..., Any], game: Simultaneous, state: State, *rest: Any) -> Any:
    return given(game, game.settled(state), *rest)


def _resample(given: Callable[..., State], game: Simultaneous, observation: State, seat: int, rng: random.Random) -> State:
    """Return a state of the author's `resample`; the other seats' choices of this turn are drawn evenly."""
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
    turns = [OpenTurn(own, chosen[:place]) if place else own for place in range(len(chosen))]  # the text may reveal the seat
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
        raise ValueError(f"expected texts of actions or null, of 1 to {movers - 1} of {movers} movers, got {texts} in {text!r}")
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
"""Methods of an author that get his own state instead of a turn in which some have chosen."""
_OF_TURNS: dict[str, Callable[..., Any]] = {"resample": _resample, "format_state": _format, "parse_state": _parse}
"""Methods of an author that are called for his part of a turn."""
