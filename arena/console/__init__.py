"""Output of the command line: results, notices and progress."""
