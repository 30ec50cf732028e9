"""Boards, tallies and exports."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.format import Kind as Kind
    from arena.format import Tie as Tie
    from arena.format import result_points as result_points
    from arena.parts import BoardColumn as BoardColumn
    from arena.parts import Comparison as Comparison
    from arena.parts import Export as Export
    from arena.parts import Measured as Measured
    from arena.results import figures as figures
    from arena.results.board_rows import Row as Row
    from arena.results.board_rows import versus_row as versus_row
    from arena.results.cells import BracketTable as BracketTable
    from arena.results.cells import board_table as board_table
    from arena.results.cells import bracket_table as bracket_table
    from arena.results.claims import Refutation as Refutation
    from arena.results.claims import stopped as stopped
    from arena.results.layout import DEFAULT as DEFAULT
    from arena.results.layout import crossing as crossing
    from arena.results.layout import csv_line as csv_line
    from arena.results.layout import fits as fits
    from arena.results.layout import folded as folded
    from arena.results.layout import table as table
    from arena.results.leaderboard import Leaderboard as Leaderboard
    from arena.results.leaderboard import complete as complete
    from arena.results.leaderboard import leaderboard as leaderboard
    from arena.results.leaderboard import leaderboards as leaderboards
    from arena.results.leaderboard import of_tallies as of_tallies
    from arena.results.leaderboard import stored as stored
    from arena.results.pairs import PairedGames as PairedGames
    from arena.results.pairs import count_pairs as count_pairs
    from arena.results.pairs import estimate_score as estimate_score
    from arena.results.rating import MAX_RATED_ENTRIES as MAX_RATED_ENTRIES
    from arena.results.rating import Strengths as Strengths
    from arena.results.stored_tallies import tallies_of as tallies_of
    from arena.results.tables import Overall as Overall
    from arena.results.tables import cross_cells as cross_cells
    from arena.results.tables import document as document
    from arena.results.tables import failure_lines as failure_lines
    from arena.results.tables import overall as overall
    from arena.results.tables import render as render
    from arena.results.tables import replay_command as replay_command
    from arena.results.tally import ResultCount as ResultCount
    from arena.results.tally import Tally as Tally
    from arena.schedule.board_info import BoardInfo as BoardInfo
    from arena.schedule.board_info import describe_board as describe_board
    from arena.schedule.board_info import make_known_game as make_known_game
else:
    __getattr__, __dir__ = pass_on(__name__)
