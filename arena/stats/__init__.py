"""Statistics: pure functions over plain values. A competitor may be any hashable value.

    observations     pairs of games, rankings, tables     elo, calculator   scores and Elo of a match
    intervals        ratings of a field, with intervals
    plackett_luce    ratings from rankings                cycles            intransitive cycles
    clustered        means of values in clusters          solved_share      puzzles: intervals of solved shares

Import names from `arena.stats` itself; each is loaded on first use. The modules for ratings (`intervals`, `plackett_luce` and the
modules that they use: `bradley_terry`, `newton`, `prior`, `pairwise_likelihood`, `bootstrap`, `pairing_spread`, `sandwich`)
import numpy, so import their names inside a function. All other modules import libraries only inside functions. For this reason,
the command line starts quickly, and processes that play never load these libraries.
"""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.stats.bradley_terry import Fit as Fit, fit as fit
    from arena.stats.calculator import EloEstimate as EloEstimate
    from arena.stats.clustered import clustered_mean as clustered_mean
    from arena.stats.distributions import (
        binomial_cdf as binomial_cdf,
        chi_squared_tail as chi_squared_tail,
        student_cdf as student_cdf,
        student_quantile as student_quantile,
    )
    from arena.stats.elo import expected_score as expected_score
    from arena.stats.intervals import Difference as Difference, Ratings as Ratings, rate as rate
    from arena.stats.likelihood import bisect as bisect, likeliest as likeliest, log_likelihood as log_likelihood
    from arena.stats.observations import Pair as Pair, WinDrawLoss as WinDrawLoss, ranking_of as ranking_of, table_of as table_of
    from arena.stats.plackett_luce import fit_rankings as fit_rankings, rate_rankings as rate_rankings
    from arena.stats.position_effect import fit_positions as fit_positions
else:
    __getattr__, __dir__ = pass_on(__name__)
