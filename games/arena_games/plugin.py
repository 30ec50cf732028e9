"""The hooks of the built-in games."""

from collections.abc import Callable, Sequence
from typing import Any

from arena import Game, hookimpl
from arena_games.backgammon import Backgammon, pip_count
from arena_games.breakthrough import Advancement, Breakthrough, Material, breakthrough_planes
from arena_games.checkers import Checkers
from arena_games.checkers_heuristics import CheckersAdvancement, CheckersMaterial
from arena_games.connect_four import ConnectFour
from arena_games.connect_four_heuristics import Centre, OpenLines
from arena_games.dots_and_boxes import Chains, DotsAndBoxes, dots_and_boxes_features
from arena_games.features import (
    backgammon_features,
    checkers_features,
    goofspiel_features,
    grid_path_features,
    hearts_features,
    kuhn_poker_features,
    leduc_poker_features,
    liars_dice_features,
    pig_features,
    prisoners_dilemma_features,
    rock_paper_scissors_features,
)
from arena_games.gomoku import Gomoku, GomokuPlanes, Threats
from arena_games.goofspiel import Goofspiel
from arena_games.grid_path import GridPath
from arena_games.grid_path_heuristics import Differential, Euclidean, GridManhattan, Octile
from arena_games.hanoi import Hanoi, HanoiPatterns, hanoi_features
from arena_games.hearts import Hearts
from arena_games.hex import Connection, Hex, Resistance, hex_planes
from arena_games.kalah import Kalah, StoreDifference, kalah_features
from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_games.liars_dice import LiarsDice
from arena_games.line_heuristics import LinearConflict, WalkingDistance
from arena_games.n_queens import NQueens, conflicts, forward_checking
from arena_games.nim import Nim, NimSum, nim_features
from arena_games.othello import Othello, corners_mobility, discs
from arena_games.pancake import Gap, Pancake, Top, pancake_features
from arena_games.pattern_db import PatternDB
from arena_games.pig import Pig, Race
from arena_games.planes import (
    ConnectFourPlanes,
    OthelloPlanes,
    SlidingTilesPlanes,
    TicTacToePlanes,
    n_queens_planes,
    sokoban_planes,
    sudoku_planes,
    twenty_forty_eight_planes,
)
from arena_games.prisoners_dilemma import PrisonersDilemma
from arena_games.rock_paper_scissors import RockPaperScissors
from arena_games.rubik_2x2 import CubeCoordinates, CubePatterns, Rubik2x2, rubik_2x2_features
from arena_games.sliding_tiles import Manhattan, Misplaced, SlidingTiles
from arena_games.sokoban import Sokoban
from arena_games.sokoban_heuristics import DeadlockSquares, Matching, NearestGoal
from arena_games.sudoku import Sudoku, candidates, empty_cells
from arena_games.tic_tac_toe import OpenLanes, TicTacToe
from arena_games.top_spin import TopSpin, TopSpinPatterns, top_spin_features
from arena_games.twenty_forty_eight import Snake, TwentyFortyEight


@hookimpl
def arena_games() -> Sequence[type[Game]]:
    """The built-in games."""
    return [
        TicTacToe,
        ConnectFour,
        Othello,
        Nim,
        Gomoku,
        Hex,
        Breakthrough,
        Checkers,
        Kalah,
        DotsAndBoxes,
        SlidingTiles,
        NQueens,
        Sudoku,
        Pancake,
        Hanoi,
        TopSpin,
        Rubik2x2,
        GridPath,
        Sokoban,
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
        NimSum,
        Threats,
        Connection,
        Resistance,
        Advancement,
        Material,
        CheckersAdvancement,
        CheckersMaterial,
        StoreDifference,
        Chains,
        Manhattan,
        Misplaced,
        LinearConflict,
        WalkingDistance,
        PatternDB,
        conflicts,
        forward_checking,
        empty_cells,
        candidates,
        Gap,
        Top,
        HanoiPatterns,
        TopSpinPatterns,
        CubePatterns,
        CubeCoordinates,
        Octile,
        GridManhattan,
        Euclidean,
        Differential,
        Matching,
        NearestGoal,
        DeadlockSquares,
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
        nim_features,
        GomokuPlanes,
        hex_planes,
        breakthrough_planes,
        checkers_features,
        kalah_features,
        dots_and_boxes_features,
        SlidingTilesPlanes,
        n_queens_planes,
        sudoku_planes,
        pancake_features,
        hanoi_features,
        top_spin_features,
        rubik_2x2_features,
        grid_path_features,
        sokoban_planes,
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
