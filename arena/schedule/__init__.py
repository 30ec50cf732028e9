"""The matches of a spec: their order, how each is played, and with which code."""
