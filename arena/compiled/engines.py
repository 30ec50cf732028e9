"""The engines by their names: the inner loops that have a compiled form."""

from typing import Any

from arena.compiled.best_first_loops import AStarLoop, CostLoop, GreedyLoop
from arena.compiled.board_loops import AnnealingLoop, BeamLoop, BoardLoop, DrawLoop, HillClimbLoop, MinConflictsLoop
from arena.compiled.edition import Edition, edition_of, why_plain
from arena.compiled.fields import NotCompilable
from arena.compiled.genetic_loop import GeneticLoop
from arena.compiled.ida_star_loop import IdaStarLoop
from arena.compiled.loop import Loop
from arena.compiled.mcts_loop import MctsLoop
from arena.compiled.negamax_loops import (
    AlphaBetaLoop,
    FullWidthLoop,
    OrderedLoop,
    OrderedSizedTableLoop,
    OrderedTableLoop,
    QuietLoop,
    SizedTableLoop,
    TableLoop,
    TypeAPlusLoop,
)
from arena.compiled.random_loop import RandomLoop
from arena.compiled.reached_loops import BreadthFirstLoop, DepthFirstLoop, PathLoop
from arena.compiled.rollout_loop import RolloutLoop
from arena.game import Game, gives

ENGINES: dict[str, type[Loop]] = {
    "a-star": AStarLoop,
    "alpha-beta": AlphaBetaLoop,
    "alpha-beta-ordered": OrderedLoop,
    "alpha-beta-sized": SizedTableLoop,
    "alpha-beta-sized-ordered": OrderedSizedTableLoop,
    "alpha-beta-table": TableLoop,
    "alpha-beta-table-ordered": OrderedTableLoop,
    "annealing": AnnealingLoop,
    "beam": BeamLoop,
    "best-first": GreedyLoop,
    "bfs": BreadthFirstLoop,
    "dfs": DepthFirstLoop,
    "draw": DrawLoop,
    "full-width": FullWidthLoop,
    "genetic": GeneticLoop,
    "hill-climb": HillClimbLoop,
    "ida-star": IdaStarLoop,
    "iterative-deepening": PathLoop,
    "mcts": MctsLoop,
    "min-conflicts": MinConflictsLoop,
    "random": RandomLoop,
    "rollouts": RolloutLoop,
    "type-a": QuietLoop,
    "type-a-plus": TypeAPlusLoop,
    "uniform-cost": CostLoop,
}


def fitting(game: Game) -> frozenset[str]:
    """Return the engines that have a compiled form for a game, as far as that is a matter of its rules."""
    if why_plain(game) is not None:
        return frozenset()
    edition = edition_of(game)
    return frozenset(name for name, kind in ENGINES.items() if not issubclass(kind, BoardLoop) and _fits(name, edition))


def _fits(engine: str, edition: Edition) -> bool:
    try:
        ENGINES[engine].constants(edition)
    except NotCompilable:
        return False
    return True


def engine_of(agent: Any, game: Game | None = None) -> str | None:
    """Return the engine that an agent says it asks for, in a game if one is given; None without one.

    An `engine` of another kind is the agent's own.
    """
    named = getattr(agent, "engine", None)
    if not isinstance(named, str) or named not in ENGINES:
        return None
    return "rollouts" if named == "mcts" and game is not None and gives(game, "chance_outcomes") else named
