"""Implementation of the command `tune`."""
