"""What this package brings to arena."""

from collections.abc import Sequence

from arena import Agent, hookimpl
from arena_agents.alpha_beta import AlphaBeta
from arena_agents.chance import Random
from arena_agents.greedy import Greedy
from arena_agents.lookahead import Lookahead
from arena_agents.minimax import Minimax
from arena_agents.type_a import TypeA
from arena_agents.type_a_plus import TypeAPlus


@hookimpl
def arena_agents() -> Sequence[type[Agent]]:
    """The built-in agents."""
    return [Random, Greedy, Lookahead, Minimax, AlphaBeta, TypeA, TypeAPlus]
