"""The games and heuristics that come with arena."""

from arena_games.plugin import arena_games, arena_heuristics

__all__ = ["arena_games", "arena_heuristics"]
