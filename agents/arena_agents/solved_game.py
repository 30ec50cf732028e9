"""Agents that solve a whole game before their first action, and then play its solution from a table."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from arena import Action, Agent, ArenaError, Game, Search, State
from arena.configured import name_of, settings
from arena.errors import shown

Iterations = Annotated[int, Field(ge=1, le=1_000_000_000)]
Solution = Mapping[tuple[int, State], Sequence[float]]
"""By seat and observation: the probabilities of the actions, in their order."""

INSTEAD = "mcts, ismcts and pimc play it without a table"
KEPT = 16
"""Solutions that a process keeps."""
_kept: dict[tuple[object, ...], Solution] = {}


class SolvedGame(Agent):
    """Plays the actions of a solution with their probabilities, drawn from the seat's own stream.

    A process computes the solution of a game once, from its start, when it is first asked for; every instance of the same options
    plays it, so no record tells which decision had to wait for it. The states that this takes are no nodes, as those of a table
    of a heuristic are none, and no limit of a decision cuts it short.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"two-player", "zero-sum", "hidden-information"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    uses_heuristic = False

    @abstractmethod
    def solution(self, game: Game) -> Solution:
        """Return the solution of a game that nothing counts; ArenaError where it is too large."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return an action, drawn by the probabilities of the solution."""
        return search.rng.choices(game.actions(state), self.policy(game, state))[0]

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return the probabilities of the actions, in their order."""
        found = self._solution(game).get((game.to_move(observation), observation))
        return self.unmet(game, observation) if found is None else found

    def unmet(self, game: Game, observation: State) -> Sequence[float]:
        """Return the probabilities at an observation that the solution does not have; ArenaError where it has them all."""
        raise ArenaError(
            f"{name_of(self)} has solved {name_of(game)} from its start, and {shown(observation)} does not follow from there"
        )

    def _solution(self, game: Game) -> Solution:
        parameters = settings(game)
        key = (type(self), repr(settings(self)), type(game), repr(parameters))
        found = _kept.get(key)
        if found is None:
            if game.perfect_recall is False:
                raise ArenaError(f"{name_of(self)} cannot solve {name_of(game)}, which has imperfect recall: {INSTEAD}")
            while len(_kept) >= KEPT:
                _kept.pop(next(iter(_kept)), None)
            found = _kept[key] = self.solution(type(game)(**parameters))
        return found


def in_proportion(weights: Sequence[float]) -> list[float]:
    """Return probabilities in proportion to the weights above 0, else all the same: of regrets, regret matching."""
    positive = [weight if weight > 0.0 else 0.0 for weight in weights]  # noqa: FURB136 - a call of max takes longer
    total = sum(positive)
    if total > 0.0:
        return [weight / total for weight in positive]
    return [1.0 / len(positive)] * len(positive)
