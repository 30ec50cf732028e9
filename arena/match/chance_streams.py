"""Draws the outcomes of chance from random streams that all matches of a position share.

A stream depends on the key of the position, on the repetition and on the name that the game gives the stream, but not on seats or
labels. So all matches of a round have the same dice and deals, in all pairings and all orders of seats.
"""

import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from arena.configured import name_of
from arena.errors import GameError, abbreviate, blame
from arena.game import CHANCE, Action, Game, State, gives
from arena.identity import Stream, canonical, position_seed
from arena.limits import read_number

PROBABILITY_TOLERANCE = 1e-9
"""How far from 1 the sum of the probabilities may be."""
MAX_OUTCOMES_IN_A_ROW = 100_000
"""When chance moves this often in a row, it is assumed never to stop."""

StreamOf = Callable[[Hashable], random.Random]
"""A function that returns the stream with a given name. Every call with this name returns the same object."""


class Chance:
    """Draws outcomes for one match. Raises GameError if the rules of the game contradict themselves."""

    def __init__(self, game: Game, stream_of: StreamOf) -> None:
        self._game = game
        self._stream_of = stream_of

    @classmethod
    def of(cls, game: Game, position_key: str, repetition: int) -> "Chance":
        """Return the Chance for a match from a position. `repetition` is the number of earlier positions with the same text."""
        streams: dict[str, Stream] = {}

        def stream_of(name: Hashable) -> Stream:
            if not _is_plain(name):
                raise GameError(
                    f"{name_of(game)}: chance_stream returned {abbreviate(name)}; expected a string, a number or a tuple of these"
                )
            text = canonical(name)
            if text not in streams:
                streams[text] = Stream(position_seed(position_key, f"chance/{repetition}/{text}"))
            return streams[text]

        return cls(game, stream_of)

    @staticmethod
    def outcomes(game: Game, state: State) -> Sequence[tuple[Action, float]]:
        """Return the outcomes of a state in which chance moves, as the game returns them.

        Raises GameError if they are not pairs, if a probability is not above 0, if the probabilities do not add up to 1, or if
        the outcomes differ from the `actions` of the state.
        """
        if not has_chance(game):
            raise GameError(f"{name_of(game)}: to_move returned CHANCE, but the game has no method chance_outcomes; define it")
        given = game.chance_outcomes(state)
        try:
            outcomes = [(action, read_number(probability)) for action, probability in given]
        except (TypeError, ValueError):
            raise _wrong(game, f"returned {abbreviate(given)}; expected pairs of an action and a probability") from None
        for action, probability in outcomes:
            if not 0.0 < probability <= 1.0 + PROBABILITY_TOLERANCE:
                raise _wrong(
                    game, f"gave {abbreviate(action)} the probability {probability:g}; expected more than 0 and at most 1"
                )
        if abs(sum([probability for _, probability in outcomes]) - 1.0) > PROBABILITY_TOLERANCE:
            total = sum([probability for _, probability in outcomes])
            raise _wrong(game, f"returned probabilities that add up to {total:.12g} in {game.format_state(state)}; expected 1")
        listed, actions = [action for action, _ in outcomes], list(game.actions(state))
        if listed != actions and not (len(listed) == len(actions) == len(set(listed)) and set(listed) == set(actions)):
            raise _wrong(
                game,
                f"returned the outcomes {abbreviate(listed)}, but actions returned {abbreviate(actions)}; expected equal lists",
            )
        return outcomes

    def outcome(self, state: State) -> Action:
        """Draw the outcome in a state in which chance moves: one random number is compared with the cumulative probabilities."""
        outcomes = self.outcomes(self._game, state)
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


def _wrong(game: Game, what: str) -> GameError:
    return blame(game.chance_outcomes, f"{name_of(game)}: chance_outcomes {what}")


def endless(game: Game) -> GameError:
    """Return the error for a game in which chance does not stop moving."""
    return GameError(
        f"{name_of(game)}: chance has moved {MAX_OUTCOMES_IN_A_ROW:,} times in a row; expected a decision or the end of the game"
    )
