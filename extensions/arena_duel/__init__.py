"""Implementation of the command `duel`."""
