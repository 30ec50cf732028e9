"""Statistics: pure functions over plain values. A competitor may be any hashable value.

    observations     pairs of games, rankings             elo, calculator   scores and Elo of a match
    ratings, field   ratings of a field, with intervals   cycles            intransitive cycles
    clustered        means of values in clusters          shares            intervals of shares
    paired           tests of differences, Holm's method

Import names from `arena.stats` itself; each is loaded on first use. The module `field` imports numpy, so import its names
inside a function. All other modules import libraries only inside functions. For this reason, the command line starts quickly,
and processes that play never load these libraries.
"""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.stats.calculator import EloEstimate as EloEstimate
    from arena.stats.clustered import (
        LoneMatches as LoneMatches,
        clustered_mean as clustered_mean,
        effective_size as effective_size,
        group_values as group_values,
        range_of as range_of,
    )
    from arena.stats.distributions import (
        binomial_cdf as binomial_cdf,
        chi_squared_tail as chi_squared_tail,
        find_unit as find_unit,
        list_plain as list_plain,
        student_cdf as student_cdf,
        student_quantile as student_quantile,
    )
    from arena.stats.elo import expected_score as expected_score
    from arena.stats.likelihood import bisect as bisect, likeliest as likeliest, log_likelihood as log_likelihood
    from arena.stats.observations import (
        GameResults as GameResults,
        Pair as Pair,
        WinDrawLoss as WinDrawLoss,
        ranking_of as ranking_of,
    )
    from arena.stats.paired import (
        SIGNIFICANCE_LEVEL as SIGNIFICANCE_LEVEL,
        agree as agree,
        flip_signs as flip_signs,
        holm as holm,
        holm_chances as holm_chances,
        mean_interval_of as mean_interval_of,
        subtract as subtract,
    )
    from arena.stats.ratings import Difference as Difference, Ratings as Ratings, rate as rate
    from arena.stats.shares import PairedShares as PairedShares, difference_interval as difference_interval
else:
    __getattr__, __dir__ = pass_on(
        __name__,
        {
            "arena.stats.calculator": "EloEstimate",
            "arena.stats.clustered": "LoneMatches clustered_mean effective_size group_values range_of",
            "arena.stats.distributions": "binomial_cdf chi_squared_tail find_unit list_plain student_cdf student_quantile",
            "arena.stats.elo": "expected_score",
            "arena.stats.likelihood": "bisect likeliest log_likelihood",
            "arena.stats.observations": "GameResults Pair WinDrawLoss ranking_of",
            "arena.stats.paired": "SIGNIFICANCE_LEVEL agree flip_signs holm holm_chances mean_interval_of subtract",
            "arena.stats.ratings": "Difference Ratings rate",
            "arena.stats.shares": "PairedShares difference_interval",
        },
    )
