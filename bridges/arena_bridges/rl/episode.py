"""One play of a game by a learning agent. Chance moves automatically, and an illegal action ends the play."""

import random
from collections.abc import Sequence
from typing import Any

from arena import Action, ArenaError
from arena.api.games import Chance, Returns, gives, move_limit
from arena_bridges.rl.coder import Coder


class Episode:
    """A play in progress. Call `begin` first."""

    def __init__(self, coder: Coder, moves: int | None) -> None:
        self.coder = coder
        self.game = game = coder.game
        if moves is not None and (type(moves) is not int or moves < 1):
            raise ValueError(f"moves: expected a whole number of at least 1, got {moves!r}")
        self._moves = move_limit(game) if moves is None else moves
        self._chance = gives(game, "chance_outcomes")

    def __getattr__(self, name: str) -> Any:
        """Raise ArenaError if the play has not begun."""
        if name in ("returns", "state"):
            raise ArenaError("play has not started: call reset")
        raise AttributeError(name)

    def begin(self, rng: random.Random, position: str | None = None) -> None:
        """Draw a position and the first chance moves. `position` is a text that replaces the drawn position."""
        self.rng = rng
        self._dice = Chance(self.game, lambda _: rng)
        self.left = self._moves
        """The number of decisions that are left until the move limit."""
        self.returns: Sequence[float] | None = None
        """The returns of all seats; None while the play continues."""
        self.truncated = False
        """Whether the play ended at the move limit."""
        self.at_fault: int | None = None
        """The seat whose illegal action ended the play."""
        self._arrive(self.game.initial(rng) if position is None else self.game.parse_state(position))

    def _arrive(self, state: Any) -> None:
        game = self.game
        for _, after in self._dice.settle(state) if self._chance else ():
            state = after
        self.state = state
        if game.is_terminal(state):
            self._end(Returns(game).check(game.returns(state)))
        elif not self.left:
            self.truncated = True
            self._end(Returns(game).standing(state))
        else:
            self.seat = game.to_move(state)
            self.legal: Sequence[Action] = game.actions(state)

    def _end(self, returns: Sequence[float]) -> None:
        self.returns, self.seat, self.legal = returns, -1, ()

    def play(self, number: Any) -> None:
        """Play the action with a number for the seat to move. If it is not legal, the play ends and this seat loses."""
        action = self.coder.action(number, self.legal)
        if action is None:
            self.at_fault = self.seat
            self._end(Returns(self.game).of_loss(self.seat, self.state))
        else:
            self.advance(action)

    def advance(self, action: Action) -> None:
        """Play a legal action."""
        self.left -= 1
        self._arrive(self.game.result(self.state, action))

    def observe(self, seat: int) -> dict[str, Any]:
        """Return the observation for a learning agent in a seat. The mask is all zeros if it is another seat's turn."""
        legal = self.legal if seat == self.seat else ()
        return {
            "observation": self.coder.encode_observation(self.game.observation(self.state, seat), seat),
            "action_mask": self.coder.mask(legal),
        }
