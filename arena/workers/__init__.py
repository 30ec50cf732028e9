"""A run in several processes that may die: what they are to play, and the pool that has them play it."""
