"""The columns that a board can have: the keys of its rows."""

VERSUS = (
    "rank",
    "agent",
    "rating",
    "rating_low",
    "rating_high",
    "games",
    "wins",
    "draws",
    "losses",
    "score",
    "score_first",
    "score_second",
    "buchholz",
    "sonneborn_berger",
    "failures",
    "failures_by_kind",
    "nodes_per_move",
    "ms_per_move",
)
PUZZLE = (
    "rank",
    "agent",
    "attempts",
    "solved",
    "solved_low",
    "solved_high",
    "mean_moves",
    "mean_moves_failed",
    "mean_cost",
    "nodes_per_attempt",
    "seconds_per_attempt",
    "failures",
    "failures_by_kind",
)
COLUMNS = {"versus": VERSUS, "puzzle": PUZZLE}
