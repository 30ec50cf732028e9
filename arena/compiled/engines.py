"""The engines by their names: the inner loops that have a compiled form."""

from typing import Any

from arena.compiled.best_first_loops import AStarLoop, CostLoop, GreedyLoop
from arena.compiled.board_loops import AnnealingLoop, BeamLoop, DrawLoop, HillClimbLoop, MinConflictsLoop
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
    "draw": DrawLoop,
    "full-width": FullWidthLoop,
    "hill-climb": HillClimbLoop,
    "ida-star": IdaStarLoop,
    "mcts": MctsLoop,
    "min-conflicts": MinConflictsLoop,
    "type-a": QuietLoop,
    "type-a-plus": TypeAPlusLoop,
    "uniform-cost": CostLoop,
}


def engine_of(agent: Any) -> str | None:
    """Return the engine that an agent says it asks for; None without one. An `engine` of another kind is the agent's own."""
    named = getattr(agent, "engine", None)
    return named if isinstance(named, str) and named in ENGINES else None
