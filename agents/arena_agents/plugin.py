"""The hooks of the built-in agents."""

from collections.abc import Sequence

from arena import Agent, hookimpl
from arena_agents.alpha_beta import AlphaBeta, TypeAPlus
from arena_agents.backtracking import Backtracking
from arena_agents.best_first import AStar, BestFirst, BreadthFirst, UniformCost
from arena_agents.depth_first import DepthFirst, IdaStar, IterativeDeepening
from arena_agents.dilemma import Alternate, Always, GenerousTitForTat, Grim, TitForTat, WinStayLoseShift
from arena_agents.full_width import Expectimax, Lookahead, Minimax, TypeA
from arena_agents.hidden_information import ISMCTS, PIMC
from arena_agents.local_search import Annealing, HillClimb, MinConflicts
from arena_agents.mcts import MCTS
from arena_agents.policy_table import PolicyTable
from arena_agents.population_search import Beam, Genetic
from arena_agents.simple import Greedy, HoldAt, Random
from arena_agents.solved_game import MCCFR, CFRPlus
from arena_agents.star2 import Star2


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
        Backtracking,
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
