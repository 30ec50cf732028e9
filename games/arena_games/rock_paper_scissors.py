"""Rock, paper, scissors."""

import random
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from arena import Limits, Simultaneous, encoding
from arena.api.errors import abbreviate

State = tuple[tuple[str, str], ...]
"""The choices of both seats in each round."""

CHOICES = ("rock", "paper", "scissors")
"""Each choice beats the one before it, and the first beats the last."""


class RockPaperScissors(Simultaneous):
    """Both seats choose at the same time, `rounds` times. A round is worth 1 point; the return is the mean over all rounds.

    Also called roshambo. Text notation: the rounds, `rock-paper paper-paper`, or `-` at the start.
    """

    name = "rock-paper-scissors"
    rules_text = (
        "Two seats play `rounds` rounds. In each round, both choose rock, paper or scissors at the same time. Rock beats "
        "scissors, scissors beat paper, and paper beats rock; equal choices are a draw. A round that is won is worth 1 "
        "point, and a round that is lost -1. The result is the mean over all rounds. A move is `rock`, `paper` or "
        "`scissors`. A position is written as the rounds so far, seat 1 first: `rock-paper paper-paper`, or - at the "
        "start."
    )
    board = "boards/rounds.js"

    def __init__(self, *, rounds: Annotated[int, Field(ge=1, le=10_000)] = 1) -> None:
        self.rounds = rounds
        self.default_moves = max(Limits().moves, 2 * rounds)

    def begin(self, rng: random.Random) -> State:
        """Return the state before the first round."""
        return ()

    def movers(self, state: State) -> Sequence[int]:
        """Return both seats until all rounds are played."""
        return (0, 1) if len(state) < self.rounds else ()

    def legal(self, state: State, seat: int) -> Sequence[str]:
        """Return rock, paper and scissors."""
        return CHOICES

    def joint(self, state: State, actions: Sequence[str]) -> State:
        """Add a round."""
        first, second = actions
        return (*state, (first, second))

    def standing(self, state: State) -> Sequence[float]:
        """Return, for each seat, the rounds won minus the rounds lost, as a share of all rounds."""
        won = sum((0, 1, -1)[CHOICES.index(first) - CHOICES.index(second)] for first, second in state) / self.rounds
        return (won, -won)

    def payoffs(self, state: State) -> Sequence[float]:
        """Return the mean points over all rounds."""
        return self.standing(state)

    def resample(self, observation: State, seat: int, rng: random.Random) -> State:
        """Return the state itself, because only the other's choice in the current round is hidden."""
        return observation

    def action_space(self) -> Sequence[str]:
        """Return rock, paper and scissors."""
        return CHOICES

    def render(self, state: State) -> str:
        """Return one line for each round, and a last line with the number of rounds."""
        return "\n".join([" - ".join(each) for each in state] + [f"{len(state)} of {self.rounds} rounds played"])

    def format_state(self, state: State) -> str:
        """Return the text notation, such as `rock-paper paper-paper`."""
        return " ".join(["-".join(each) for each in state]) or "-"

    def parse_state(self, text: str) -> State:
        """Parse a text such as `rock-paper paper-paper`. Raises ValueError for other words or too many rounds."""
        rounds = [] if text.strip() == "-" else [tuple(each.split("-")) for each in text.split() or [""]]
        if len(rounds) > self.rounds or any(len(each) != 2 or set(each) - set(CHOICES) for each in rounds):
            raise ValueError(f"expected up to {self.rounds} rounds such as rock-paper, or -, got {abbreviate(text)}")
        return tuple([(first, second) for first, second in rounds])


@encoding("features", game="rock-paper-scissors", shape=lambda game: (6, game.rounds))
def rock_paper_scissors_features(game: RockPaperScissors, observation: object, seat: int) -> list[int]:
    """Return the rounds in which the seat has chosen rock, paper and scissors, then the same for the other seat."""
    rounds = game.settled(observation)
    said = [[chosen[one] for chosen in rounds] for one in (seat, 1 - seat)]
    return [int([choice] == chosen[turn : turn + 1]) for chosen in said for choice in CHOICES for turn in range(game.rounds)]
