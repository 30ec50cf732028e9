"""The browser: a server for live leaderboards, replays, play, puzzles and small tournaments."""
