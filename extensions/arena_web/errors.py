"""Errors that a server answers with an HTTP status."""

from arena import ArenaError


class Refusal(ArenaError):
    """A request that the server refuses. `status` is the HTTP status; `hint` proposes a remedy.

    `retry_after` is the number of seconds after which the same request will be accepted, if that is known.
    """

    def __init__(self, status: int, message: str, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status, self.hint, self.retry_after = status, hint, retry_after
        self.faults: tuple[str, ...] = ()
        """Every fault in a form, each with its place."""


class BadRequest(Refusal):
    """A page has sent a request with invalid values. `faults` describes one or several of them."""

    def __init__(self, *faults: str) -> None:
        super().__init__(400, "\n".join(faults))
        self.faults = faults
