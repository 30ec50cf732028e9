"""The engines by their names: the inner loops that have a compiled form."""

from typing import Any

from arena.compiled.best_first_loops import AStarLoop, CostLoop, GreedyLoop
from arena.compiled.ida_star_loop import IdaStarLoop
from arena.compiled.loop import Loop
from arena.compiled.mcts_loop import MctsLoop
from arena.compiled.negamax_loops import AlphaBetaLoop, FullWidthLoop, QuietLoop
from arena.compiled.reached_loops import BreadthFirstLoop, DepthFirstLoop, PathLoop

ENGINES: dict[str, type[Loop]] = {
    "a-star": AStarLoop,
    "alpha-beta": AlphaBetaLoop,
    "best-first": GreedyLoop,
    "bfs": BreadthFirstLoop,
    "dfs": DepthFirstLoop,
    "full-width": FullWidthLoop,
    "ida-star": IdaStarLoop,
    "iterative-deepening": PathLoop,
    "mcts": MctsLoop,
    "type-a": QuietLoop,
    "uniform-cost": CostLoop,
}


def engine_of(agent: Any) -> str | None:
    """Return the engine that an agent says it asks for; None without one. An `engine` of another kind is the agent's own."""
    named = getattr(agent, "engine", None)
    return named if isinstance(named, str) and named in ENGINES else None
