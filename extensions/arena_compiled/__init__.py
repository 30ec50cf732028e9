"""Compiled searches (extra `fast`). The rules of a game are rewritten so that they use only integers. The inner loops of searches
are compiled together with them.
"""
