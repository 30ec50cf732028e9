"""Bounds on the connections of the server, so that those who say nothing do not shut out those who ask."""

import asyncio
from time import monotonic
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 400
"""Open at a time: event streams, and pages that load their files. Below the file descriptors that a process usually has."""
HEAD_SECONDS = 5.0
"""For the head of a request, from the connection or from the last answer on."""


class BoundedConnection(H11Protocol):
    """A connection that is closed where no request comes in time, or for a newer one where there are too many."""

    def connection_made(self, transport: Any) -> None:
        """Take a connection; the one that has been idle for longest gives way."""
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > MAX_CONNECTIONS:
            others = [one for one in self.connections if isinstance(one, BoundedConnection) and one.idle]
            min(others, key=lambda one: one.since, default=self).close()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def idle(self) -> bool:
        """True while no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def close(self) -> None:
        """Close it; what is on its way is sent."""
        self.transport.close()

    def _expect_head(self) -> None:
        timer: asyncio.TimerHandle | None = getattr(self, "_timer", None)
        if timer is not None:
            timer.cancel()
        self.since = monotonic()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self.idle:
            self.close()
