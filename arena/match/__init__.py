"""One match: its records, the referee who judges it, the players in its seats, and its replay."""
