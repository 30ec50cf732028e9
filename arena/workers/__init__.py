"""Plays a run in several processes, any of which may crash. There are modules for the messages and for the pool of processes."""
