"""What a command writes to the terminal: results, notices, progress and screens."""
