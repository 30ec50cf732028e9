"""The extensive form of a game as text, in Gambit's format EFG, which Gambit and open_spiel read.

R. McKelvey, A. McLennan, T. Turocy, Gambit: Software Tools for Game Theory, "The extensive game (.efg) file format".
"""

import random
from collections.abc import Sequence
from fractions import Fraction

from arena import CHANCE, Action, ArenaError, Game, GameError, State
from arena.api.cli import abbreviate
from arena.api.match import chance_outcomes
from arena.api.spec import gives, name_of, settings
from arena_solution.sequence_form import MAX_STATES, check_size, too_large

MAX_DENOMINATOR = 1_000_000
FRACTION_TOLERANCE = 1e-15
"""How near a fraction has to be to a probability to stand for it."""


def efg_lines(
    game: Game, state: State | None = None, *, most: int = MAX_STATES, instead: str = "take smaller parameters of the game"
) -> list[str]:
    """Return the lines of the game's extensive form from `state`, by default its start, which may be drawn from a fixed stream.

    An information set is what a seat observes where it acts; its name is the text of that. Without hidden information each state
    is one of its own. GameTooLarge beyond `most` states, with what to do `instead`; GameError where the game contradicts itself.
    """
    root = game.initial(random.Random(0)) if state is None else state
    check_size(game, root, most, instead)
    seats = " ".join([_quote(f"seat {seat}") for seat in range(game.players)])
    parameters = " ".join([f"{key}={value}" for key, value in settings(game).items()])
    title = f"{name_of(game)} {parameters}".rstrip()
    return [f"EFG 2 R {_quote(title)} {{ {seats} }}", *_Writer(game, most, instead).lines(root)]


class _Writer:
    """Writes nodes in the order of a walk that goes down first, and numbers what it meets from 1."""

    def __init__(self, game: Game, most: int, instead: str) -> None:
        self.game = game
        self.most = most
        self.instead = instead
        self.hidden = gives(game, "observation")
        self.sets: list[dict[State, tuple[int, list[str]]]] = [{} for _ in range(game.players)]
        self.decisions = [0] * game.players
        self.chances = self.ends = 0

    def lines(self, root: State) -> list[str]:
        game, open_states, found = self.game, [root], list[str]()
        while open_states:
            if len(found) + len(open_states) > self.most:
                raise too_large(game, 0.0, self.most, self.instead)
            state = open_states.pop()
            if game.is_terminal(state):
                found.append(self._end(state))
            elif (mover := game.to_move(state)) == CHANCE:
                outcomes = chance_outcomes(game, state)
                found.append(self._chance(state, outcomes))
                open_states += [game.result(state, outcome) for outcome, _ in reversed(outcomes)]
            else:
                actions = list(game.actions(state))
                found.append(self._decision(state, mover, actions))
                open_states += [game.result(state, action) for action in reversed(actions)]
        return found

    def _end(self, state: State) -> str:
        self.ends += 1
        returns = ", ".join([f"{value + 0.0:.15g}" for value in self.game.returns(state)])
        return f't "" {self.ends} "" {{ {returns} }}'

    def _chance(self, state: State, outcomes: Sequence[tuple[Action, float]]) -> str:
        self.chances += 1
        listed = [f"{_quote(self.game.format_action(state, outcome))} {_fraction(share)}" for outcome, share in outcomes]
        return f'c "" {self.chances} "" {{ {" ".join(listed)} }} 0'

    def _decision(self, state: State, mover: int, actions: Sequence[Action]) -> str:
        game = self.game
        if not 0 <= mover < game.players:
            raise GameError(f"{name_of(game)}: to_move gave {abbreviate(mover)}; expected CHANCE or a seat below {game.players}")
        texts = [game.format_action(state, action) for action in actions]
        number, text = self._set(state, mover, texts)
        listed = " ".join(map(_quote, texts))
        return f'p "" {mover + 1} {number} {_quote(text)} {{ {listed} }} 0'

    def _set(self, state: State, mover: int, texts: list[str]) -> tuple[int, str]:
        """Return the number and the text of the information set of a state."""
        if not self.hidden:
            self.decisions[mover] += 1
            return self.decisions[mover], self.game.format_state(state)
        seen = self.game.observation(state, mover)
        number, known = self.sets[mover].setdefault(seen, (len(self.sets[mover]) + 1, texts))
        if known != texts:
            raise ArenaError(
                f"{name_of(self.game)}: seat {mover} observes {abbreviate(seen)} in two states with different actions, "
                f"{abbreviate(known)} and {abbreviate(texts)}"
            )
        return number, self.game.format_state(seen)


def _fraction(probability: float) -> str:
    """Return `1/3`, or decimals where no fraction with a small denominator is as good."""
    near = Fraction(probability).limit_denominator(MAX_DENOMINATOR)
    return str(near) if abs(float(near) - probability) < FRACTION_TOLERANCE else f"{probability:.17f}"


def _quote(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'
