"""Games, agents and heuristics: their optional members, the range of returns, and functions that connect them."""

from arena.configured import SpecFile, make_default, name_of, settings
from arena.encodings import BoundEncoding
from arena.format import own_columns, ranks
from arena.game import gives
from arena.heuristics import (
    NO_HEURISTIC,
    Evaluation,
    HeuristicInfo,
    bind,
    count_given,
)
from arena.limits import is_finite, read_number
from arena.match.chance_streams import Chance
from arena.match.match import move_limit
from arena.notation import read_digits
from arena.returns import Ends, Returns, check_step_cost
from arena.simultaneous import OpenTurn
from arena.traits import Abilities, Traits
from arena.whole_files import read_arrays, read_whole

__all__ = [
    "NO_HEURISTIC",
    "Abilities",
    "BoundEncoding",
    "Chance",
    "Ends",
    "Evaluation",
    "HeuristicInfo",
    "OpenTurn",
    "Returns",
    "SpecFile",
    "Traits",
    "bind",
    "check_step_cost",
    "count_given",
    "gives",
    "is_finite",
    "make_default",
    "move_limit",
    "name_of",
    "own_columns",
    "ranks",
    "read_arrays",
    "read_digits",
    "read_number",
    "read_whole",
    "settings",
]
