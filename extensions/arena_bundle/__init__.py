"""Bundles: one file with the results of a tournament and everything that is needed to verify them."""
