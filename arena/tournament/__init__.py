"""A tournament: the matches that remain to be played, the processes that play them, and the results."""
