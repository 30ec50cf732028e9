"""Pages in a browser: a server for live leaderboards, replays, games against agents, puzzles and small tournaments."""
