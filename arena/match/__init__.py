"""One match: its records, the referee that judges it, the players in its seats, and its replay."""
