"""Statistics: pure functions over plain values, generic in what a competitor is.

    observations     pairs of games, rankings, tables     elo, calculator   scores and Elo of a match
    intervals        ratings of a field, with intervals
    plackett_luce    ratings from rankings                cycles            intransitive cycles
    clustered        means of values in clusters          solved_share      puzzles: solved shares and budgets

Import names from `arena.stats` itself: each is loaded on first use. Ratings (`intervals`, `plackett_luce` and the
modules below them: `bradley_terry`, `newton`, `prior`, `pairwise_likelihood`, `bootstrap`, `sandwich`) import numpy
with their module, so import their names inside a function. All other modules import libraries in the function that calls them.
So the command line starts quickly, and processes that play never load them.
"""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.stats.bradley_terry import Fit as Fit, fit as fit
    from arena.stats.calculator import (
        EloEstimate as EloEstimate,
        check_pentanomial as check_pentanomial,
        elo_of_games as elo_of_games,
        elo_of_pairs as elo_of_pairs,
    )
    from arena.stats.clustered import clustered_mean as clustered_mean, mean_p_value as mean_p_value
    from arena.stats.distributions import binomial_cdf as binomial_cdf
    from arena.stats.elo import effect_size as effect_size, expected_score as expected_score
    from arena.stats.intervals import Difference as Difference, Ratings as Ratings, rate as rate
    from arena.stats.likelihood import bisect as bisect, likeliest as likeliest, log_likelihood as log_likelihood
    from arena.stats.observations import (
        PAIR_SCORES as PAIR_SCORES,
        Pair as Pair,
        WinDrawLoss as WinDrawLoss,
        ranking_of as ranking_of,
        swapped as swapped,
        table_of as table_of,
    )
    from arena.stats.plackett_luce import fit_rankings as fit_rankings, rate_rankings as rate_rankings
    from arena.stats.position_effect import fit_positions as fit_positions
    from arena.stats.solved_share import (
        Z95 as Z95,
        BudgetStep as BudgetStep,
        optimality_gap as optimality_gap,
        par2 as par2,
        share_at as share_at,
        solved_by_budget as solved_by_budget,
    )
else:
    __getattr__, __dir__ = pass_on(__name__)
