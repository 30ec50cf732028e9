"""Boards, tallies and exports."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on
from arena.results import figures as figures

# looked up on first use, because a process that only plays matches or holds an agent needs few of these names
if TYPE_CHECKING:
    from arena.format import Tie as Tie, put_last as put_last, result_points as result_points, share_points as share_points
    from arena.results.board_rows import versus_row as versus_row
    from arena.results.claims import Claims as Claims
    from arena.results.contrasts import (
        MIN_SECONDS as MIN_SECONDS,
        Contrast as Contrast,
        Contrasts as Contrasts,
        RoundLeads as RoundLeads,
        compare_returns as compare_returns,
        compare_values as compare_values,
        contrast as contrast,
        merit as merit,
    )
    from arena.results.layout import TextTable as TextTable
    from arena.results.leaderboard import Leaderboard as Leaderboard
    from arena.results.pairs import PairedGames as PairedGames
    from arena.results.rating import Strengths as Strengths, find_obstacle as find_obstacle
    from arena.results.readers import Comparison as Comparison, Export as Export
    from arena.results.stored_tallies import (
        claims_of as claims_of,
        find_mixed_plugins as find_mixed_plugins,
        read_ways as read_ways,
        tallies_of as tallies_of,
    )
    from arena.results.tables import name_domains as name_domains
    from arena.results.tally import (
        Facts as Facts,
        ResultCount as ResultCount,
        Tally as Tally,
        Way as Way,
        describe_ways as describe_ways,
        seat_ways as seat_ways,
        timed_way as timed_way,
    )
    from arena.schedule.board_columns import (
        AlikeMatches as AlikeMatches,
        BoardColumn as BoardColumn,
        Measured as Measured,
        RepeatedMatches as RepeatedMatches,
        RunMatches as RunMatches,
    )
    from arena.schedule.board_info import BoardInfo as BoardInfo
    from arena.stats.clustered import RoundValues as RoundValues
else:
    __getattr__, __dir__ = pass_on(
        __name__,
        {
            "arena.format": "Tie put_last result_points share_points",
            "arena.results.board_rows": "versus_row",
            "arena.results.claims": "Claims",
            "arena.results.contrasts": "MIN_SECONDS Contrast Contrasts RoundLeads compare_returns compare_values contrast merit",
            "arena.results.layout": "TextTable",
            "arena.results.leaderboard": "Leaderboard",
            "arena.results.pairs": "PairedGames",
            "arena.results.rating": "Strengths find_obstacle",
            "arena.results.stored_tallies": "claims_of find_mixed_plugins read_ways tallies_of",
            "arena.results.tables": "name_domains",
            "arena.results.tally": "Facts ResultCount Tally Way describe_ways seat_ways timed_way",
            "arena.schedule.board_columns": "AlikeMatches BoardColumn Measured RepeatedMatches RunMatches",
            "arena.schedule.board_info": "BoardInfo",
            "arena.stats.clustered": "RoundValues",
            "arena.results.readers": "Comparison Export",
        },
        "figures",
    )
