"""Turns records into results: leaderboards with ratings, comparisons, tables and exports."""
