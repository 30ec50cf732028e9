"""Statistics: pure functions over plain values, generic in what a competitor is.

    observations     pairs of games, rankings, tables     elo, calculator   scores and Elo of a match
    intervals        ratings of a field, with intervals   sprt              sequential probability ratio test
    plackett_luce    ratings from rankings                cycles            intransitive cycles
    paired, solved_share   puzzles: two agents on the same positions; solved shares and budgets
    swiss_pairing, tiebreaks, bracket   pairings of Swiss tournaments and knockouts

Ratings (`intervals`, `plackett_luce` and the modules below them: `bradley_terry`, `newton`, `prior`, `refit`, `bootstrap`,
`sandwich`, `profile`) import numpy and scipy with their module, so whoever uses them imports them inside a function; all others
import libraries where they are called. So the command line starts quickly, and workers and agents' processes never load them.
"""
