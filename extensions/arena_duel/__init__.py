"""The implementation of the command `duel`."""
