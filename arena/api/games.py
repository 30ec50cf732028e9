"""Games, agents and heuristics: their optional members, the range of returns, and functions that connect them."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.configured import SpecFile as SpecFile, make_default as make_default, name_of as name_of, settings as settings
    from arena.encodings import BoundEncoding as BoundEncoding
    from arena.format import own_columns as own_columns, ranks as ranks
    from arena.game import gives as gives
    from arena.heuristics import (
        Evaluation as Evaluation,
        HeuristicInfo as HeuristicInfo,
        bind as bind,
        count_given as count_given,
    )
    from arena.match.chance_streams import Chance as Chance
    from arena.match.match import move_limit as move_limit
    from arena.returns import Returns as Returns, check_step_cost as check_step_cost
    from arena.simultaneous import OpenTurn as OpenTurn
    from arena.traits import Abilities as Abilities, Traits as Traits
else:
    __getattr__, __dir__ = pass_on(__name__)
