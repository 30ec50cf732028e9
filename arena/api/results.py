"""Boards, tallies and exports."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.format import Kind as Kind, Tie as Tie, result_points as result_points
    from arena.parts import BoardColumn as BoardColumn, Comparison as Comparison, Export as Export, Measured as Measured
    from arena.results import figures as figures
    from arena.results.board_rows import Row as Row, versus_row as versus_row
    from arena.results.cells import BracketTable as BracketTable, board_table as board_table, bracket_table as bracket_table
    from arena.results.claims import Refutation as Refutation, stopped as stopped
    from arena.results.layout import (
        DEFAULT as DEFAULT,
        crossing as crossing,
        csv_line as csv_line,
        fits as fits,
        folded as folded,
        table as table,
    )
    from arena.results.leaderboard import (
        Leaderboard as Leaderboard,
        complete as complete,
        leaderboard as leaderboard,
        leaderboards as leaderboards,
        of_tallies as of_tallies,
        stored as stored,
    )
    from arena.results.pairs import PairedGames as PairedGames, count_pairs as count_pairs, estimate_score as estimate_score
    from arena.results.rating import MAX_RATED_ENTRIES as MAX_RATED_ENTRIES, Strengths as Strengths
    from arena.results.stored_tallies import tallies_of as tallies_of
    from arena.results.tables import (
        Overall as Overall,
        cross_cells as cross_cells,
        document as document,
        failure_lines as failure_lines,
        overall as overall,
        render as render,
        replay_command as replay_command,
    )
    from arena.results.tally import ResultCount as ResultCount, Tally as Tally
    from arena.schedule.board_info import (
        BoardInfo as BoardInfo,
        describe_board as describe_board,
        make_known_game as make_known_game,
    )
else:
    __getattr__, __dir__ = pass_on(__name__)
