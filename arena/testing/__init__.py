"""The conformance kit: plays games, agents and heuristics at random and holds them to what they declare.

Every check raises Violation, an AssertionError, with the actions, what was expected, what came, and the seed. The functions
that end in `verdicts` go on after a fault and yield a Verdict for every promise.
"""

from arena.testing.agent_checks import agent_verdicts, check_agent
from arena.testing.finding import Finding, Violation
from arena.testing.game_checks import check_game, game_verdicts
from arena.testing.heuristic_checks import check_heuristic, heuristic_verdicts
from arena.testing.verdicts import Verdict

__all__ = [
    "Finding",
    "Verdict",
    "Violation",
    "agent_verdicts",
    "check_agent",
    "check_game",
    "check_heuristic",
    "game_verdicts",
    "heuristic_verdicts",
]
