"""The part of the API that only the host of a ladder may use: all submissions, repeated checks, messages, and marks."""

import io
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from fastapi import FastAPI, Path, Query, Request, Response
from pydantic import BaseModel

from arena import ArenaError
from arena.api.errors import StoreError
from arena_ladder.api import STRANGERS, bearer_of, checked_route, find_lost_matches
from arena_ladder.hand_ins import HandIn, list_hand_ins, write_archive
from arena_ladder.mark_book import grade
from arena_ladder.mark_sheets import as_csv
from arena_ladder.similarity import compare_authors
from arena_web.error_answers import AsciiJson
from arena_web.errors import Refusal
from arena_web.guard import RateLimits

if TYPE_CHECKING:
    from arena_ladder.host import LadderHost

HOST = "the host"
"""The name of the owner of the token, in messages."""
WHO = "admin"
"""The name of the host in the audit log."""
MAX_SHOWN_CHARACTERS = 200_000
"""The maximum length of a file in an answer. The archive contains the whole file."""
LEFT_OUT = ("findings", "feedback")
"""Fields that are left out of the list of submissions, because they are long."""
MAX_PAIRS = 50
"""The maximum number of pairs of similar authors in an answer."""
Key = Annotated[str, Path(alias="id")]


class Wanted(BaseModel):
    """A filter for submissions."""

    author: str | None = None
    status: str | None = None


class NewMessage(BaseModel):
    """A message to an author or a team."""

    author: str
    text: str


class HostApi:
    """The endpoints below /api/host. Every request needs the host's token."""

    def __init__(self, host: "LadderHost", limits: RateLimits) -> None:
        self._host, self._ledger, self._limits = host, host.ledger, limits

    def add_to(self, app: FastAPI) -> None:
        """Add every endpoint. They are not part of the documented API of authors."""
        endpoints: dict[str, tuple[str, Any]] = {
            "/api/host/submissions": ("GET", self.submissions),
            "/api/host/submissions/{id}": ("GET", self.submission),
            "/api/host/submissions/{id}/check": ("POST", self.check),
            "/api/host/submissions/{id}/withdraw": ("POST", self.withdraw),
            "/api/host/messages": ("POST", self.message),
            "/api/host/archive": ("GET", self.archive),
            "/api/host/marks": ("GET", self.marks),
            "/api/host/similar": ("GET", self.similar),
        }
        add = partial(app.router.add_api_route, route_class_override=checked_route(self._admit), include_in_schema=False)
        for path, (method, endpoint) in endpoints.items():
            add(path, endpoint, methods=[method], response_model=None)

    def _admit(self, request: Request) -> None:
        """Raise Refusal 401 if a request does not carry the host's token."""
        token = bearer_of(request, HOST)
        if not self._ledger.is_host(token):
            if self._ledger.find_author(token) is None:  # the token of an author does not count as a guess
                self._limits.take(STRANGERS, request.scope["client_address"])
            raise Refusal(401, f"this is not the token of {HOST}", "`arena ladder admin SPEC host-token` prints a new one")

    async def submissions(self) -> Response:
        """Return all submissions, the latest first, without findings, feedback and code."""
        return await anyio.to_thread.run_sync(self._list)

    def _list(self) -> Response:
        found = list_hand_ins(self._ledger)
        rows = [{key: value for key, value in one.as_values().items() if key not in LEFT_OUT} for one in reversed(found)]
        ladder = self._host.ladder
        return AsciiJson({"name": ladder.spec.name, "marks": ladder.marks is not None, "rows": rows})

    async def submission(self, key: Key) -> Response:
        """Return one submission with its findings, feedback, code, log, lost matches, and the messages to its author."""
        return await anyio.to_thread.run_sync(lambda: AsciiJson(self._describe(key)))

    def _describe(self, key: str) -> dict[str, Any]:
        one = self._ledger.submission(key)
        found = next(hand_in for hand_in in list_hand_ins(self._ledger) if hand_in.submission.id == key)
        files = self._host.folder.texts(one)
        return {
            **found.as_values(),
            "files": [
                {
                    "name": name,
                    "text": None if text is None else text[:MAX_SHOWN_CHARACTERS],
                    "cut": len(text or "") > MAX_SHOWN_CHARACTERS,
                }
                for name, text in files.items()
            ],
            "log": self._host.folder.log(one),
            "lost": [] if one.version is None else find_lost_matches(self._host.store.path, one.label),
            "messages": [message._asdict() for message in self._ledger.messages(one.author)],
        }

    async def check(self, key: Key) -> Response:
        """Check a submission again."""
        one = await anyio.to_thread.run_sync(self._ledger.check_again, key, WHO)
        self._host.examiner.wake()
        self._host.runner.wake()
        return AsciiJson({"id": one.id, "status": one.status})

    async def withdraw(self, key: Key) -> Response:
        """Take a submission out of play."""
        one = await anyio.to_thread.run_sync(self._ledger.submission, key)
        if not await anyio.to_thread.run_sync(self._ledger.withdraw, one.id, WHO, "withdrawn by the host of the ladder"):
            raise Refusal(
                409, f"{key} is {one.status}", "only agents that are playing or waiting for their check can be withdrawn"
            )
        self._host.runner.wake()
        return AsciiJson({"id": key, "status": "withdrawn"})

    async def message(self, sent: NewMessage) -> Response:
        """Send a message to an author or a team."""
        return AsciiJson({"author": await anyio.to_thread.run_sync(self._ledger.send, sent.author, sent.text, WHO)})

    async def archive(self, wanted: Annotated[Wanted, Query()]) -> Response:
        """Return the code and the logs of all submissions, or of the ones that fit a filter, as a zip file."""

        def fits(one: HandIn) -> bool:
            return one.is_by(wanted.author) and wanted.status in (None, one.submission.status)

        def pack() -> bytes:
            out = io.BytesIO()
            write_archive(filter(fits, list_hand_ins(self._ledger)), self._ledger, self._host.folder, out)
            return out.getvalue()

        return _as_file(await anyio.to_thread.run_sync(pack), "application/zip", "submissions.zip")

    async def similar(self) -> Response:
        """Return the pairs of authors with the most similar code and moves."""
        host = self._host
        try:
            found = await anyio.to_thread.run_sync(compare_authors, host.ladder, self._ledger, host.folder)
        except ArenaError as error:
            if isinstance(error, StoreError):
                raise
            raise Refusal(501, str(error), "start the ladder again after that") from error
        return AsciiJson({"pairs": [asdict(pair) for pair in found[:MAX_PAIRS]], "all": len(found)})

    async def marks(self) -> Response:
        """Return the marks of all authors as CSV."""
        marks = self._host.ladder.marks
        if marks is None:
            raise Refusal(404, "this ladder gives no marks", "add `marks` with the baselines to its spec")
        sheet = await anyio.to_thread.run_sync(lambda: as_csv(grade(marks, self._host.store.path, self._ledger)))
        return _as_file(sheet.encode(), "text/csv; charset=utf-8", "marks.csv")


def _as_file(content: bytes, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
