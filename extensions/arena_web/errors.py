"""Errors that a server answers with an HTTP status."""

from arena import ArenaError


class Refusal(ArenaError):
    """A server refuses a request. `status` is the HTTP status; `hint` proposes a remedy."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.status, self.hint = status, hint
        self.faults: tuple[str, ...] = ()
        """Every fault of a form, each with its place."""


class BadRequest(Refusal):
    """A page asked for something impossible. `faults` are the expectations that failed, one or several."""

    def __init__(self, *faults: str) -> None:
        super().__init__(400, "\n".join(faults))
        self.faults = faults
