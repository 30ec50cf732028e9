"""Monte-Carlo searches for games with hidden information. Each simulation begins in a state that is possible for the seat."""

from collections.abc import Sequence
from math import inf, isfinite, log, sqrt
from typing import Annotated, ClassVar

from pydantic import Field

from arena import CHANCE, Action, Agent, Game, Hints, Search, State
from arena.api.games import Returns
from arena_agents.deepening import scaled_returns
from arena_agents.mcts import DEFAULT_ROLLOUTS, Exploration, GameTree, Rollouts
from arena_agents.playouts import draw, evaluation, longest_playout, playout


class ISMCTS(Agent):
    """Plays the action that occurred in most simulations. Each simulation begins in a state drawn from all states that are
    possible for the seat.

    Also called information set MCTS. A node of the tree is an observation of the deciding seat. UCT chooses
    among the legal actions of the state in the simulation, and counts how often each action was available. `exploration`,
    `rollouts` and `limits.depth` work as in mcts. P. Cowling, E. Powley, D. Whitehouse, Information Set Monte Carlo Tree Search,
    2012 (single observer).
    """

    name = "ismcts"
    hints = Hints(reference="games", proposed={"hidden-information": 4})
    needs: ClassVar[frozenset[str]] = frozenset({"resample"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})

    def __init__(self, *, exploration: Exploration = 1.414, rollouts: Rollouts | None = None) -> None:
        self.exploration = exploration
        self.rollouts = rollouts

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the most visited action."""
        legal = game.actions(state)
        if len(legal) == 1:
            return legal[0]
        tree = _ObservationTree(game, state, search, self.exploration)
        rollouts = self.rollouts or (None if search.limits.budget else DEFAULT_ROLLOUTS)
        simulations = 0
        try:
            while simulations != rollouts:
                tree.simulate()
                simulations += 1
        finally:  # also when the budget runs out
            tree.report()
        return search.best_action


class _Tried:
    """An action at a node: how often it was available and chosen, and the sum of returns for the seat that chose it."""

    __slots__ = ("offered", "total", "visits")

    def __init__(self) -> None:
        self.offered = 0
        self.visits = 0
        self.total = 0.0


class _InformationNode:
    """A node: the actions that were legal in some simulation, and the next nodes by their observations."""

    __slots__ = ("after", "tried")

    def __init__(self) -> None:
        self.tried: dict[Action, _Tried] = {}
        self.after: dict[State, _InformationNode] = {}


class _ObservationTree:
    """A tree that grows by one node per simulation. Each seat maximises its own returns; chance is drawn by its probabilities."""

    def __init__(self, game: Game, observation: State, search: Search, exploration: float) -> None:
        self._game = game
        self._observation = observation
        self._seat = game.to_move(observation)
        self._search = search
        search.rng.random()  # after the first draw, a stream is an ordinary generator, whose methods are faster
        self._random = search.rng.random
        self._longest = longest_playout(game, search)
        self._cut_off = evaluation(game, search)
        self._play_on = playout(game, self._random, self._longest, self._cut_off)
        self._returns = scaled_returns(game)
        self._exploration = exploration
        self._open = not all(map(isfinite, Returns(game).range))
        self._least, self._greatest = inf, -inf
        self._root = _InformationNode()

    def simulate(self) -> None:
        """Draw a state, follow the tree to a node with an untried action, play it and then a rollout, and count the result."""
        game = self._game
        state = game.resample(self._observation, self._seat, self._search.rng)
        node, ply, grown = self._root, 0, False
        path: list[tuple[_Tried, int]] = []
        while not grown and ply < self._longest and not game.is_terminal(state):
            mover = game.to_move(state)
            if mover == CHANCE:
                outcomes = game.chance_outcomes(state)
                state = game.result(state, outcomes[draw([odds for _, odds in outcomes], self._random())][0])
            else:
                action, tried = self._choice(node, game.actions(state))
                grown = tried.visits == 0
                path.append((tried, mover))
                state = game.result(state, action)
                ply += 1
            node = node.after.setdefault(game.observation(state, self._seat), _InformationNode())
        returns = self._returns(state) if game.is_terminal(state) else self._play_on(state, ply)
        if self._open:
            self._least, self._greatest = min(self._least, *returns), max(self._greatest, *returns)
        for tried, mover in path:
            tried.visits += 1
            tried.total += returns[mover]

    def _choice(self, node: _InformationNode, legal: Sequence[Action]) -> tuple[Action, _Tried]:
        """Return a random untried action, or if there is none, the action with the highest UCT value."""
        known = [node.tried.setdefault(action, _Tried()) for action in legal]
        for tried in known:
            tried.offered += 1
        untried = [place for place, tried in enumerate(known) if not tried.visits]
        if untried:
            place = untried[int(self._random() * len(untried))]
        else:
            scale = self._exploration * ((self._greatest - self._least) / 2.0 if self._open else 1.0)
            bound = [tried.total / tried.visits + scale * sqrt(log(tried.offered) / tried.visits) for tried in known]
            place = bound.index(max(bound))
        return legal[place], known[place]

    def report(self) -> None:
        """Report the most visited action; of equal ones, the one with the highest total.

        Without simulations, do nothing.
        """
        if self._root.tried:
            action, best = max(self._root.tried.items(), key=lambda one: (one[1].visits, one[1].total))
            self._search.report(action, value=best.total / max(1, best.visits))


Worlds = Annotated[int, Field(ge=1, le=1_000_000)]


class PIMC(Agent):
    """Plays the action with the best average value over several states, drawn from all possible states for the seat.

    Also called perfect information Monte-Carlo search or determinization. `exploration` is the constant c of UCT, as in mcts. In
    each of `worlds` states, mcts searches the successor of every action; the `rollouts` simulations are divided equally among
    these searches. With a budget but without `rollouts`, each state gets 50 simulations, and as many states are searched as the
    budget allows. The agent assumes that all seats know the state after this action, so it never bluffs and never plays to gain
    information. M. Ginsberg, GIB: Imperfect Information in a Computationally Challenging Game, 2001; J. Long, N. Sturtevant, M.
    Buro, T. Furtak, Understanding the Success of Perfect Information Monte Carlo Sampling in Game Tree Search, 2010.
    """

    name = "pimc"
    needs: ClassVar[frozenset[str]] = frozenset({"resample"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})

    def __init__(self, *, exploration: Exploration = 1.414, rollouts: Rollouts | None = None, worlds: Worlds = 20) -> None:
        self.exploration = exploration
        self.rollouts = rollouts
        self.worlds = worlds

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the action with the highest mean value; of equal ones, the first."""
        legal = game.actions(state)
        if len(legal) == 1:
            return legal[0]
        endless = self.rollouts is None and search.limits.budget
        share = max(1, (self.rollouts or DEFAULT_ROLLOUTS) // (self.worlds * len(legal)))
        totals = dict.fromkeys(legal, 0.0)
        search.report(legal[0])
        world = 0
        while endless or world < self.worlds:
            world += 1
            whole = game.resample(state, game.to_move(state), search.rng)
            for action in legal:
                totals[action] += self._worth(game, game.result(whole, action), game.to_move(state), search, share)
            best = max(legal, key=totals.__getitem__)
            search.report(best, value=totals[best] / world)
        return search.best_action

    def _worth(self, game: Game, state: State, seat: int, search: Search, share: int) -> float:
        """Return the value that a state would have for a seat if all seats knew the state."""
        if game.is_terminal(state):
            return scaled_returns(game)(state)[seat]
        tree, total = GameTree(game, state, search, self.exploration), 0.0
        for _ in range(share):
            if tree.proven is not None:
                return tree.proven[seat]
            total += tree.simulate()[seat]
        return total / share
