"""Agents of open_spiel: its Monte-Carlo tree search and its counterfactual regret minimisation, both in C++."""

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from math import inf
from typing import Annotated, Any, ClassVar

from pydantic import Field

from arena import Action, Agent, ArenaError, Game, Hints, Search, Simultaneous, tell_progress
from arena.api.errors import GameTooLarge
from arena.api.games import OpenTurn, Returns
from arena_bridges.openspiel.game import OpenSpiel
from arena_bridges.openspiel.library import load_game, pyspiel
from arena_bridges.openspiel.state import Observation

Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
DEFAULT_SIMULATIONS = 1_000
"""The number of simulations if there are neither `simulations` nor a budget."""
MEMORY_MB = 256
"""The memory limit for the tree of a decision."""
SEARCH_SHARE = 0.9
"""The share of a decision's seconds that the search may use. It checks the clock after each simulation."""
Policy = Mapping[str, Sequence[tuple[int, float]]]
"""A mapping from the text of a seat's information to its actions, each with its probability."""


class OpenSpielMCTS(Agent):
    """open_spiel's Monte-Carlo tree search, in C++: UCT with random rollouts and proven values. Every decision builds a new tree.

    `rollouts` is the number of random games at the end of each simulation. With `solve: true`, proven values are passed up the
    tree. `simulations` is the number of simulations in a decision; without this option, there are as many as the budget allows,
    or 1,000 without a budget. A simulation counts as one node, however long its `rollouts` are. `exploration` is the constant c
    of UCT, on the scale of the returns of the game in open_spiel. L. Kocsis, C. Szepesvari, Bandit Based Monte-Carlo Planning,
    2006.
    """

    name = "openspiel-mcts"
    games: ClassVar[frozenset[str]] = frozenset({OpenSpiel.name})
    needs: ClassVar[frozenset[str]] = frozenset({"zero-sum"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    hints = Hints(uses_heuristic=False)

    def __init__(
        self,
        *,
        simulations: Count | None = None,
        rollouts: Count = 1,
        exploration: Annotated[float, Field(ge=0, le=1_000)] = 2.0,
        solve: bool = True,
    ) -> None:
        self.simulations = simulations
        self.rollouts = rollouts
        self.exploration = exploration
        self.solve_values = solve

    def choose(self, game: Game, state: Any, search: Search) -> Action:
        """Return the most visited action, or an action that is proven to be best."""
        legal = game.actions(state)
        if len(legal) == 1:
            return legal[0]
        root = self._bot(state.text, search).mcts_search(state.spiel)
        best = root.best_child()
        solved = bool(root.outcome)
        value = root.outcome[game.to_move(state)] if solved else best.total_reward / max(1, best.explore_count)
        search.report(best.action, value=Returns(game).scale(value), exact=solved or None)
        search.count(min(root.explore_count, search.limits.nodes or root.explore_count))
        return best.action

    def _bot(self, text: str, search: Search) -> Any:
        """Return a bot whose random numbers are derived from those of the seat."""
        spiel, game, limits = pyspiel(), load_game(text), search.limits
        if not type(game).__module__.startswith("pyspiel"):
            raise ArenaError(
                f"{self.name} cannot play {text}: the search in C++ crashes on the games of open_spiel that are written in Python"
            )
        simulations = min([most for most in (self.simulations, limits.nodes) if most is not None], default=None)
        if simulations is None:
            simulations = DEFAULT_SIMULATIONS if limits.seconds is None else 2**31 - 1
        first, second = search.rng.getrandbits(31), search.rng.getrandbits(31)
        return spiel.MCTSBot(
            game,
            spiel.RandomRolloutEvaluator(self.rollouts, first),
            self.exploration,
            simulations,
            MEMORY_MB,
            self.solve_values,
            second,
            False,
            max_wall_clock_time=-1.0 if limits.seconds is None else SEARCH_SHARE * limits.seconds,
        )


class OpenSpielCFR(Agent):
    """Plays the average policy that CFR+ of open_spiel, in C++, has found after `iterations` iterations.

    The game must have perfect recall and a tree of at most a million states. In zero-sum games of two seats, the policy
    approaches an equilibrium. The actions are drawn with the seat's own random numbers. A process solves a game only once, when
    the policy is first needed. The limits of a decision do not interrupt the solving. O. Tammelin, Solving Large Imperfect
    Information Games Using CFR+, 2014.
    """

    name = "openspiel-cfr"
    games: ClassVar[frozenset[str]] = frozenset({OpenSpiel.name})
    needs: ClassVar[frozenset[str]] = frozenset({"hidden-information"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    hints = Hints(uses_heuristic=False)

    def __init__(self, *, iterations: Count = 100) -> None:
        self.iterations = iterations

    def choose(self, game: Game, state: Any, search: Search) -> Action:
        """Return an action, drawn by the probabilities of the policy."""
        return search.rng.choices(game.actions(state), self.policy(game, state))[0]

    def policy(self, game: Game, observation: Any) -> Sequence[float]:
        """Return the probabilities of the actions, in order. They are equal if the policy never reaches the observation."""
        assert isinstance(game, OpenSpiel)
        actions = game.actions(observation)
        seat = game.to_move(observation)
        own = observation.state if isinstance(observation, OpenTurn) else observation
        seen: str = own.seen if isinstance(own, Observation) else own.spiel.information_state_string(seat)
        if isinstance(game, Simultaneous):  # open_spiel's solver plays such games in turns
            seen = f"Current player: {seat}\n{seen}"
        found = dict(_solve(game.text, self.iterations).get(seen, ()))
        return [found.get(action, 0.0) for action in actions] if found else [1.0 / len(actions)] * len(actions)


@lru_cache(maxsize=16)
def _solve(text: str, iterations: int) -> Policy:
    """Return the policy for a game. Raises ArenaError if it cannot be solved."""
    spiel, game = pyspiel(), load_game(text)
    if not game.get_type().provides_information_state_string:
        raise ArenaError(
            f"openspiel-cfr cannot solve {text}: its observations do not contain everything that a seat has seen and done"
        )
    ours = OpenSpiel(game=text)
    if ours.perfect_recall is False:
        raise ArenaError(f"openspiel-cfr cannot solve {text}: it has imperfect recall")
    solution = import_module("arena_solution.sequence_form")
    states = solution.estimate_states(ours, ours.initial(random.Random(0)))
    if states > solution.MAX_STATES:
        size = "too many states" if states == inf else f"about {states:.0e} states"
        raise GameTooLarge(f"the tree of {text} has {size}; openspiel-cfr solves games with at most {solution.MAX_STATES:,}")
    if game.get_type().dynamics == spiel.GameType.Dynamics.SIMULTANEOUS:
        game = spiel.convert_to_turn_based(game)
    solver = spiel.CFRPlusSolver(game)
    for iteration in range(1, iterations + 1):
        if not iteration % 50:
            tell_progress(f"solving {text}", iteration, iterations)
        solver.evaluate_and_update_policy()
    table: Policy = solver.tabular_average_policy().policy_table()
    return table
