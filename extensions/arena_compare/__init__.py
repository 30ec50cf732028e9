"""The implementation of the commands `compare` and `stats`."""
