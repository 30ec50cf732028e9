"""Boards, tallies and exports."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.format import Tie as Tie, put_last as put_last, result_points as result_points
    from arena.parts import BoardColumn as BoardColumn, Comparison as Comparison, Export as Export, Measured as Measured
    from arena.results import figures as figures
    from arena.results.board_rows import versus_row as versus_row
    from arena.results.contrasts import (
        MIN_SECONDS as MIN_SECONDS,
        Contrast as Contrast,
        Contrasts as Contrasts,
        RoundLeads as RoundLeads,
        compare_returns as compare_returns,
        compare_values as compare_values,
        contrast as contrast,
    )
    from arena.results.layout import TextTable as TextTable
    from arena.results.leaderboard import Leaderboard as Leaderboard
    from arena.results.pairs import PairedGames as PairedGames
    from arena.results.rating import Strengths as Strengths
    from arena.results.stored_tallies import read_ways as read_ways, tallies_of as tallies_of
    from arena.results.tally import (
        ResultCount as ResultCount,
        Tally as Tally,
        Way as Way,
        describe_ways as describe_ways,
        seat_ways as seat_ways,
        timed_way as timed_way,
    )
    from arena.schedule.board_info import BoardInfo as BoardInfo
    from arena.schedule.plugin_columns import RepeatedMatches as RepeatedMatches
    from arena.stats.clustered import RoundValues as RoundValues
else:
    __getattr__, __dir__ = pass_on(__name__)
