"""The formats in which pairings depend on the results so far: Swiss system, knockout, best-of, and head-to-head with a test."""
