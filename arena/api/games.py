"""Games, agents and heuristics: their optional members, the range of returns, and how they are bound to each other."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.agent import chooses as chooses
    from arena.agent import claim_of as claim_of
    from arena.agent import solves as solves
    from arena.configured import SpecFile as SpecFile
    from arena.configured import initializer as initializer
    from arena.configured import make_default as make_default
    from arena.configured import name_of as name_of
    from arena.configured import parameters_of as parameters_of
    from arena.configured import settings as settings
    from arena.encodings import BoundEncoding as BoundEncoding
    from arena.encodings import bind_encoding as bind_encoding
    from arena.encodings import encoding_info_of as encoding_info_of
    from arena.encodings import encodings_of as encodings_of
    from arena.format import own_columns as own_columns
    from arena.format import ranks as ranks
    from arena.game import gives as gives
    from arena.heuristics import Evaluation as Evaluation
    from arena.heuristics import HeuristicInfo as HeuristicInfo
    from arena.heuristics import bind as bind
    from arena.heuristics import count_given as count_given
    from arena.heuristics import info_of as info_of
    from arena.match.chance_streams import Chance as Chance
    from arena.match.chance_streams import chance_outcomes as chance_outcomes
    from arena.match.match import move_limit as move_limit
    from arena.plugins.members import ask_refusal as ask_refusal
    from arena.plugins.members import gives_grid as gives_grid
    from arena.plugins.members import list_ignored as list_ignored
    from arena.returns import bounds as bounds
    from arena.returns import check_returns as check_returns
    from arena.returns import returns_of_loss as returns_of_loss
    from arena.returns import scale_return as scale_return
    from arena.returns import standing as standing
    from arena.simultaneous import OpenTurn as OpenTurn
    from arena.traits import TRAITS as TRAITS
    from arena.traits import find_refusal as find_refusal
    from arena.traits import find_traits as find_traits
    from arena.traits import find_uncoped as find_uncoped
    from arena.traits import join_traits as join_traits
    from arena.traits import read_coped as read_coped
    from arena.traits import read_games as read_games
else:
    __getattr__, __dir__ = pass_on(__name__)
