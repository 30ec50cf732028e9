"""What comes of records: leaderboards with ratings, comparisons, tables, exports."""
