"""The hooks of the built-in games. They name the objects, which are imported when they are used."""

from collections.abc import Mapping

from arena import hookimpl


@hookimpl
def arena_games() -> Mapping[str, str]:
    """The built-in games."""
    return {
        "tic-tac-toe": "arena_games.tic_tac_toe:TicTacToe",
        "connect-four": "arena_games.connect_four:ConnectFour",
        "othello": "arena_games.othello:Othello",
        "nim": "arena_games.nim:Nim",
        "gomoku": "arena_games.gomoku:Gomoku",
        "hex": "arena_games.hex:Hex",
        "breakthrough": "arena_games.breakthrough:Breakthrough",
        "checkers": "arena_games.checkers:Checkers",
        "kalah": "arena_games.kalah:Kalah",
        "dots-and-boxes": "arena_games.dots_and_boxes:DotsAndBoxes",
        "sliding-tiles": "arena_games.sliding_tiles:SlidingTiles",
        "n-queens": "arena_games.n_queens:NQueens",
        "sudoku": "arena_games.sudoku:Sudoku",
        "pancake": "arena_games.pancake:Pancake",
        "hanoi": "arena_games.hanoi:Hanoi",
        "top-spin": "arena_games.top_spin:TopSpin",
        "rubik-2x2": "arena_games.rubik_2x2:Rubik2x2",
        "grid-path": "arena_games.grid_path:GridPath",
        "sokoban": "arena_games.sokoban:Sokoban",
        "pig": "arena_games.pig:Pig",
        "backgammon": "arena_games.backgammon:Backgammon",
        "2048": "arena_games.twenty_forty_eight:TwentyFortyEight",
        "kuhn-poker": "arena_games.kuhn_poker:KuhnPoker",
        "leduc-poker": "arena_games.leduc_poker:LeducPoker",
        "liars-dice": "arena_games.liars_dice:LiarsDice",
        "prisoners-dilemma": "arena_games.prisoners_dilemma:PrisonersDilemma",
        "rock-paper-scissors": "arena_games.rock_paper_scissors:RockPaperScissors",
        "goofspiel": "arena_games.goofspiel:Goofspiel",
        "hearts": "arena_games.hearts:Hearts",
    }


@hookimpl
def arena_heuristics() -> Mapping[tuple[str, str], str]:
    """The built-in heuristics."""
    return {
        ("tic-tac-toe", "open-lanes"): "arena_games.tic_tac_toe:OpenLanes",
        ("connect-four", "open-lines"): "arena_games.connect_four_heuristics:OpenLines",
        ("connect-four", "centre"): "arena_games.connect_four_heuristics:Centre",
        ("othello", "corners-mobility"): "arena_games.othello:corners_mobility",
        ("othello", "discs"): "arena_games.othello:discs",
        ("nim", "nim-sum"): "arena_games.nim:NimSum",
        ("gomoku", "threats"): "arena_games.gomoku:Threats",
        ("hex", "connection"): "arena_games.hex:Connection",
        ("hex", "resistance"): "arena_games.hex:Resistance",
        ("breakthrough", "advancement"): "arena_games.breakthrough:Advancement",
        ("breakthrough", "material"): "arena_games.breakthrough:Material",
        ("checkers", "advancement"): "arena_games.checkers_heuristics:CheckersAdvancement",
        ("checkers", "material"): "arena_games.checkers_heuristics:CheckersMaterial",
        ("kalah", "store-difference"): "arena_games.kalah:StoreDifference",
        ("dots-and-boxes", "chains"): "arena_games.dots_and_boxes:Chains",
        ("sliding-tiles", "manhattan"): "arena_games.sliding_tiles:Manhattan",
        ("sliding-tiles", "misplaced"): "arena_games.sliding_tiles:Misplaced",
        ("sliding-tiles", "linear-conflict"): "arena_games.line_heuristics:LinearConflict",
        ("sliding-tiles", "walking-distance"): "arena_games.line_heuristics:WalkingDistance",
        ("sliding-tiles", "pattern-db"): "arena_games.pattern_db:PatternDB",
        ("n-queens", "conflicts"): "arena_games.n_queens:conflicts",
        ("n-queens", "forward-checking"): "arena_games.n_queens:forward_checking",
        ("sudoku", "empty-cells"): "arena_games.sudoku:empty_cells",
        ("sudoku", "candidates"): "arena_games.sudoku:candidates",
        ("pancake", "gap"): "arena_games.pancake:Gap",
        ("pancake", "top"): "arena_games.pancake:Top",
        ("hanoi", "pattern-db"): "arena_games.hanoi:HanoiPatterns",
        ("top-spin", "pattern-db"): "arena_games.top_spin:TopSpinPatterns",
        ("rubik-2x2", "pattern-db"): "arena_games.rubik_2x2:CubePatterns",
        ("rubik-2x2", "coordinates"): "arena_games.rubik_2x2:CubeCoordinates",
        ("grid-path", "octile"): "arena_games.grid_path_heuristics:Octile",
        ("grid-path", "manhattan"): "arena_games.grid_path_heuristics:GridManhattan",
        ("grid-path", "euclidean"): "arena_games.grid_path_heuristics:Euclidean",
        ("grid-path", "differential"): "arena_games.grid_path_heuristics:Differential",
        ("sokoban", "matching"): "arena_games.sokoban_heuristics:Matching",
        ("sokoban", "nearest-goal"): "arena_games.sokoban_heuristics:NearestGoal",
        ("sokoban", "deadlock-squares"): "arena_games.sokoban_heuristics:DeadlockSquares",
        ("pig", "race"): "arena_games.pig:Race",
        ("backgammon", "pip-count"): "arena_games.backgammon:pip_count",
        ("2048", "snake"): "arena_games.twenty_forty_eight:Snake",
    }


@hookimpl
def arena_encodings() -> Mapping[tuple[str, str], str]:
    """The built-in encodings."""
    return {
        ("tic-tac-toe", "planes"): "arena_games.tic_tac_toe:TicTacToePlanes",
        ("connect-four", "planes"): "arena_games.connect_four:ConnectFourPlanes",
        ("othello", "planes"): "arena_games.othello:OthelloPlanes",
        ("nim", "features"): "arena_games.nim:nim_features",
        ("gomoku", "planes"): "arena_games.gomoku:GomokuPlanes",
        ("hex", "planes"): "arena_games.hex:hex_planes",
        ("breakthrough", "planes"): "arena_games.breakthrough:breakthrough_planes",
        ("checkers", "features"): "arena_games.checkers:checkers_features",
        ("kalah", "features"): "arena_games.kalah:kalah_features",
        ("dots-and-boxes", "features"): "arena_games.dots_and_boxes:dots_and_boxes_features",
        ("sliding-tiles", "planes"): "arena_games.sliding_tiles:SlidingTilesPlanes",
        ("n-queens", "planes"): "arena_games.n_queens:n_queens_planes",
        ("sudoku", "planes"): "arena_games.sudoku:sudoku_planes",
        ("pancake", "features"): "arena_games.pancake:pancake_features",
        ("hanoi", "features"): "arena_games.hanoi:hanoi_features",
        ("top-spin", "features"): "arena_games.top_spin:top_spin_features",
        ("rubik-2x2", "features"): "arena_games.rubik_2x2:rubik_2x2_features",
        ("grid-path", "features"): "arena_games.grid_path:grid_path_features",
        ("sokoban", "planes"): "arena_games.sokoban:sokoban_planes",
        ("pig", "features"): "arena_games.pig:pig_features",
        ("backgammon", "features"): "arena_games.backgammon:backgammon_features",
        ("2048", "planes"): "arena_games.twenty_forty_eight:twenty_forty_eight_planes",
        ("kuhn-poker", "features"): "arena_games.kuhn_poker:kuhn_poker_features",
        ("leduc-poker", "features"): "arena_games.leduc_poker:leduc_poker_features",
        ("liars-dice", "features"): "arena_games.liars_dice:liars_dice_features",
        ("prisoners-dilemma", "features"): "arena_games.prisoners_dilemma:prisoners_dilemma_features",
        ("rock-paper-scissors", "features"): "arena_games.rock_paper_scissors:rock_paper_scissors_features",
        ("goofspiel", "features"): "arena_games.goofspiel:goofspiel_features",
        ("hearts", "features"): "arena_games.hearts:hearts_features",
    }
