"""Output of the command line: results, notices, progress and screens."""
