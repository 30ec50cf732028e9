"""Environments of Gymnasium, for puzzles, games of one seat, and one seat among opponents. This module needs the extra `rl`."""

import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import gymnasium

from arena import Agent, ArenaError, Game
from arena.api.games import name_of
from arena.api.match import Decider, Positions, Seat, seat_of
from arena.api.search import SharedStart
from arena.api.spec import describe_unlimited, is_large
from arena_bridges.rl.coder import Coder
from arena_bridges.rl.episode import Episode

Entry = Agent | str | Mapping[str, Any]
MAX_TRIES = 1000
"""The number of consecutive plays that may end before the learning agent has a turn."""


class SeatEnvironment(gymnasium.Env):  # type: ignore[misc]
    """One seat of a game, or a puzzle. Agents of arena play the other seats, in the order of the seats.

    If a seat has several entries (a pool), one of them is drawn for each play.
    """

    def __init__(
        self,
        game: Game,
        encoding: str | Callable[..., Any] | None,
        opponents: Sequence[Entry | Sequence[Entry]],
        seat: int | Literal["random"],
        moves: int | None,
        render_mode: str | None,
    ) -> None:
        if len(opponents) != game.players - 1:
            hint = f": give opponents=[...] with {game.players - 1} of them" if game.players > 1 else ""
            raise ValueError(f"{name_of(game)} has {game.players} seats, got {len(opponents)} opponents{hint}")
        if seat not in (*range(game.players), "random"):
            raise ValueError(f"seat: expected 0 to {game.players - 1}, or 'random', got {seat!r}")
        self.metadata = {"name": name_of(game), "render_modes": ["ansi"], "render_fps": 4}
        self.render_mode = render_mode
        self.coder = Coder(game, encoding)
        self.observation_space, self.action_space = self.coder.spaces()
        self._wanted = seat
        self._own = 0 if seat == "random" else seat
        self._episode = Episode(self.coder, moves)
        pools: list[Sequence[Any]] = [given if isinstance(given, (list, tuple)) else [given] for given in opponents]
        if not all(pools):
            raise ValueError("opponents: expected at least one agent in a pool, got an empty list")
        self._pools: list[list[Seat]] = [[seat_of(game, entry) for entry in pool] for pool in pools]
        found = [describe_unlimited(one.label, one.make, one.limits, game) for pool in self._pools for one in pool]
        told = list(dict.fromkeys(filter(None, found)))
        if told and is_large(game, Positions(game, name_of(game), {}, 0)):
            for message in told:
                warnings.warn(message, stacklevel=4)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a new play, up to the first turn of the learning agent. `options["position"]` is a position as text.

        The info contains the `seat` of the learning agent.
        """
        super().reset(seed=seed)
        rng = random.Random(int(self.np_random.integers(2**63)))
        self._players: dict[int, Decider] = {}
        game = self.coder.game
        if self._wanted == "random":
            self._own = rng.randrange(game.players)
        others = [other for other in range(game.players) if other != self._own]
        for other, pool in zip(others, self._pools, strict=True):
            sitting = pool[0] if len(pool) == 1 else rng.choice(pool)
            own = random.Random(rng.getrandbits(64))
            player = Decider(game, sitting.make, sitting.evaluation, sitting.limits, own, SharedStart(game, own))
            player.make_agent()
            self._players[other] = player
        for _ in range(MAX_TRIES):
            self._episode.begin(rng, (options or {}).get("position"))
            self._wait()
            if self._episode.returns is None:
                return self._episode.observe(self._own), {"seat": self._own}
        raise ArenaError(f"{name_of(self.coder.game)}: play is over before seat {self._own} has a turn")

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play an action, and the others' actions until the next turn. An illegal action ends the play, and its seat loses."""
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
        """Return the mask of legal actions as booleans, for MaskablePPO of sb3-contrib."""
        return self.coder.mask(self._episode.legal).astype(bool)

    def render(self) -> str:
        """Return the state from the view of the learning agent as text for people."""
        game = self.coder.game
        return game.render(game.observation(self._episode.state, self._own))

    def _wait(self) -> None:
        """Let the other seats play until it is the learning agent's turn, or until the play is over."""
        episode = self._episode
        while episode.returns is None and episode.seat != self._own:
            seat, legal = episode.seat, episode.legal
            action = self._players[seat].choose(episode.game.observation(episode.state, seat), legal)
            if action not in legal:
                raise ArenaError(f"the opponent in seat {seat} chose {action!r}, which is not legal")
            episode.advance(action)
