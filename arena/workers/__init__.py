"""A run in several processes that may die: their orders, and the pool that runs them."""
