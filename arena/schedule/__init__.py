"""The matches of a spec: their order, how each match is played, and the code that plays it."""
