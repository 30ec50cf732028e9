"""The conformance kit. It plays random matches with games, agents, heuristics and encodings, and checks their promises. A
*promise* is a property on which the rest of arena relies.

Functions whose names begin with `check` raise Violation, an AssertionError, for the first broken promise. Its message gives
the actions, the expected and the actual value, and the seed. Functions whose names end in `verdicts` continue after a fault,
and yield a Verdict for every promise.
"""

# ruff: noqa: F401 - `arena.testing` takes these names from here

from arena_check.agent_checks import agent_verdicts, check_agent
from arena_check.encoding_checks import check_encoding, encoding_verdicts
from arena_check.finding import Finding, Violation
from arena_check.game_checks import check_game, game_verdicts
from arena_check.heuristic_checks import check_heuristic, heuristic_verdicts
from arena_check.verdicts import Verdict
