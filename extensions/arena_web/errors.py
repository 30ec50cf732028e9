"""Errors that a server answers with a status of HTTP."""

from arena import ArenaError


class Refusal(ArenaError):
    """A server does not do what a request asks for; `status` is that of HTTP, `hint` says what to do."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.status, self.hint = status, hint
        self.faults: tuple[str, ...] = ()
        """Every fault of a form, each with its place."""


class BadRequest(Refusal):
    """A page asked for something impossible; `faults` say what was expected, one of them or all that were found at once."""

    def __init__(self, *faults: str) -> None:
        super().__init__(400, "\n".join(faults))
        self.faults = faults
