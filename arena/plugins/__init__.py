"""Plugins: their contract, where they are found, and the registry of everything that they bring."""
