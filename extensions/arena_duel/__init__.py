"""The work of the command duel."""
