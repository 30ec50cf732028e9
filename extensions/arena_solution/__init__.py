"""Tools for games that are small enough to be solved: their sequence form, best responses, and the distance of a policy from an
equilibrium.
"""
