"""Plugins: the rules that they must follow, how they are found, and the registry of everything that they define."""
