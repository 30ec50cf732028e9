"""Engines that speak UCI or GTP, as agents: `{agent: {command: [stockfish], protocol: uci}}`.

`uci` and `gtp` are found by the entry points of the group `arena.protocols`; each is an adapter, a program of its own.
"""
