"""What the commands of the command line do, and how they say it."""
