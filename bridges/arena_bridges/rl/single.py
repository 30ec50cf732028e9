"""Environments of Gymnasium, for puzzles and games of one seat, and for one seat among opponents. This module needs the extra."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium

from arena import Agent, ArenaError, Game
from arena.api.match import Decider, Seat, SharedStart
from arena.api.spec import name_of
from arena.tournament.single import seat_of
from arena_bridges.rl.coder import Coder
from arena_bridges.rl.episode import Episode

MAX_TRIES = 1000
"""Plays that may end before the learner has a turn."""


class SeatEnvironment(gymnasium.Env):  # type: ignore[misc]
    """One seat of a game, or a puzzle; the other seats are played by agents of arena, in the order of the seats."""

    def __init__(
        self,
        game: Game,
        encoding: str | Callable[..., Any] | None,
        opponents: Sequence[Agent | str | Mapping[str, Any]],
        seat: int,
        moves: int | None,
        render_mode: str | None,
    ) -> None:
        if len(opponents) != game.players - 1:
            hint = f": give opponents=[...] with {game.players - 1} of them" if game.players > 1 else ""
            raise ValueError(f"{name_of(game)} has {game.players} seats, got {len(opponents)} opponents{hint}")
        if seat not in range(game.players):
            raise ValueError(f"seat: expected 0 to {game.players - 1}, got {seat!r}")
        self.metadata = {"name": name_of(game), "render_modes": ["ansi"]}
        self.render_mode = render_mode
        self.coder = Coder(game, encoding)
        self.observation_space, self.action_space = self.coder.spaces()
        self._own = seat
        self._episode = Episode(self.coder, moves)
        others = [other for other in range(game.players) if other != seat]
        self._seats: dict[int, Seat] = {other: seat_of(game, given) for other, given in zip(others, opponents, strict=True)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a new play up to the first turn of the learner; `options["position"]` is a text to begin with."""
        super().reset(seed=seed)
        rng = random.Random(int(self.np_random.integers(2**63)))
        self._players: dict[int, Decider] = {}
        game = self.coder.game
        for other, sitting in self._seats.items():
            own = random.Random(rng.getrandbits(64))
            player = Decider(game, sitting.make, sitting.evaluation, sitting.limits, own, SharedStart(game, own))
            player.make_agent()
            self._players[other] = player
        for _ in range(MAX_TRIES):
            self._episode.begin(rng, (options or {}).get("position"))
            self._wait()
            if self._episode.returns is None:
                return self._episode.observe(self._own), {}
        raise ArenaError(f"{name_of(self.coder.game)}: play is over before seat {self._own} has a turn")

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play an action, and all that others do until the learner's next turn; an illegal one ends the play, and it loses."""
        episode = self._episode
        if episode.returns is not None:
            raise ArenaError("play is over: call reset")
        episode.play(action)
        self._wait()
        reward = 0.0 if episode.returns is None else float(episode.returns[self._own])
        info = {} if episode.at_fault is None else {"illegal": True}
        over = episode.returns is not None
        return episode.observe(self._own), reward, over and not episode.truncated, episode.truncated, info

    def action_masks(self) -> Any:
        """Return which actions are legal, as booleans: what MaskablePPO of sb3-contrib asks for."""
        return self.coder.mask(self._episode.legal).astype(bool)

    def render(self) -> str:
        """Return what the learner sees of the state, as a person would want to see it."""
        game = self.coder.game
        return game.render(game.observation(self._episode.state, self._own))

    def _wait(self) -> None:
        """Let the others play until it is the learner's turn, or play is over."""
        episode = self._episode
        while episode.returns is None and episode.seat != self._own:
            seat, legal = episode.seat, episode.legal
            action = self._players[seat].choose(episode.game.observation(episode.state, seat), legal)
            if action not in legal:
                raise ArenaError(f"the opponent in seat {seat} chose {action!r}, which is not legal")
            episode.advance(action)
