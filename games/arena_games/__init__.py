"""The games, heuristics and encodings that come with arena."""

from arena_games.plugin import arena_encodings, arena_games, arena_heuristics

__all__ = ["arena_encodings", "arena_games", "arena_heuristics"]
