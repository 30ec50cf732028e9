"""A game and its agents without a spec: in the words of a command line for commands, as objects and names for `arena.play`."""
