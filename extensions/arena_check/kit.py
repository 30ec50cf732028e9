"""The conformance kit plays games, agents, heuristics and encodings at random and checks that they keep their promises.

Functions with names that begin with `check` raise Violation, an AssertionError, for the first broken promise. Its message has
the actions, the expected and the actual value, and the seed. Functions with names that end in `verdicts` continue, and yield a
Verdict for every promise.
"""

# ruff: noqa: F401 - `arena.testing` lists these names, and finds them here

from arena_check.agent_checks import agent_verdicts, check_agent
from arena_check.encoding_checks import check_encoding, encoding_verdicts
from arena_check.finding import Finding, Violation
from arena_check.game_checks import check_game, game_verdicts
from arena_check.heuristic_checks import check_heuristic, heuristic_verdicts
from arena_check.verdicts import Verdict
