"""The hooks of the built-in games."""

from collections.abc import Callable, Sequence
from typing import Any

from arena import Game, hookimpl
from arena_games.backgammon import Backgammon, pip_count
from arena_games.connect_four import ConnectFour
from arena_games.connect_four_heuristics import Centre, OpenLines
from arena_games.features import (
    backgammon_features,
    goofspiel_features,
    hearts_features,
    kuhn_poker_features,
    leduc_poker_features,
    liars_dice_features,
    pig_features,
    prisoners_dilemma_features,
    rock_paper_scissors_features,
)
from arena_games.goofspiel import Goofspiel
from arena_games.hearts import Hearts
from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_games.liars_dice import LiarsDice
from arena_games.line_heuristics import LinearConflict, WalkingDistance
from arena_games.n_queens import NQueens, conflicts
from arena_games.othello import Othello, corners_mobility, discs
from arena_games.pattern_db import PatternDB
from arena_games.pig import Pig, Race
from arena_games.planes import (
    ConnectFourPlanes,
    OthelloPlanes,
    SlidingTilesPlanes,
    TicTacToePlanes,
    n_queens_planes,
    sudoku_planes,
    twenty_forty_eight_planes,
)
from arena_games.prisoners_dilemma import PrisonersDilemma
from arena_games.rock_paper_scissors import RockPaperScissors
from arena_games.sliding_tiles import Manhattan, Misplaced, SlidingTiles
from arena_games.sudoku import Sudoku, empty_cells
from arena_games.tic_tac_toe import OpenLanes, TicTacToe
from arena_games.twenty_forty_eight import Snake, TwentyFortyEight


@hookimpl
def arena_games() -> Sequence[type[Game]]:
    """The built-in games."""
    return [
        TicTacToe,
        ConnectFour,
        Othello,
        SlidingTiles,
        NQueens,
        Sudoku,
        Pig,
        Backgammon,
        TwentyFortyEight,
        KuhnPoker,
        LeducPoker,
        LiarsDice,
        PrisonersDilemma,
        RockPaperScissors,
        Goofspiel,
        Hearts,
    ]


@hookimpl
def arena_heuristics() -> Sequence[Callable[..., Any]]:
    """The built-in heuristics."""
    return [
        OpenLanes,
        OpenLines,
        Centre,
        corners_mobility,
        discs,
        Manhattan,
        Misplaced,
        LinearConflict,
        WalkingDistance,
        PatternDB,
        conflicts,
        empty_cells,
        Race,
        pip_count,
        Snake,
    ]


@hookimpl
def arena_encodings() -> Sequence[Callable[..., Any]]:
    """The built-in encodings."""
    return [
        TicTacToePlanes,
        ConnectFourPlanes,
        OthelloPlanes,
        SlidingTilesPlanes,
        n_queens_planes,
        sudoku_planes,
        pig_features,
        backgammon_features,
        twenty_forty_eight_planes,
        kuhn_poker_features,
        leduc_poker_features,
        liars_dice_features,
        prisoners_dilemma_features,
        rock_paper_scissors_features,
        goofspiel_features,
        hearts_features,
    ]
