"""The engines by name. An engine is an inner loop of a search that can be compiled."""

from contextlib import suppress
from typing import Any

from arena import Game
from arena.api.games import gives
from arena.compiled import NotCompilable
from arena_compiled.edition import edition_of, why_plain
from arena_compiled.loop import Loop
from arena_compiled.negamax_loops import (
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
from arena_compiled.path_loops import AStarLoop, BreadthFirstLoop, CostLoop, DepthFirstLoop, GreedyLoop, IdaStarLoop, PathLoop
from arena_compiled.play_loops import MctsLoop, RandomLoop, RolloutLoop

ENGINES: dict[str, type[Loop]] = {
    "a-star": AStarLoop,
    "alpha-beta": AlphaBetaLoop,
    "alpha-beta-ordered": OrderedLoop,
    "alpha-beta-sized": SizedTableLoop,
    "alpha-beta-sized-ordered": OrderedSizedTableLoop,
    "alpha-beta-table": TableLoop,
    "alpha-beta-table-ordered": OrderedTableLoop,
    "best-first": GreedyLoop,
    "bfs": BreadthFirstLoop,
    "dfs": DepthFirstLoop,
    "full-width": FullWidthLoop,
    "ida-star": IdaStarLoop,
    "iterative-deepening": PathLoop,
    "mcts": MctsLoop,
    "random": RandomLoop,
    "rollouts": RolloutLoop,
    "type-a": QuietLoop,
    "type-a-plus": TypeAPlusLoop,
    "uniform-cost": CostLoop,
}


def engines_for(game: Game) -> frozenset[str]:
    """Return the engines that can be compiled for a game, according to its rules."""
    if why_plain(game) is not None:
        return frozenset()
    edition, found = edition_of(game), set[str]()
    for name, kind in ENGINES.items():
        with suppress(NotCompilable):
            kind.constants(edition)
            found.add(name)
    return frozenset(found)


def engine_of(agent: Any, game: Game | None = None) -> str | None:
    """Return the engine that an agent declares, if it is suitable for the game; otherwise None.

    If the attribute `engine` has another type, it belongs to the agent and has nothing to do with this module.
    """
    named = getattr(agent, "engine", None)
    if not isinstance(named, str) or named not in ENGINES:
        return None
    return "rollouts" if named == "mcts" and game is not None and gives(game, "chance_outcomes") else named
