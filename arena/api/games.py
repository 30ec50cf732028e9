"""Games, agents and heuristics: their optional members, the range of returns, and how they are bound to each other."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.agent import chooses as chooses, claim_of as claim_of, solves as solves
    from arena.configured import (
        SpecFile as SpecFile,
        initializer as initializer,
        make_default as make_default,
        name_of as name_of,
        parameters_of as parameters_of,
        settings as settings,
    )
    from arena.encodings import (
        BoundEncoding as BoundEncoding,
        bind_encoding as bind_encoding,
        encoding_info_of as encoding_info_of,
        encodings_of as encodings_of,
    )
    from arena.format import own_columns as own_columns, ranks as ranks
    from arena.game import gives as gives
    from arena.heuristics import (
        Evaluation as Evaluation,
        HeuristicInfo as HeuristicInfo,
        bind as bind,
        count_given as count_given,
        info_of as info_of,
    )
    from arena.match.chance_streams import Chance as Chance, chance_outcomes as chance_outcomes
    from arena.match.match import move_limit as move_limit
    from arena.plugins.members import ask_refusal as ask_refusal, gives_grid as gives_grid, list_ignored as list_ignored
    from arena.returns import (
        bounds as bounds,
        check_returns as check_returns,
        returns_of_loss as returns_of_loss,
        scale_return as scale_return,
        standing as standing,
    )
    from arena.simultaneous import OpenTurn as OpenTurn
    from arena.traits import (
        TRAITS as TRAITS,
        find_refusal as find_refusal,
        find_traits as find_traits,
        find_uncoped as find_uncoped,
        join_traits as join_traits,
        read_coped as read_coped,
        read_games as read_games,
    )
else:
    __getattr__, __dir__ = pass_on(__name__)
