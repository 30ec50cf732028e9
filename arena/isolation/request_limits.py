"""How long an answer of an agent process is waited for."""

from time import perf_counter

LEAST_LACK = 0.001
"""Seconds for which it is worth while to wait on."""
MOST_LACK = 9
"""Times its limit that a decision may wait for a processor; then it is late all the same, since nobody can wait forever."""


class RequestLimits:
    """The limits of one request: when to tell the agent to stop, and when to end it."""

    def __init__(self, seconds: float | None = None, margin: float = 0.0, cpu_seconds: float | None = None) -> None:
        self.seconds = seconds
        self.margin = margin
        self.cpu_seconds = cpu_seconds
        self.measured = cpu_seconds is not None or (seconds is not None and margin > 0)
        self.warned = False
        self.stop: float | None = None
        self.end: float | None = None
        self._began = 0.0

    def begin(self, now: float) -> None:
        """The clock runs from now on."""
        self._began = now
        if self.seconds is not None:
            self.stop = now + self.seconds
            self.end = self.stop + self.margin

    def extended(self, lack: float) -> bool:
        """Tell whether it goes on, with as many seconds more than its limit as it had no processor."""
        assert self.seconds is not None
        self.stop = None  # it has been told
        self.end = self._began + self.seconds + self.margin + min(lack, MOST_LACK * self.seconds)
        return self.end > perf_counter() + LEAST_LACK
