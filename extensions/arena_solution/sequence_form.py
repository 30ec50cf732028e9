"""The sequence form of a game: what every combination of the seats' own sequences of actions gives, chance averaged out.

B. von Stengel, Efficient Computation of Behavior Strategies, 1996.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from arena import CHANCE, Action, ArenaError, Game, GameError, State
from arena.api.cli import abbreviate
from arena.api.match import chance_outcomes
from arena.api.spec import gives, name_of
from arena.errors import GameTooLarge

MAX_STATES = 1_000_000
"""States of a tree that is expanded whole; some 200 bytes and 10 microseconds each."""
CERTAIN_EXCESS = 20.0
"""How many times the limit an estimate of the size has to be before the tree is not even tried. An estimate is never negative and
right on average, so by Markov's inequality a tree within the limit is refused once in twenty times at most."""
DESCENTS = 20
MAX_DESCENT_STATES = 2_000


@dataclass(frozen=True, slots=True)
class InformationSet:
    """The states that a seat cannot tell apart where it has to act, known by its observation.

    A sequence is what a seat has done itself so far; each has a number, and the empty one is 0. `parent` is the sequence with
    which the seat comes here; its sequences after the k-th action are `first + k`, up to `last`, which is no longer one of them.
    """

    observation: State
    actions: tuple[Action, ...]
    parent: int
    first: int
    last: int


@dataclass(slots=True)
class SequenceForm:
    """A game expanded whole, from one state on."""

    game: Game
    states: int = 0
    """How many states its tree has."""
    information_sets: list[list[InformationSet]] = field(default_factory=list)
    """Of each seat, every one after those that its seat passes on the way to it."""
    sequences: list[int] = field(default_factory=list)
    """How many sequences each seat has."""
    outcomes: dict[tuple[int, ...], list[float]] = field(default_factory=dict)
    """By the sequences of all seats: the returns where play ends after them, times the probability that chance plays along."""


def sequence_form(
    game: Game, state: State | None = None, *, most: int = MAX_STATES, instead: str = "take smaller parameters of the game"
) -> SequenceForm:
    """Expand `game` from `state`, by default its start.

    GameTooLarge beyond `most` states, with what to do `instead`; ArenaError where observations do not tell a seat what it has
    seen and done; GameError where the game contradicts itself. The start is drawn from a fixed stream where it is drawn by lot.
    """
    if game.perfect_recall is False:
        raise ArenaError(
            f"{name_of(game)} has imperfect recall: best responses by information sets need observations that forget nothing"
        )
    root = game.initial(random.Random(0)) if state is None else state
    estimate = check_size(game, root, most, instead)
    return _Expansion(game, root, most).run(estimate, instead)


def check_size(game: Game, root: State, most: int, instead: str) -> float:
    """Return an estimate of the number of states in the tree; GameTooLarge where it is far beyond `most`."""
    estimate = estimate_states(game, root)
    if estimate > CERTAIN_EXCESS * most:
        raise too_large(game, estimate, most, instead)
    return estimate


def too_large(game: Game, states: float, most: int, instead: str) -> GameTooLarge:
    """Return the error for a tree of about so many states, of which at most so many can be held."""
    size = f"more than {most:,}" if states <= most else f"about {states:.0e}" if states < float("inf") else "no end of"
    return GameTooLarge(f"the tree of {name_of(game)} has {size} states, and an exact solution takes at most {most:,}: {instead}")


def estimate_states(game: Game, root: State) -> float:
    """Estimate the number of states in the tree, inf where play does not end, from random descents (D. E. Knuth, 1975)."""
    rng = random.Random(0)
    return sum([_descend(game, root, rng) for _ in range(DESCENTS)]) / DESCENTS


def _descend(game: Game, state: State, rng: random.Random) -> float:
    total = weight = 1.0
    for _ in range(MAX_DESCENT_STATES):
        if game.is_terminal(state):
            return total
        actions = game.actions(state)
        weight *= len(actions)
        total += weight
        state = game.result(state, rng.choice(actions))
    return float("inf")


class _Expansion:
    """Expands a tree, the latest state first, and numbers the sequences as they are met."""

    def __init__(self, game: Game, root: State, most: int) -> None:
        self.game = game
        self.most = most
        seats = range(game.players)
        self.form = SequenceForm(game, 1, [[] for _ in seats], [1 for _ in seats])
        self.met: list[dict[tuple[State, int | None], InformationSet]] = [{} for _ in seats]
        self.hidden = gives(game, "observation")
        self.open: list[tuple[State, float, tuple[int, ...]]] = [(root, 1.0, (0,) * game.players)]

    def run(self, estimate: float, instead: str) -> SequenceForm:
        game, form, unexpanded = self.game, self.form, self.open
        while unexpanded:
            state, probability, sequences = unexpanded.pop()
            if game.is_terminal(state):
                self._end(probability, sequences, game.returns(state))
            elif (mover := game.to_move(state)) == CHANCE:
                children = [(game.result(state, a), probability * p, sequences) for a, p in chance_outcomes(game, state)]
                unexpanded += reversed(children)
                form.states += len(children)
            else:
                self._decide(state, mover, probability, sequences)
            if form.states > self.most:
                raise too_large(game, estimate, self.most, instead)
        return form

    def _end(self, probability: float, sequences: tuple[int, ...], returns: Sequence[float]) -> None:
        weighted = [probability * value for value in returns]
        before = self.form.outcomes.get(sequences)
        self.form.outcomes[sequences] = (
            weighted if before is None else [one + other for one, other in zip(before, weighted, strict=True)]
        )

    def _decide(self, state: State, mover: int, probability: float, sequences: tuple[int, ...]) -> None:
        if not 0 <= mover < self.game.players:
            raise GameError(
                f"{name_of(self.game)}: to_move gave {abbreviate(mover)}; expected CHANCE or a seat below {self.game.players}"
            )
        here = self._information_set(state, mover, sequences[mover])
        before, after = sequences[:mover], sequences[mover + 1 :]
        for place in range(len(here.actions) - 1, -1, -1):
            child = self.game.result(state, here.actions[place])
            self.open.append((child, probability, (*before, here.first + place, *after)))
        self.form.states += len(here.actions)

    def _information_set(self, state: State, seat: int, sequence: int) -> InformationSet:
        """Return the information set of a state. Without hidden information a state may be reached in several ways."""
        game, form = self.game, self.form
        actions = tuple(game.actions(state))
        observation = game.observation(state, seat)
        key = (observation, None if self.hidden else sequence)
        known = self.met[seat].get(key)
        if known is None:
            first = form.sequences[seat]
            form.sequences[seat] = last = first + len(actions)
            known = self.met[seat][key] = InformationSet(observation, actions, sequence, first, last)
            form.information_sets[seat].append(known)
        elif known.actions != actions:
            raise GameError(
                f"{name_of(game)}: seat {seat} observes {abbreviate(observation)} in two states with different actions, "
                f"{abbreviate(list(known.actions))} and {abbreviate(list(actions))}"
            )
        elif known.parent != sequence:
            raise ArenaError(
                f"{name_of(game)}: the observation {abbreviate(observation)} does not tell seat {seat} what it has done before; "
                "such a game says perfect_recall = False, and has no best responses by information sets"
            )
        return known
