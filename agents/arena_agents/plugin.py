"""The hooks of the built-in agents. They name the classes, which are imported when they are used."""

from collections.abc import Mapping

from arena import hookimpl


@hookimpl
def arena_agents() -> Mapping[str, str]:
    """The built-in agents."""
    return {
        "random": "arena_agents.simple:Random",
        "greedy": "arena_agents.simple:Greedy",
        "lookahead": "arena_agents.full_width:Lookahead",
        "minimax": "arena_agents.full_width:Minimax",
        "alpha-beta": "arena_agents.alpha_beta:AlphaBeta",
        "type-a": "arena_agents.full_width:TypeA",
        "type-a-plus": "arena_agents.alpha_beta:TypeAPlus",
        "bfs": "arena_agents.best_first:BreadthFirst",
        "dfs": "arena_agents.depth_first:DepthFirst",
        "backtracking": "arena_agents.backtracking:Backtracking",
        "iterative-deepening": "arena_agents.depth_first:IterativeDeepening",
        "uniform-cost": "arena_agents.best_first:UniformCost",
        "best-first": "arena_agents.best_first:BestFirst",
        "a-star": "arena_agents.best_first:AStar",
        "ida-star": "arena_agents.depth_first:IdaStar",
        "hill-climb": "arena_agents.local_search:HillClimb",
        "min-conflicts": "arena_agents.local_search:MinConflicts",
        "annealing": "arena_agents.local_search:Annealing",
        "beam": "arena_agents.population_search:Beam",
        "genetic": "arena_agents.population_search:Genetic",
        "mcts": "arena_agents.mcts:MCTS",
        "ismcts": "arena_agents.hidden_information:ISMCTS",
        "pimc": "arena_agents.hidden_information:PIMC",
        "expectimax": "arena_agents.full_width:Expectimax",
        "star2": "arena_agents.star2:Star2",
        "cfr-plus": "arena_agents.solved_game:CFRPlus",
        "mccfr": "arena_agents.solved_game:MCCFR",
        "tit-for-tat": "arena_agents.dilemma:TitForTat",
        "generous-tit-for-tat": "arena_agents.dilemma:GenerousTitForTat",
        "grim": "arena_agents.dilemma:Grim",
        "win-stay-lose-shift": "arena_agents.dilemma:WinStayLoseShift",
        "always": "arena_agents.dilemma:Always",
        "alternate": "arena_agents.dilemma:Alternate",
        "hold-at": "arena_agents.simple:HoldAt",
        "policy-table": "arena_agents.policy_table:PolicyTable",
    }
