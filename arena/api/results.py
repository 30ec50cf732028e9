"""Boards, tallies and exports."""

from arena.format import Tie, put_last, result_points, share_points
from arena.results import figures
from arena.results.board_rows import versus_row
from arena.results.contrasts import (
    MIN_SECONDS,
    Contrast,
    Contrasts,
    RoundLeads,
    compare_returns,
    compare_values,
    contrast,
)
from arena.results.layout import TextTable
from arena.results.leaderboard import Leaderboard
from arena.results.pairs import PairedGames
from arena.results.rating import Strengths
from arena.results.stored_tallies import read_ways, tallies_of
from arena.results.tally import (
    Facts,
    ResultCount,
    Tally,
    Way,
    describe_ways,
    seat_ways,
    timed_way,
)
from arena.schedule.board_columns import AlikeMatches, BoardColumn, Measured, RepeatedMatches, RunMatches
from arena.schedule.board_info import BoardInfo
from arena.stats.clustered import RoundValues
from arena.store.readers import Comparison, Export

__all__ = [
    "MIN_SECONDS",
    "AlikeMatches",
    "BoardColumn",
    "BoardInfo",
    "Comparison",
    "Contrast",
    "Contrasts",
    "Export",
    "Facts",
    "Leaderboard",
    "Measured",
    "PairedGames",
    "RepeatedMatches",
    "ResultCount",
    "RoundLeads",
    "RoundValues",
    "RunMatches",
    "Strengths",
    "Tally",
    "TextTable",
    "Tie",
    "Way",
    "compare_returns",
    "compare_values",
    "contrast",
    "describe_ways",
    "figures",
    "put_last",
    "read_ways",
    "result_points",
    "seat_ways",
    "share_points",
    "tallies_of",
    "timed_way",
    "versus_row",
]
