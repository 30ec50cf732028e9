"""The conformance kit: plays games, agents, heuristics and encodings at random and checks that they keep their promises.

The functions that begin with `check` raise Violation, an AssertionError, for the first broken promise, with the actions, the
expected and the actual value, and the seed. Those that end in `verdicts` go on and yield a Verdict for every promise.
"""

from arena_check.agent_checks import agent_verdicts, check_agent
from arena_check.encoding_checks import check_encoding, encoding_verdicts
from arena_check.finding import Finding, Violation
from arena_check.game_checks import check_game, game_verdicts
from arena_check.heuristic_checks import check_heuristic, heuristic_verdicts
from arena_check.verdicts import Verdict

__all__ = [
    "Finding",
    "Verdict",
    "Violation",
    "agent_verdicts",
    "check_agent",
    "check_encoding",
    "check_game",
    "check_heuristic",
    "encoding_verdicts",
    "game_verdicts",
    "heuristic_verdicts",
]
