"""Boards, tallies and exports."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.parts import BoardColumn, Comparison, Export, Measured
    from arena.results import figures
    from arena.results.board_rows import Row
    from arena.results.cells import BoardTable, BracketTable, board_table, bracket_table
    from arena.results.claims import stopped
    from arena.results.layout import DEFAULT, crossing, folded, table
    from arena.results.leaderboard import Leaderboard, complete, of_tallies, stored
    from arena.results.pairs import count_pairs, estimate_score
    from arena.results.rating import SprtState, elo_interval, forecast_words, hypotheses, sprt_state, sprt_verdict
    from arena.results.stored_tallies import tallies_of
    from arena.results.tables import Overall, overall, render
    from arena.results.tally import Tally
    from arena.schedule.board_info import BoardInfo, describe_board

_HOMES = {
    "arena.parts": "BoardColumn Comparison Export Measured",
    "arena.results.board_rows": "Row",
    "arena.results.cells": "BoardTable BracketTable board_table bracket_table",
    "arena.results.claims": "stopped",
    "arena.results.layout": "DEFAULT crossing folded table",
    "arena.results.leaderboard": "Leaderboard complete of_tallies stored",
    "arena.results.pairs": "count_pairs estimate_score",
    "arena.results.rating": "SprtState elo_interval forecast_words hypotheses sprt_state sprt_verdict",
    "arena.results.stored_tallies": "tallies_of",
    "arena.results.tables": "Overall overall render",
    "arena.results.tally": "Tally",
    "arena.schedule.board_info": "BoardInfo describe_board",
}
_PLACES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [
    "DEFAULT",
    "BoardColumn",
    "BoardInfo",
    "BoardTable",
    "BracketTable",
    "Comparison",
    "Export",
    "Leaderboard",
    "Measured",
    "Overall",
    "Row",
    "SprtState",
    "Tally",
    "board_table",
    "bracket_table",
    "complete",
    "count_pairs",
    "crossing",
    "describe_board",
    "elo_interval",
    "estimate_score",
    "figures",
    "folded",
    "forecast_words",
    "hypotheses",
    "of_tallies",
    "overall",
    "render",
    "sprt_state",
    "sprt_verdict",
    "stopped",
    "stored",
    "table",
    "tallies_of",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a plugin that only registers itself imports nothing heavy."""
    if name == "figures":
        return import_module("arena.results.figures")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
