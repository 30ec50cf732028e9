"""`arena try`: games, heuristics and agents of a plugin file play against built-in agents for a few seconds."""
