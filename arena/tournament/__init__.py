"""A tournament: what is left to play, who plays it, and its results."""
