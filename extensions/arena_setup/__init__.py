"""Sets up a game and its agents without a spec (a tournament file): from words of a command line, or from objects and names for
`arena.play`.
"""
