"""The iterated prisoner's dilemma (R. Axelrod, The Evolution of Cooperation, 1984)."""

import random
import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from arena import CHANCE, Limits, Simultaneous, encoding
from arena.api.errors import abbreviate

State = str
"""The actions, two letters for each turn, seat 0 first. Lowercase letters may still be flipped by noise; `?` is a hidden choice.
"""


class PrisonersDilemma(Simultaneous):
    """Both seats cooperate (C) or defect (D) at the same time, `turns` times. The return of a seat is its mean payoff per turn.

    `payoffs` contains four values: the payoff of each seat if both cooperate, of each seat if both defect, and, if only one
    defects, of the cooperator and of the defector. `noise` is the probability that a choice is flipped. Text notation: the
    turns, `CC CD`, or `-` at the start.
    """

    name = "prisoners-dilemma"
    rules_text = (
        "Two seats play `turns` turns. In each turn, both choose at the same time to cooperate (C) or to defect (D). "
        "`payoffs` has four numbers: the payoff of each seat if both cooperate, the payoff of each seat if both defect, "
        "and, if only one defects, the payoff of the seat that cooperates and the payoff of the seat that defects. With "
        "probability `noise`, a choice is flipped. The result of a seat is its mean payoff per turn. "
        "A position is written as the choices in all turns so far, seat 1 first: `CC CD`, or - at the start."
    )
    board = "boards/rounds.js"
    zero_sum = False
    min_return = 0.0
    max_return = 5.0

    def __init__(
        self,
        *,
        turns: Annotated[int, Field(ge=1, le=10_000)] = 200,
        noise: Annotated[float, Field(ge=0, le=1)] = 0.0,
        payoffs: tuple[float, float, float, float] = (3, 1, 0, 5),
    ) -> None:
        both, neither, cooperator, defector = payoffs
        if not defector > both > neither > cooperator:
            raise ValueError(f"payoffs: expected fourth > first > second > third, got {payoffs}")
        self.turns = turns
        self.default_moves = max(Limits().moves, 2 * turns)
        self.noise = noise
        self.min_return, self.max_return = cooperator, defector
        self.perfect_recall = noise == 0  # seats see actions, but forget what they intended
        self._payoffs = {"CC": (both, both), "DD": (neither, neither), "CD": payoffs[2:], "DC": (defector, cooperator)}

    def begin(self, rng: random.Random) -> State:
        """Return the state before the first turn."""
        return ""

    def movers(self, state: State) -> Sequence[int]:
        """Return both seats; CHANCE if a choice may be flipped; no seat after the last turn."""
        if state[-2:].strip("CD"):
            return (CHANCE,)
        return (0, 1) if len(state) < 2 * self.turns else ()

    def legal(self, state: State, seat: int) -> Sequence[str]:
        """Return C and D."""
        return ("C", "D")

    def joint(self, state: State, actions: Sequence[str]) -> State:
        """Add a turn, or apply noise to the first pending choice."""
        if len(actions) == 2:
            return state + "".join(actions if not self.noise else map(str.lower, actions))
        place = len(state) - 2 + self.chance_stream(state)
        choice = state[place].upper()
        return state[:place] + ("DC"["CD".index(choice)] if actions[0] == "flipped" else choice) + state[place + 1 :]

    def chance_outcomes(self, state: State) -> Sequence[tuple[str, float]]:
        """Return the outcomes of noise: the choice is kept or flipped. Impossible outcomes are left out."""
        return [(each, share) for each, share in (("kept", 1 - self.noise), ("flipped", self.noise)) if share]

    def chance_stream(self, state: State) -> int:
        """Return the seat whose choice may be flipped."""
        return 0 if state[-2] in "cd" else 1

    def history(self, state: State, seat: int) -> str:
        """Return the actions of a seat in all completed turns, one letter each; `state` may be an observation."""
        return "".join(re.findall("[CD]{2}", self.settled(state)))[seat::2]

    def standing(self, state: State) -> Sequence[float]:
        """Return the mean payoffs so far."""
        done = [self._payoffs[state[place : place + 2]] for place in range(0, len(state), 2) if state[place + 1] in "CD"]
        means = [sum(got) / len(done) for got in zip(*done, strict=True)] or [0.0, 0.0]
        return [min(max(mean, self.min_return), self.max_return) for mean in means]  # because means are rounded

    def payoffs(self, state: State) -> Sequence[float]:
        """Return the mean payoffs over all turns."""
        return self.standing(state)

    def seen(self, state: State, seat: int) -> State:
        """Return the state without choices of the other seat that may still be flipped."""
        place = len(state) - 1 - seat
        return state[:place] + "?" + state[place + 1 :] if state[-2:].strip("CD") else state

    def resample(self, observation: State, seat: int, rng: random.Random) -> State:
        """Return the state with a hidden choice drawn at random."""
        return observation.replace("?", rng.choice("cd"))

    def action_space(self) -> Sequence[str]:
        """Return C and D."""
        return ("C", "D")

    def render(self, state: State) -> str:
        """Return a line for each seat, with its mean."""
        lines = [f"{state[seat::2] or '-'}   {mean:.2f}" for seat, mean in enumerate(self.standing(state))]
        return "\n".join([f"turn {min(len(state) // 2 + 1, self.turns)} of {self.turns}", *lines])

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `CC CD`."""
        return " ".join([state[place : place + 2] for place in range(0, len(state), 2)]) or "-"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `CC CD`. Raises ValueError for other letters, half a turn, or too many turns."""
        turns = [] if text.strip() == "-" else text.split() or [""]
        last = "CDcd?" if self.noise else "CD"  # only the last turn may have pending noise
        odd = set("".join(turns[:-1])) - set("CD") or set("".join(turns[-1:])) - set(last)
        if odd or len(turns) > self.turns or any(len(turn) != 2 for turn in turns):
            raise ValueError(f"expected up to {self.turns} turns of C and D, as in CC CD, or -, got {abbreviate(text)}")
        return "".join(turns)


@encoding("features", game="prisoners-dilemma", shape=lambda game: (4, game.turns))
def prisoners_dilemma_features(game: PrisonersDilemma, observation: object, seat: int) -> list[int]:
    """Return the turns in which the seat has cooperated, those in which it has defected, then the same for the other seat."""
    state = game.settled(observation).upper()
    said = [state[seat::2], state[1 - seat :: 2]]
    return [int(letter == choices[turn : turn + 1]) for choices in said for letter in "CD" for turn in range(game.turns)]
