"""The matches of a spec: which comes next, how each is played, and with what code."""
