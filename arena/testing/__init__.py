"""The conformance kit: plays games, agents and heuristics at random and holds them to what they declare.

Every check raises AssertionError with the seed, the actions so far, what was expected and what came.
"""

from arena.testing.agents import check_agent
from arena.testing.games import check_game
from arena.testing.heuristics import check_heuristic
from arena.testing.trial import Violation

__all__ = ["Violation", "check_agent", "check_game", "check_heuristic"]
