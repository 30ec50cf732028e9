"""Positions of games that are played on a page, as frames: what is there, what each seat sees of it, and what can be done.

The server keeps nothing between two requests. Chance follows from the seed of the play and the number of actions played so far,
so that it deals the same where moves were taken back, and where a kept address is opened again.
"""

from collections.abc import Sequence

from arena.game import CHANCE, Game, State, gives
from arena.match.chance_streams import MOST_OUTCOMES, Chance, endless, has_chance
from arena.match.legality import IllegalAction, legal_action
from arena.views import board_module, depicted
from arena.web.form import BadRequest
from arena.web.store_requests import Reply


class Situations:
    """The positions of one play of a game, whose chance follows from `seed`."""

    def __init__(self, game: Game, seed: int) -> None:
        self._game = game
        self._seed = seed
        self._chance = has_chance(game)
        self._hides = gives(game, "observation")
        self._drawn = board_module(type(game)).source is not None

    def settled(self, state: State, ply: int) -> tuple[State, Reply]:
        """Return the state after chance has moved, `ply` actions into the play, and that position as a frame.

        `chance` tells the outcomes where no seat hides anything from another.
        """
        outcomes: list[str] = []
        if self._chance:
            state, outcomes = self._dealt(state, Chance.of(self._game, f"play/{self._seed}", ply))
        return state, {**self._frame(state), "ply": ply, "chance": [] if self._hides else outcomes}

    def after(self, state: State, text: str, ply: int) -> tuple[State, Reply]:
        """Return the state after an action and what chance does then, with its frame; BadRequest where it is not legal."""
        game = self._game
        if game.is_terminal(state) or game.to_move(state) == CHANCE:
            raise BadRequest(f"{text} is not legal here")
        try:
            action = legal_action(game, state, text)
        except IllegalAction as illegal:
            told = f"{text} is not legal here" if illegal.complaint is None else f"action: {illegal.complaint}"
            raise BadRequest(told) from illegal
        played = {"action": game.format_action(state, action), "seat": game.to_move(state)}
        after, frame = self.settled(game.result(state, action), ply + 1)
        return after, frame | played

    def _dealt(self, state: State, chance: Chance) -> tuple[State, list[str]]:
        game = self._game
        outcomes: list[str] = []
        while not game.is_terminal(state) and game.to_move(state) == CHANCE:
            if len(outcomes) >= MOST_OUTCOMES:
                raise endless(game)
            outcome = chance.outcome(state)
            outcomes.append(game.format_action(state, outcome))
            state = game.result(state, outcome)
        return state, outcomes

    def _frame(self, state: State) -> Reply:
        game = self._game
        over = game.is_terminal(state)
        return {
            **self._shown(state),
            "seen": self._seen(state),
            "action": None,
            "seat": None,
            "label": None,
            "to_move": None if over else game.to_move(state),
            "actions": [] if over else [game.format_action(state, action) for action in game.actions(state)],
            "over": bool(over),
            "returns": list(map(float, game.returns(state))) if over else None,
            "nodes": None,
            "evaluations": None,
            "depth": None,
            "value": None,
            "seconds": None,
        }

    def _seen(self, state: State) -> Sequence[Reply] | None:
        """The position as each seat sees it; None where all see everything."""
        if not self._hides:
            return None
        return [self._shown(self._game.observation(state, seat)) for seat in range(self._game.players)]

    def _shown(self, state: State) -> Reply:
        return {"state": self._game.format_state(state), **depicted(self._game, state, drawn=self._drawn)._asdict()}
