"""The report of a store: one page with leaderboards, plots and all matches, or a separate file for each plot."""
