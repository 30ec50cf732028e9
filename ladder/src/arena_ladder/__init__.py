"""A ladder: a tournament that never ends. Authors hand in agents, and the most informative matches keep rating them."""
