"""The rule of thumb for Pig."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from arena import Action, Agent, Game, Search, State


class HoldAt(Agent):
    """Rolls until it has gathered `at` points or enough to win, then holds. T. W. Neller, C. G. M. Presser, 2004."""

    name = "hold-at"
    games: ClassVar[frozenset[str]] = frozenset({"pig"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    uses_heuristic = False

    def __init__(self, *, at: Annotated[int, Field(ge=1, le=10_000)] = 20) -> None:
        self.at = at

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return `roll` or `hold`."""
        return game.actions(state)[self.policy(game, state).index(1.0)]

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return 1 for what it does and 0 for the other, `roll` first."""
        rules: Any = game
        seat, _, gathered, *scores = observation
        held = gathered >= min(self.at, rules.target - scores[seat])
        return (0.0, 1.0) if held else (1.0, 0.0)
