"""Environments of PettingZoo, for games with any number of seats. Importing this module needs the extra `rl`."""

import random
from typing import Any

from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.env_logger import EnvLogger

from arena import Game, Simultaneous
from arena.api.games import name_of
from arena_bridges.rl.coder import Coder
from arena_bridges.rl.episode import Episode


class _Seats:
    """The common part of both kinds of PettingZoo environments: the names of the seats, and their spaces."""

    def _sit(self, game: Game, encoding: Any, moves: int | None, render_mode: str | None) -> None:
        self.metadata = {
            "name": name_of(game),
            "render_modes": ["ansi"],
            "is_parallelizable": isinstance(game, Simultaneous),
        }
        self.render_mode = render_mode
        self.coder = Coder(game, encoding)
        self.possible_agents = [f"player_{seat}" for seat in range(game.players)]
        self.agents: list[str] = []
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        pairs = {agent: self.coder.spaces() for agent in self.possible_agents}
        self.observation_spaces = {agent: pair[0] for agent, pair in pairs.items()}
        self.action_spaces = {agent: pair[1] for agent, pair in pairs.items()}
        self._rng = random.Random()
        self._episode = Episode(self.coder, moves)

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        if seed is not None:
            self._rng = random.Random(seed)
        self._episode.begin(self._rng, (options or {}).get("position"))
        self.agents = self.possible_agents[:]

    def observation_space(self, agent: str) -> Any:
        """Return the space of `{"observation", "action_mask"}`. Every call returns the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of the action numbers. Every call returns the same object."""
        return self.action_spaces[agent]

    def render(self) -> str:
        """Return the whole state as text for people."""
        return self.coder.game.render(self._episode.state)

    def close(self) -> None:
        """Do nothing, because there is nothing to close."""


class TurnEnvironment(_Seats, AECEnv):  # type: ignore[misc]
    """A game in turns, with PettingZoo's AEC interface."""

    def __init__(self, game: Game, encoding: Any, moves: int | None, render_mode: str | None) -> None:
        self._sit(game, encoding, moves, render_mode)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new play. Without `seed`, the random stream continues. `options["position"]` is a position as text."""
        self._begin(seed, options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._select()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the current observation of a seat. The mask is all zeros if it is another seat's turn."""
        return self._episode.observe(self._seat_of[agent])

    def step(self, action: int | None) -> None:
        """Play an action for the seat to move, or None after the end. An illegal action ends the play, and its seat loses."""
        if self._episode.returns is not None:
            self._was_dead_step(action)
            return
        agent = self.agent_selection
        self._episode.play(action)
        self._select(agent)

    def _select(self, last: str | None = None) -> None:
        episode = self._episode
        if episode.returns is None:
            self.agent_selection = self.possible_agents[episode.seat]
            return
        self.agent_selection = self.agents[(0 if last is None else self._seat_of[last] + 1) % len(self.agents)]
        for agent, value in zip(self.agents, episode.returns, strict=True):
            self.rewards[agent] = self._cumulative_rewards[agent] = float(value)
            self.terminations[agent] = not episode.truncated
            self.truncations[agent] = episode.truncated
        if episode.at_fault is not None:
            self.infos[self.possible_agents[episode.at_fault]]["illegal"] = True
            EnvLogger.warn_on_illegal_move()


class JointEnvironment(_Seats, ParallelEnv):  # type: ignore[misc]
    """A game with PettingZoo's parallel interface: all seats to move act in one step, and the others wait."""

    def __init__(self, game: Game, encoding: Any, moves: int | None, render_mode: str | None) -> None:
        self._sit(game, encoding, moves, render_mode)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a new play, as in `TurnEnvironment`. Return the observations and the infos of all seats."""
        self._begin(seed, options)
        return self._observe_all(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, int]) -> tuple[dict[str, Any], ...]:
        """Play the actions of the seats to move. Other actions are ignored.

        Return observations, rewards, terminations, truncations and infos. An illegal action ends the play, and its seat loses.
        """
        episode, everyone = self._episode, self.agents
        for seat in self._movers():
            if episode.returns is None:
                episode.play(actions[self.possible_agents[seat]])
        over = episode.returns is not None
        rewards = dict.fromkeys(everyone, 0.0)
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in everyone}
        if episode.returns is not None:
            rewards = dict(zip(everyone, map(float, episode.returns), strict=True))
        if episode.at_fault is not None:
            infos[self.possible_agents[episode.at_fault]]["illegal"] = True
            EnvLogger.warn_on_illegal_move()
        observed = self._observe_all()
        self.agents = [] if over else everyone
        ended = dict.fromkeys(everyone, over and not episode.truncated)
        return observed, rewards, ended, dict.fromkeys(everyone, episode.truncated), infos

    def _movers(self) -> list[int]:
        """Return the seats that act in the next step."""
        episode, game = self._episode, self.coder.game
        if episode.returns is not None:
            return []
        if isinstance(game, Simultaneous):
            movers = list(game.movers(game.settled(episode.state)))
            return movers[movers.index(episode.seat) :]
        return [episode.seat]

    def _observe_all(self) -> dict[str, Any]:
        """Return the observations of all seats, with the masks of the seats that act in the next step."""
        episode, game = self._episode, self.coder.game
        found = {agent: episode.observe(seat) for seat, agent in enumerate(self.agents)}
        if isinstance(game, Simultaneous):
            for seat in self._movers():
                legal = game.legal(game.settled(episode.state), seat)
                found[self.possible_agents[seat]]["action_mask"] = self.coder.mask(legal)
        return found
