"""Starts child processes within limits, reads their stderr, and ends them with everything that they have started."""
