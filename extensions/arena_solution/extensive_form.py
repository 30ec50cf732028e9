"""The extensive form of a game as text, in Gambit's format EFG, which Gambit and open_spiel read.

R. McKelvey, A. McLennan, T. Turocy, Gambit: Software Tools for Game Theory, "The extensive game (.efg) file format".
"""

import random
from fractions import Fraction

from arena import CHANCE, ArenaError, Game, GameError, State
from arena.api.errors import abbreviate
from arena.api.games import Chance, gives, name_of, settings
from arena_solution.sequence_form import MAX_STATES, check_size, too_large

MAX_DENOMINATOR = 1_000_000
FRACTION_TOLERANCE = 1e-15
"""The maximum difference between a probability and the fraction that is written for it."""


def efg_lines(
    game: Game, state: State | None = None, *, most: int = MAX_STATES, instead: str = "use smaller parameters of the game"
) -> list[str]:
    """Return the lines of the extensive form of a game, beginning at `state`.

    The default is the start of the game; a random start is drawn with a fixed seed.

    An information set contains the states in which a seat has the same observation; the text of the observation is the name of
    the set. Without hidden information each state is an information set of its own. Raises GameTooLarge if there are more
    than `most` states (its message gives the advice `instead`), and GameError if the game contradicts itself.
    """
    root = game.initial(random.Random(0)) if state is None else state
    check_size(game, root, most, instead)
    seats = " ".join([_quote(f"seat {seat}") for seat in range(game.players)])
    parameters = " ".join([f"{key}={value}" for key, value in settings(game).items()])
    title = f"{name_of(game)} {parameters}".rstrip()
    return [f"EFG 2 R {_quote(title)} {{ {seats} }}", *_Writer(game, most, instead).lines(root)]


class _Writer:
    """Writes nodes in depth-first order. Nodes, outcomes and information sets are each numbered from 1."""

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
                self.ends += 1
                returns = ", ".join([f"{value + 0.0:.15g}" for value in game.returns(state)])
                found.append(f't "" {self.ends} "" {{ {returns} }}')
            elif (mover := game.to_move(state)) == CHANCE:
                outcomes = Chance.outcomes(game, state)
                self.chances += 1
                texts = []
                for outcome, share in outcomes:  # such as 1/3, or decimals if no fraction with a small denominator is as good
                    near = Fraction(share).limit_denominator(MAX_DENOMINATOR)
                    text = str(near) if abs(float(near) - share) < FRACTION_TOLERANCE else f"{share:.17f}"
                    texts.append(f"{_quote(game.format_action(state, outcome))} {text}")
                found.append(f'c "" {self.chances} "" {{ {" ".join(texts)} }} 0')
                open_states += [game.result(state, outcome) for outcome, _ in reversed(outcomes)]
            else:
                actions = list(game.actions(state))
                if not 0 <= mover < game.players:
                    expected = f"expected CHANCE or a seat below {game.players}"
                    raise GameError(f"{name_of(game)}: to_move gave {abbreviate(mover)}; {expected}")
                texts = [game.format_action(state, action) for action in actions]
                number, text = self._set(state, mover, texts)
                found.append(f'p "" {mover + 1} {number} {_quote(text)} {{ {" ".join(map(_quote, texts))} }} 0')
                open_states += [game.result(state, action) for action in reversed(actions)]
        return found

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


def _quote(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'
