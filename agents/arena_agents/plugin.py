"""What this package brings to arena."""

from collections.abc import Sequence

from arena import Agent, hookimpl
from arena_agents.alpha_beta import AlphaBeta
from arena_agents.annealing import Annealing
from arena_agents.beam import Beam
from arena_agents.best_first import AStar, BestFirst, UniformCost
from arena_agents.breadth_first import BreadthFirst
from arena_agents.cfr_plus import CFRPlus
from arena_agents.chance import Random
from arena_agents.depth_first import DepthFirst, IterativeDeepening
from arena_agents.dilemma import Alternate, Always, GenerousTitForTat, Grim, TitForTat, WinStayLoseShift
from arena_agents.expectimax import Expectimax
from arena_agents.genetic import Genetic
from arena_agents.greedy import Greedy
from arena_agents.hill_climb import HillClimb
from arena_agents.hold_at import HoldAt
from arena_agents.ida_star import IdaStar
from arena_agents.ismcts import ISMCTS
from arena_agents.lookahead import Lookahead
from arena_agents.mccfr import MCCFR
from arena_agents.mcts import MCTS
from arena_agents.min_conflicts import MinConflicts
from arena_agents.minimax import Minimax
from arena_agents.pimc import PIMC
from arena_agents.policy_table import PolicyTable
from arena_agents.star2 import Star2
from arena_agents.type_a import TypeA
from arena_agents.type_a_plus import TypeAPlus


@hookimpl
def arena_agents() -> Sequence[type[Agent]]:
    """The built-in agents."""
    return [
        Random,
        Greedy,
        Lookahead,
        Minimax,
        AlphaBeta,
        TypeA,
        TypeAPlus,
        BreadthFirst,
        DepthFirst,
        IterativeDeepening,
        UniformCost,
        BestFirst,
        AStar,
        IdaStar,
        HillClimb,
        MinConflicts,
        Annealing,
        Beam,
        Genetic,
        MCTS,
        ISMCTS,
        PIMC,
        Expectimax,
        Star2,
        CFRPlus,
        MCCFR,
        TitForTat,
        GenerousTitForTat,
        Grim,
        WinStayLoseShift,
        Always,
        Alternate,
        HoldAt,
        PolicyTable,
    ]
