"""Results from records: leaderboards with ratings, comparisons, tables, exports."""
