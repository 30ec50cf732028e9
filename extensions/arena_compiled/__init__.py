"""Compiled searches: rules over whole numbers, and the inner loops of searches compiled for them, with the extra `fast`."""
