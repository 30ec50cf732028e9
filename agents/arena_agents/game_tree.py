"""The tree of Monte-Carlo tree search: UCT on the way down, random play from the leaf, proven values on the way up."""

from collections.abc import Callable, Sequence
from math import log, sqrt
from typing import Any

from arena import Action, Game, Puzzle, Search, State
from arena_agents.deepening import PROVEN, STEP

LONGEST = 1_000
"""Plies after which a game counts as unfinished, unless `limits.depth` says less: it is evaluated there."""
LONGEST_PUZZLE = 100
"""The same for puzzles, where random play may never end."""

Returns = Sequence[float]
"""A value for every seat."""
Playout = Callable[[State, int], Returns]
"""(state, ply) -> what a game played on from there at random returns."""


class Node:
    """A state in the tree: how often simulations went through it, and what they gave to the seat that chose to."""

    __slots__ = ("action", "best", "children", "mover", "proven", "state", "total", "untried", "visits")

    def __init__(self, action: Action, state: State, mover: int, untried: list[Action], proven: Returns | None = None) -> None:
        self.action = action
        """The action that led here."""
        self.state = state
        self.mover = mover
        self.untried = untried
        """Actions that have no child yet."""
        self.children: list[Node] = []
        """Children whose values are not proven."""
        self.best: Node | None = None
        """Of the children whose values are proven, the one that the mover likes best."""
        self.proven = proven
        """The value to every seat where it is proven, a win n plies from the root worth 1 - n * STEP."""
        self.visits = 0
        self.total = 0.0
        """The sum of what the visits gave to the seat that chose to come here."""

    def settle(self, child: "Node", value: float) -> None:
        """Note that the value of a child to the mover is proven, and whether that proves the value of this node.

        It does so where the mover wins, and where no other child is left.
        """
        self.children.remove(child)
        best = self.best
        if best is None or value > best.proven[self.mover]:  # type: ignore[index]  # those in `best` are proven
            self.best = best = child
        if value > PROVEN or not (self.children or self.untried):
            self.proven = best.proven


class GameTree:
    """Grows by one state a simulation. The root must not be terminal.

    Everybody plays for his own returns. Simulations go only where nothing is proven yet, so each generates a state, and
    whoever has seen the whole tree, or a win, has proven the root.
    """

    def __init__(self, game: Game, state: State, search: Search, exploration: float) -> None:
        self._game = game
        self._search = search
        self._squared = exploration * exploration
        search.rng.random()  # a stream that has been drawn from is a plain generator, with faster methods
        self._random = search.rng.random
        self._longest = search.limits.depth or (LONGEST_PUZZLE if isinstance(game, Puzzle) else LONGEST)
        self._cut_off = _evaluation(game, search)
        self._play_on = _playout(game, self._random, self._longest, self._cut_off)
        self._root = Node(None, state, game.to_move(state), list(game.actions(state)))

    @property
    def proven(self) -> bool:
        """Whether the best action is known for certain."""
        return self._root.proven is not None

    def simulate(self) -> None:
        """Go down to a leaf, add a child to it, play on from there, and take what came of it back up to the root."""
        path = self._descend()
        ply = len(path)
        child = self._expand(path[-1], ply)
        path.append(child)
        self._back_up(path, child.proven or self._play_on(child.state, ply))

    def grow(self, loop: Any, rollouts: int | None) -> None:
        """Have a compiled loop make all simulations, and take over what it leaves of the root."""
        root = self._root
        try:
            loop(root.state, self._search.rng, self._squared, self._longest, rollouts)
        finally:
            listed, best, root.proven = loop.children(root.state)
            root.children = [_child(one) for one in listed]
            root.best = None if best is None else _child(best)

    def _descend(self) -> list[Node]:
        """The way from the root to a node with an untried action, each step to the child with the highest UCT value."""
        node = self._root
        path = [node]
        squared = self._squared
        while not node.untried:
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
        """Add the child of an untried action, drawn at random."""
        game, untried = self._game, leaf.untried
        place = int(self._random() * len(untried))
        action = untried[place]
        state = game.result(leaf.state, action)
        untried[place] = untried[-1]
        untried.pop()
        if game.is_terminal(state):
            child = Node(action, state, 0, [], [value * (1.0 - ply * STEP) for value in game.returns(state)])
        elif ply >= self._longest:
            child = Node(action, state, 0, [], self._cut_off(state))
        else:
            child = Node(action, state, game.to_move(state), list(game.actions(state)))
        leaf.children.append(child)
        return child

    def _back_up(self, path: list[Node], returns: Returns) -> None:
        """Count a visit of every node on the way up, and settle what has become proven.

        Where a proven child is better than the one that was chosen, its value goes on up: that is what the mover would
        choose, now that simulations no longer go there.
        """
        child = path.pop()
        while path:
            node = path.pop()
            mover = node.mover
            value = returns[mover]
            child.visits += 1
            child.total += value
            if child.proven is not None:
                node.settle(child, value)
            else:
                value = child.total / child.visits
            if node.proven is not None:
                returns = node.proven
            elif node.best is not None and node.best.proven is not None and node.best.proven[mover] > value:
                returns = node.best.proven
            child = node
        child.visits += 1

    def choice(self) -> Node | None:
        """The child of the root to play: the proven best, else the most visited unless a proven one is better on average.

        None before anything was generated.
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
        """Report the choice as it stands, if there is any."""
        chosen = self.choice()
        if chosen is not None:
            self._search.report(chosen.action, value=self._value(chosen))

    def _value(self, child: Node) -> float:
        """What a child of the root is worth to the seat that decides, as far as it is known."""
        if child.proven is not None:
            return child.proven[self._root.mover]
        return child.total / max(1, child.visits)


def _child(grown: Any) -> Node:
    node = Node(grown.action, None, 0, [], grown.proven)
    node.visits, node.total = grown.visits, grown.total
    return node


def _playout(game: Game, random: Callable[[], float], longest: int, cut_off: Callable[[State], Returns]) -> Playout:
    """Return a function that plays at random to the end, or to `longest` plies from the root."""
    is_terminal, actions, result, returns = game.is_terminal, game.actions, game.result, game.returns

    def play_on(state: State, ply: int) -> Returns:
        while not is_terminal(state):
            if ply >= longest:
                return cut_off(state)
            legal = actions(state)
            state = result(state, legal[int(random() * len(legal))])
            ply += 1
        return returns(state)

    return play_on


def _evaluation(game: Game, search: Search) -> Callable[[State], Returns]:
    """Return a function for the value of an unfinished state to every seat, by the heuristic.

    Of a puzzle it is below that of a goal, 1, and not below that of a dead end, 0: the more it costs to go on, the lower.
    """
    if isinstance(game, Puzzle):
        return lambda state: (1.0 / (2.0 - search.evaluate(state)),)
    seats = range(game.players)
    return lambda state: [search.evaluate(state, seat) for seat in seats]
