"""Statistics: pure functions over plain values.

    proportion, quantile   shares of a sample             elo, calculator   what a score is worth
    pairs            pairs of games, tables of games      sprt              stop a match when it is decided
    intervals        ratings of a field, with intervals   plackett_luce     ratings from rankings of three and more
    paired, budget   puzzles: two agents on one set of positions, and what a budget buys
    cycles           A beats B beats C beats A            swiss, tiebreaks, bracket   who meets whom

Each is imported by itself, since few commands need more than one.
"""

from arena.stats.proportion import wilson

__all__ = ["wilson"]
