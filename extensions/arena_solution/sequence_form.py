"""The sequence form of a game: the returns for each combination of the action sequences of the seats, averaged over chance.

B. von Stengel, Efficient Computation of Behavior Strategies, 1996.
"""

import random
from dataclasses import dataclass, field

from arena import CHANCE, Action, ArenaError, Game, GameError, State
from arena.api.errors import GameTooLarge, abbreviate
from arena.api.games import Chance, gives, name_of

MAX_STATES = 1_000_000
"""The default limit on the number of states in a tree. Each state takes about 200 bytes and 10 microseconds."""
CERTAIN_EXCESS = 20.0
"""A tree is refused before it is expanded if its estimated size is more than this many times the limit. The estimate is never
negative and correct on average, so by Markov's inequality a tree within the limit is refused in at most one case in twenty.
"""
DESCENTS = 20
MAX_DESCENT_STATES = 2_000


@dataclass(frozen=True, slots=True)
class InformationSet:
    """The states that a seat cannot distinguish when it has to move. They are identified by the observation of the seat.

    A sequence is the list of actions of one seat so far. Each sequence has a number; the empty one has the number 0. `parent` is
    the sequence that leads here. The sequence after the k-th action is `first + k`; `last` is the exclusive end of this range.
    """

    observation: State
    actions: tuple[Action, ...]
    parent: int
    first: int
    last: int


@dataclass(slots=True)
class SequenceForm:
    """A completely expanded game, beginning at one state."""

    game: Game
    states: int = 0
    """The number of states in the tree."""
    information_sets: list[list[InformationSet]] = field(default_factory=list)
    """The information sets of each seat, ordered so that each comes after its predecessors."""
    sequences: list[int] = field(default_factory=list)
    """The number of sequences of each seat."""
    outcomes: dict[tuple[int, ...], list[float]] = field(default_factory=dict)
    """For each combination of sequences: the sum of the returns at its ends. The returns at an end are multiplied by the
    probability of the chance outcomes on the way to it.
    """


def sequence_form(
    game: Game, state: State | None = None, *, most: int = MAX_STATES, instead: str = "use smaller parameters of the game"
) -> SequenceForm:
    """Expand `game`, beginning at `state`; the default is the start of the game.

    A random start is drawn with a fixed seed. Raises GameTooLarge if there are more than `most` states (its message gives the
    advice `instead`), ArenaError if observations do not contain everything that a seat has seen and done, and GameError if the
    game contradicts itself.
    """
    if game.perfect_recall is False:
        raise ArenaError(
            f"{name_of(game)} has imperfect recall: best responses can only be computed if observations contain all that a seat "
            "has seen and done"
        )
    root = game.initial(random.Random(0)) if state is None else state
    estimate = check_size(game, root, most, instead)
    return _Expansion(game, root, most).run(estimate, instead)


def check_size(game: Game, root: State, most: int, instead: str) -> float:
    """Return an estimate of the number of states in the tree; raises GameTooLarge if it is far beyond `most`."""
    estimate = estimate_states(game, root)
    if estimate > CERTAIN_EXCESS * most:
        raise too_large(game, estimate, most, instead)
    return estimate


def too_large(game: Game, states: float, most: int, instead: str) -> GameTooLarge:
    """Return the error for a tree with about `states` states, if at most `most` are allowed; `instead` is the advice."""
    size = f"more than {most:,}" if states <= most else f"about {states:.0e}" if states < float("inf") else "too many"
    return GameTooLarge(
        f"the tree of {name_of(game)} has {size} states; an exact solution is possible for at most {most:,}: {instead}"
    )


def estimate_states(game: Game, root: State) -> float:
    """Estimate the number of states in the tree from random descents (D. E. Knuth, 1975); inf when a descent does not end."""
    rng = random.Random(0)
    totals = 0.0
    for _ in range(DESCENTS):
        state, total, weight = root, 1.0, 1.0
        for _ in range(MAX_DESCENT_STATES):
            if game.is_terminal(state):
                break
            actions = game.actions(state)
            weight *= len(actions)
            total += weight
            state = game.result(state, rng.choice(actions))
        else:
            return float("inf")
        totals += total
    return totals / DESCENTS


class _Expansion:
    """Expands a tree in depth-first order and numbers the sequences in the order in which they are found."""

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
                weighted = [probability * value for value in game.returns(state)]
                before = form.outcomes.get(sequences)
                if before is not None:
                    weighted = [one + other for one, other in zip(before, weighted, strict=True)]
                form.outcomes[sequences] = weighted
            elif (mover := game.to_move(state)) == CHANCE:
                children = [(game.result(state, a), probability * p, sequences) for a, p in Chance.outcomes(game, state)]
                unexpanded += reversed(children)
                form.states += len(children)
            else:
                if not 0 <= mover < game.players:
                    expected = f"expected CHANCE or a seat below {game.players}"
                    raise GameError(f"{name_of(game)}: to_move gave {abbreviate(mover)}; {expected}")
                here = self._information_set(state, mover, sequences[mover])
                earlier, later = sequences[:mover], sequences[mover + 1 :]
                for place in range(len(here.actions) - 1, -1, -1):
                    child = game.result(state, here.actions[place])
                    unexpanded.append((child, probability, (*earlier, here.first + place, *later)))
                form.states += len(here.actions)
            if form.states > self.most:
                raise too_large(game, estimate, self.most, instead)
        return form

    def _information_set(self, state: State, seat: int, sequence: int) -> InformationSet:
        """Return the information set of a state. Without hidden information, a state has a set for each sequence."""
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
                f"{name_of(game)}: the observation {abbreviate(observation)} does not show seat {seat} what it has done before; "
                "such a game must set perfect_recall = False, and best responses cannot be computed for it"
            )
        return known
