"""Statistics: pure functions over plain values, generic in what a competitor is.

    observations     pairs of games, rankings, tables     elo, calculator   scores and Elo of a match
    intervals        ratings of a field, with intervals   sprt              sequential probability ratio test
    plackett_luce    ratings from rankings                cycles            intransitive cycles
    paired, solved_share   puzzles: two agents on the same positions; solved shares and budgets
    swiss_pairing, bracket   pairings and standings of Swiss tournaments and knockouts

Ratings (`intervals`, `plackett_luce` and the modules below them: `bradley_terry`, `newton`, `prior`, `pairwise_likelihood`,
`bootstrap`, `sandwich`) import numpy and scipy with their module, so import these modules inside a function. All other modules
import libraries in the function that calls them. So the command line starts quickly, and processes that play never load them.
"""
