"""The work of the commands compare and stats."""
