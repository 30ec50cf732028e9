"""Strategies of the Axelrod library, as agents of the prisoner's dilemma."""
