"""The classics of the iterated prisoner's dilemma. R. Axelrod, The Evolution of Cooperation, 1984."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from arena import Action, Agent, Game, Hints, Search, State


class DilemmaAgent(Agent):
    """Cooperates with a probability that depends on the visible history of both seats."""

    games: ClassVar[frozenset[str]] = frozenset({"prisoners-dilemma"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})

    @abstractmethod
    def cooperation(self, own: str, other: str) -> float:
        """Return the probability of C after two histories, a letter C or D for each turn."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return C or D; random numbers are drawn only if both are possible."""
        share, _ = self.policy(game, state)
        return "C" if share == 1 or (share > 0 and search.rng.random() < share) else "D"

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return the probabilities of C and D."""
        rules: Any = game
        seat = game.to_move(observation)
        share = self.cooperation(rules.history(observation, seat), rules.history(observation, 1 - seat))
        return (share, 1 - share)


class TitForTat(DilemmaAgent):
    """Cooperates first, then does what the other has done last."""

    name = "tit-for-tat"
    hints = Hints(proposed={"simultaneous": 5}, uses_heuristic=False)

    def cooperation(self, own: str, other: str) -> float:
        """Return 1 unless the other has defected last."""
        return float(other[-1:] != "D")


class GenerousTitForTat(DilemmaAgent):
    """Plays tit for tat, but forgives a defection with the probability `generosity`.

    One third is the largest generosity without a loss for the payoffs 3, 1, 0 and 5. M. A. Nowak, K. Sigmund, Tit for tat in
    heterogeneous populations, 1992.
    """

    name = "generous-tit-for-tat"
    hints = Hints(uses_heuristic=False)

    def __init__(self, *, generosity: Annotated[float, Field(ge=0, le=1)] = 1 / 3) -> None:
        self.generosity = generosity

    def cooperation(self, own: str, other: str) -> float:
        """Return 1 unless the other has defected last, `generosity` if it has."""
        return self.generosity if other[-1:] == "D" else 1.0


class Grim(DilemmaAgent):
    """Cooperates until the other defects, and never again."""

    name = "grim"
    hints = Hints(uses_heuristic=False)

    def cooperation(self, own: str, other: str) -> float:
        """Return 1 unless the other has ever defected."""
        return float("D" not in other)


class WinStayLoseShift(DilemmaAgent):
    """Cooperates first, then repeats what it has done if the other cooperated, and changes if not.

    M. A. Nowak, K. Sigmund, A strategy of win-stay, lose-shift that outperforms tit-for-tat, 1993; also known as Pavlov.
    """

    name = "win-stay-lose-shift"
    hints = Hints(uses_heuristic=False)

    def cooperation(self, own: str, other: str) -> float:
        """Return 1 if both did the same last."""
        return float(own[-1:] == other[-1:])


class Always(DilemmaAgent):
    """Plays the same `action`, whatever happens."""

    name = "always"
    hints = Hints(uses_heuristic=False)

    def __init__(self, *, action: Literal["C", "D"] = "C") -> None:
        self.action = action

    def cooperation(self, own: str, other: str) -> float:
        """Return 1 for C and 0 for D."""
        return float(self.action == "C")


class Alternate(DilemmaAgent):
    """Cooperates and defects by turns, whatever happens."""

    name = "alternate"
    hints = Hints(uses_heuristic=False)

    def cooperation(self, own: str, other: str) -> float:
        """Return 1 in every other turn, from the first."""
        return float(len(own) % 2 == 0)
