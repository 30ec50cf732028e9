"""The report of a store: one page with leaderboards, plots and every match, or each plot as a file of its own."""
