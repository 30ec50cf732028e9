"""Classic strategies for the iterated prisoner's dilemma (R. Axelrod, The Evolution of Cooperation, 1984)."""

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
        """Return the probability of cooperating, given both histories with a letter C or D for each turn."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return C or D. Random numbers are drawn only if both are possible."""
        share, _ = self.policy(game, state)
        return "C" if share == 1 or (share > 0 and search.rng.random() < share) else "D"

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return the probabilities of C and D."""
        rules: Any = game
        seat = game.to_move(observation)
        share = self.cooperation(rules.history(observation, seat), rules.history(observation, 1 - seat))
        return (share, 1 - share)


class TitForTat(DilemmaAgent):
    """Cooperates first, then repeats the last choice of its opponent."""

    name = "tit-for-tat"
    hints = Hints(proposed={"simultaneous": 5}, uses_heuristic=False)

    def cooperation(self, own: str, other: str) -> float:
        """Return 0 if the other has just defected, else 1."""
        return float(other[-1:] != "D")


class GenerousTitForTat(DilemmaAgent):
    """Plays tit for tat, but forgives a defection with probability `generosity`.

    For the payoffs 3, 1, 0 and 5, one third is the largest generosity that does not lower the agent's own payoff. M. A. Nowak, K.
    Sigmund, Tit for tat in heterogeneous populations, 1992.
    """

    name = "generous-tit-for-tat"
    hints = Hints(uses_heuristic=False)

    def __init__(self, *, generosity: Annotated[float, Field(ge=0, le=1)] = 1 / 3) -> None:
        self.generosity = generosity

    def cooperation(self, own: str, other: str) -> float:
        """Return `generosity` if the other has just defected, else 1."""
        return self.generosity if other[-1:] == "D" else 1.0


class Grim(DilemmaAgent):
    """Cooperates until its opponent defects, and then always defects."""

    name = "grim"
    hints = Hints(uses_heuristic=False)

    def cooperation(self, own: str, other: str) -> float:
        """Return 0 if the other has ever defected, else 1."""
        return float("D" not in other)


class WinStayLoseShift(DilemmaAgent):
    """Cooperates first, then repeats its choice if the opponent cooperated, and changes it otherwise.

    M. A. Nowak, K. Sigmund, A strategy of win-stay, lose-shift that outperforms tit-for-tat, 1993; also known as Pavlov.
    """

    name = "win-stay-lose-shift"
    hints = Hints(uses_heuristic=False)

    def cooperation(self, own: str, other: str) -> float:
        """Return 1 if both made the same choice in the last turn."""
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
    """Cooperates and defects alternately, whatever happens."""

    name = "alternate"
    hints = Hints(uses_heuristic=False)

    def cooperation(self, own: str, other: str) -> float:
        """Return 1 in every other turn, beginning with the first."""
        return float(len(own) % 2 == 0)
