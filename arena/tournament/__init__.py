"""A tournament: the remaining matches, their players, and the results."""
