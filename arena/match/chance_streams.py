"""Draws the outcomes of chance, from streams that are shared by all matches of a position.

A stream follows from the key of the position, the repetition and the name that the game gives it, and not from a seat or a
label: all pairings and seat orders of a round meet the same dice and deals.
"""

import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from arena.configured import name_of
from arena.errors import GameError, abbreviate
from arena.game import CHANCE, Action, Game, State, gives
from arena.identity import Stream, canonical, position_seed

PROBABILITY_TOLERANCE = 1e-9
"""How far from 1 the sum of the probabilities may be."""
MAX_OUTCOMES_IN_A_ROW = 100_000
"""The number of outcomes in a row after which chance is assumed to go on for ever."""

StreamOf = Callable[[Hashable], random.Random]
"""Returns the stream of a name; the same one at every call."""


class Chance:
    """Draws outcomes for one play of a game. GameError if the game contradicts itself."""

    def __init__(self, game: Game, stream_of: StreamOf) -> None:
        self._game = game
        self._stream_of = stream_of

    @classmethod
    def of(cls, game: Game, position_key: str, repetition: int) -> "Chance":
        """Return the chance of the matches from a position; `repetition` counts the earlier equal positions."""
        streams: dict[str, Stream] = {}

        def stream_of(name: Hashable) -> Stream:
            if not _is_plain(name):
                raise GameError(
                    f"{name_of(game)}: chance_stream gave {abbreviate(name)}; expected a text, a number or a tuple of these"
                )
            text = canonical(name)
            if text not in streams:
                streams[text] = Stream(position_seed(position_key, f"chance/{repetition}/{text}"))
            return streams[text]

        return cls(game, stream_of)

    def outcome(self, state: State) -> Action:
        """Draw the outcome of a state in which chance moves, by one number against the cumulated probabilities in their order."""
        outcomes = chance_outcomes(self._game, state)
        drawn = self._stream_of(self._game.chance_stream(state) if gives(self._game, "chance_stream") else "").random()
        sums = accumulate([probability for _, probability in outcomes])
        return next((action for (action, _), reached in zip(outcomes, sums, strict=True) if drawn < reached), outcomes[-1][0])

    def settle(self, state: State) -> Iterator[tuple[Action, State]]:
        """Yield each outcome, and the state after it, as long as chance moves."""
        game = self._game
        for _ in range(MAX_OUTCOMES_IN_A_ROW):
            if game.is_terminal(state) or game.to_move(state) != CHANCE:
                return
            outcome = self.outcome(state)
            state = game.result(state, outcome)
            yield outcome, state
        raise endless(game)


def _is_plain(name: Any) -> bool:
    return isinstance(name, (str, int, float, type(None))) or (isinstance(name, tuple) and all(map(_is_plain, name)))


def has_chance(game: Game) -> bool:
    """Return whether chance may move in a game."""
    return gives(game, "chance_outcomes")


def chance_outcomes(game: Game, state: State) -> Sequence[tuple[Action, float]]:
    """Return the outcomes of a state in which chance moves, as the game gives them, in their order.

    GameError if they are not pairs, if a probability is not above 0, if all do not add up to 1, or if they differ from the
    `actions` of the state.
    """
    if not has_chance(game):
        raise GameError(f"{name_of(game)}: to_move gave CHANCE, and the game has no chance_outcomes; give it that method")
    given = game.chance_outcomes(state)
    try:
        outcomes = [(action, float(probability)) for action, probability in given]
    except (TypeError, ValueError):
        raise _wrong(game, f"gave {abbreviate(given)}; expected pairs of an action and a probability") from None
    for action, probability in outcomes:
        if not 0.0 < probability <= 1.0 + PROBABILITY_TOLERANCE:
            raise _wrong(game, f"gave {abbreviate(action)} the probability {probability:g}; expected one above 0, at most 1")
    if abs(sum([probability for _, probability in outcomes]) - 1.0) > PROBABILITY_TOLERANCE:
        total = sum([probability for _, probability in outcomes])
        raise _wrong(game, f"gave probabilities that add up to {total:.12g} in {game.format_state(state)}; expected 1")
    listed, actions = [action for action, _ in outcomes], list(game.actions(state))
    if listed != actions and not (len(listed) == len(actions) == len(set(listed)) and set(listed) == set(actions)):
        raise _wrong(game, f"gave the outcomes {abbreviate(listed)}, and actions gave {abbreviate(actions)}; expected the same")
    return outcomes


def _wrong(game: Game, what: str) -> GameError:
    return GameError(f"{name_of(game)}: chance_outcomes {what}")


def endless(game: Game) -> GameError:
    """Return the error of a game in which chance does not stop moving."""
    return GameError(f"{name_of(game)}: chance has moved {MAX_OUTCOMES_IN_A_ROW:,} times in a row; expected a decision or an end")
