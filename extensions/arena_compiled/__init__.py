"""Compiled searches: rules over integers, and inner loops of searches compiled for them, with the extra `fast`."""
