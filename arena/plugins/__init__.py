"""Plugins: what they must bring, where they are found, and the registry of all that they brought."""
