"""Engines that speak UCI or GTP, as agents."""
