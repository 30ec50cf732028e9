"""Rules over whole numbers, which run as they are and, with the extra `fast`, compiled."""

from arena.compiled.rules import Board, Estimate, Grid, Rules

__all__ = ["Board", "Estimate", "Grid", "Rules"]
