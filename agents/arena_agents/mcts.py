"""Monte-Carlo tree search: UCT selects a leaf, random play continues from it, and results and proven values are passed up."""

from math import inf, log, sqrt
from operator import mul
from typing import Annotated, Any, ClassVar

from pydantic import Field

from arena import CHANCE, Action, Agent, Game, Hints, Search, State
from arena.api.games import Ends, gives
from arena_agents.deepening import MAX_WIN_PLIES, STEP, Horizon, largest_value
from arena_agents.playouts import Values, compiled_playout, draw, evaluation, longest_playout, playout


class Node:
    """A state in the tree, with the number of its visits and the sum of their returns for the seat that chose it."""

    __slots__ = ("action", "best", "children", "mover", "proven", "state", "total", "untried", "visits")

    def __init__(self, action: Action, state: State, mover: int, untried: list[Action], proven: Values | None = None) -> None:
        self.action = action
        """The action that led to this state."""
        self.state = state
        self.mover = mover
        self.untried = untried
        """Actions that have no child yet."""
        self.children: list[Node] = []
        """Children with values that are not proven."""
        self.best: Node | None = None
        """Of the children with proven values, the best one for the mover."""
        self.proven = proven
        """The value for every seat, if it is proven. A win that is n plies from the root has the value 1 - n * STEP."""
        self.visits = 0
        self.total = 0.0
        """The sum of the returns of all visits, for the seat that chose this state."""

    def settle(self, child: "Node", value: float, win: float) -> None:
        """Record that the value of a child for the mover is proven, and check whether this proves the value of the
        node.

        The value of the node is proven if the value of the child is at least `win`, or if the values of all actions are proven.
        """
        self.children.remove(child)
        best = self.best
        if best is None or value > best.proven[self.mover]:  # type: ignore[index]  # states in `best` are proven
            self.best = best = child
        if value >= win or not (self.children or self.untried):
            self.proven = best.proven


class ChanceNode(Node):
    """A state in which chance moves. It is proven if all its outcomes are proven; its value is their mean."""

    __slots__ = ("after", "odds", "outcomes")

    def __init__(self, action: Action, state: State, game: Game) -> None:
        super().__init__(action, state, CHANCE, [])
        listed = game.chance_outcomes(state)
        self.odds = [odds for _, odds in listed]
        self.outcomes = [outcome for outcome, _ in listed]
        self.after: list[Node | None] = [None] * len(listed)
        """The child of each outcome that was drawn."""

    def settle_outcomes(self) -> None:
        """Record whether the values of all outcomes are proven."""
        proven = [child.proven for child in self.after if child is not None and child.proven is not None]
        if len(proven) == len(self.after):
            self.proven = [sum(map(mul, self.odds, to_seat)) for to_seat in zip(*proven, strict=True)]


class GameTree:
    """A tree that grows by one state per simulation. The root must not be terminal.

    Each seat maximises its own returns. Simulations avoid proven states, so each simulation generates a state. The root is proven
    when a win or the whole tree has been seen. When chance moves, an outcome is drawn by its probability, and a simulation ends
    at an outcome with a proven value. Values are on the scale from -1 to 1. If the range of returns is infinite, values are the
    returns themselves, and UCT uses the lowest and the highest so far as the ends of the scale.
    """

    def __init__(self, game: Game, state: State, search: Search, exploration: float, rollouts: Any = None) -> None:
        """`rollouts` is the compiled loop of this name, or None."""
        self._game = game
        self._search = search
        self._exploration = exploration
        self._squared = exploration * exploration
        self._largest = largest_value(game)
        self._open = self._largest == inf
        self._win = self._largest - MAX_WIN_PLIES * STEP
        self._least, self._greatest = inf, -inf
        self._horizon = Horizon(game)
        self._chance = gives(game, "chance_outcomes")
        self._ties = Ends.may_differ(game)
        self._estimated = False
        """Whether the tree has states beyond the cutoff. Their estimated values count as proven, but prove nothing."""
        self._place = 0
        """The index of the last drawn outcome."""
        self.idle = 0
        """The number of simulations in a row that generated no state because the drawn outcome was already proven."""
        search.rng.random()  # after the first draw, a stream is an ordinary generator, whose methods are faster
        self._random = search.rng.random
        self._longest = longest_playout(game, search)
        self._cut_off = evaluation(game, search)
        self._play_on = playout(game, self._random, self._longest, self._cut_off)
        if rollouts is not None:
            self._play_on = compiled_playout(rollouts, game, search.rng, self._longest, self._play_on)
        mover = game.to_move(state)
        self._root = ChanceNode(None, state, game) if mover == CHANCE else Node(None, state, mover, list(game.actions(state)))

    @property
    def proven(self) -> Values | None:
        """The value of the root for every seat, if it is known for certain."""
        return self._root.proven

    def simulate(self) -> Values:
        """Follow the tree to a leaf, add a child, play a rollout from it, and pass the result up to the root.

        Return the value of the root if it is proven.
        """
        path = self._descend()
        leaf = path[-1]
        if leaf.proven is None:
            ply = len(path) - sum([isinstance(node, ChanceNode) for node in path]) if self._chance else len(path)
            leaf = self._expand(leaf, ply)
            path.append(leaf)
            returns = leaf.proven or self._play_on(leaf.state, ply)
            self.idle = 0
        else:
            returns = leaf.proven
            self.idle += 1
        if self._open:
            self._least, self._greatest = min(self._least, *returns), max(self._greatest, *returns)
            self._squared = (self._exploration * (self._greatest - self._least) / 2.0) ** 2
        return self._back_up(path, returns)

    def grow(self, loop: Any, rollouts: int | None) -> None:
        """Run all simulations in a compiled loop, and take over its result for the root."""
        root = self._root
        try:
            loop(root.state, self._search.rng, self._squared, self._longest, rollouts)
        finally:
            listed, best, root.proven, self._estimated = loop.children(root.state)
            for worth in loop.read_ends():
                self._horizon.note(worth)
            root.children = [_child(one) for one in listed]
            root.best = None if best is None else _child(best)

    def _descend(self) -> list[Node]:
        """Return the path from the root to a node with an untried action. Each step leads to the child with the highest UCT
        value.

        When chance moves, an outcome is drawn. The path ends before an outcome without a child, or at a proven outcome.
        """
        node = self._root
        path = [node]
        squared = self._squared
        while not node.untried:
            if isinstance(node, ChanceNode):
                self._place = draw(node.odds, self._random())
                after = node.after[self._place]
                if after is None:
                    break
                node = after
                path.append(node)
                if node.proven is not None:
                    break
                continue
            scale = squared * log(node.visits)
            highest = float("-inf")
            for child in node.children:
                visits = child.visits
                score = child.total / visits + sqrt(scale / visits)
                if score > highest:
                    highest = score
                    node = child
            path.append(node)
        return path

    def _expand(self, leaf: Node, ply: int) -> Node:
        """Add the child for an untried action, drawn at random, or for the drawn outcome."""
        if isinstance(leaf, ChanceNode):
            child = self._child(leaf.state, leaf.outcomes[self._place], ply)
            leaf.after[self._place] = child
            return child
        untried = leaf.untried
        place = int(self._random() * len(untried))
        child = self._child(leaf.state, untried[place], ply)
        untried[place] = untried[-1]
        untried.pop()
        leaf.children.append(child)
        return child

    def _child(self, state: State, action: Action, ply: int) -> Node:
        """Return the node of the state after an action, `ply` decisions after the root."""
        game = self._game
        state = game.result(state, action)
        if game.is_terminal(state):
            return Node(action, state, 0, [], [self._horizon[given] * (1.0 - ply * STEP) for given in game.returns(state)])
        mover = game.to_move(state)
        if mover == CHANCE:
            return ChanceNode(action, state, game)
        if ply >= self._longest:
            self._estimated = True
            return Node(action, state, 0, [], self._cut_off(state))
        return Node(action, state, mover, list(game.actions(state)))

    def _back_up(self, path: list[Node], returns: Values) -> Values:
        """Count a visit for every node of the path, update proven values, and return the values that reach the root.

        If a proven child is better than the chosen one, its value is passed up instead: the mover would choose it, although
        simulations no longer visit it.
        """
        child = path.pop()
        while path:
            node = path.pop()
            if isinstance(node, ChanceNode):
                child.visits += 1
                if child.proven is not None:
                    node.settle_outcomes()
                returns = node.proven or returns
                child = node
                continue
            mover = node.mover
            value = returns[mover]
            child.visits += 1
            child.total += value
            if child.proven is not None:
                node.settle(child, value, self._win)
            else:
                value = child.total / child.visits
            if node.proven is not None:
                returns = node.proven
            elif node.best is not None and node.best.proven is not None and node.best.proven[mover] > value:
                returns = node.best.proven
            child = node
        child.visits += 1
        return returns

    def choice(self) -> Node | None:
        """Return the child of the root that the agent plays: the most visited one, or the best proven one if it is at least as
        good.

        Return None if no state has been generated yet.
        """
        root = self._root
        best = root.best
        if root.proven is not None or not root.children:
            return best
        busiest = max(root.children, key=lambda child: (child.visits, child.total))
        if best is not None and self._value(best) >= self._value(busiest):
            return best
        return busiest

    def report(self) -> None:
        """Report the current choice, if there is one."""
        chosen = self.choice()
        if chosen is not None:
            value = self._value(chosen)
            proven = self._root.proven is not None and not self._estimated
            proven = proven and self._horizon.is_in_order(None if self._ties or self._chance else value)
            if self._ties:  # only a win with the next action does not depend on how other players choose among equal actions
                proven = proven and value >= self._largest - STEP
            self._search.report(chosen.action, value=self._horizon.write(value), exact=proven or None)

    def _value(self, child: Node) -> float:
        """Return the known value of a child of the root for the deciding seat."""
        if child.proven is not None:
            return child.proven[self._root.mover]
        return child.total / max(1, child.visits)


def _child(grown: Any) -> Node:
    node = Node(grown.action, None, 0, [], grown.proven)
    node.visits, node.total = grown.visits, grown.total
    return node


DEFAULT_ROLLOUTS = 1_000
"""The number of simulations if there is neither the option `rollouts` nor a budget. It is also the maximum number of consecutive
simulations that generate no state."""

Exploration = Annotated[float, Field(ge=0, le=1_000)]
Rollouts = Annotated[int, Field(ge=1, le=1_000_000_000)]


class MCTS(Agent):
    """Plays the action that occurred in most simulations, unless another action is proven to be better.

    Also called Monte-Carlo tree search, Monte Carlo tree search or UCT. A simulation follows the tree by UCT, adds one state to
    it, and continues from there at random to the end. `exploration` is the constant c of UCT, for values in [-1, 1]. A decision
    has `rollouts` simulations; without this option, as many as the budget allows, or 1,000 without a budget. It ends earlier if
    the best action is proven. It plays games with any number of seats, each of which maximises its own returns. A simulation is
    cut off after `limits.depth` decisions, by default after 1,000 (100 in a puzzle), and not at the move limit of the match; the
    heuristic evaluates its last state. When chance moves, outcomes are drawn by their probabilities. L. Kocsis, C. Szepesvari,
    Bandit Based Monte-Carlo Planning, 2006 (UCT); M. Winands, Y. Bjornsson, J.-T. Saito, Monte-Carlo Tree Search Solver, 2008
    (proven values); N. Sturtevant, An Analysis of UCT in Multi-Player Games, 2008.
    """

    name = "mcts"
    engine = "mcts"
    copes: ClassVar[frozenset[str]] = frozenset({"chance"})
    hints = Hints(reference="games", proposed={"two-player": 4, "multi-player": 4})

    def __init__(self, *, exploration: Exploration = 1.414, rollouts: Rollouts | None = None) -> None:
        self.exploration = exploration
        self.rollouts = rollouts

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the most visited action."""
        legal = game.actions(state)
        if len(legal) == 1:
            return legal[0]
        chance = gives(game, "chance_outcomes")
        loop = None if chance else search.compiled("mcts")
        whole = chance and search.limits.depth is None  # rollouts that are cut off are not compiled
        tree = GameTree(game, state, search, self.exploration, search.compiled("rollouts") if whole else None)
        try:
            self._grow(tree, search.limits.budget, loop)
        finally:  # also when the budget runs out
            tree.report()
        return search.best_action

    def _grow(self, tree: GameTree, budget: bool, loop: Any) -> None:
        rollouts = self.rollouts or (None if budget else DEFAULT_ROLLOUTS)
        if loop is not None:
            tree.grow(loop, rollouts)
            return
        simulations = 0
        while tree.proven is None and simulations != rollouts and (self.rollouts or tree.idle < DEFAULT_ROLLOUTS):
            tree.simulate()
            simulations += 1
