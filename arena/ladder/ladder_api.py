"""The API of a ladder: what authors hand in, what became of it, and the standings that everybody sees."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from arena.ladder.code_folder import kind_of
from arena.ladder.ladder_spec import AUTHOR, NAME, is_author, is_name
from arena.ladder.ledger import Refusal, Submission
from arena.ladder.lost_matches import lost_by_faults
from arena.ladder.rate_limits import HANDING_IN, NEWCOMERS, STRANGERS, RateLimits
from arena.version import __version__

if TYPE_CHECKING:
    from arena.ladder.ladder_host import LadderHost

TOKEN = "the header Authorization: Bearer TOKEN"  # noqa: S105 - what to write
LONGEST_FILE_NAME = 100


class LadderApi:
    """The endpoints below /api, and those for who watches over the process."""

    def __init__(self, host: "LadderHost", limits: RateLimits, stopping: asyncio.Event) -> None:
        self._host, self._ledger, self._limits, self._stopping = host, host.ledger, limits, stopping

    def routes(self) -> list[Route]:
        """Every endpoint, by its path."""
        get = [
            ("/api/standings", self.standings),
            ("/api/agents/{name:path}", self.agent),
            ("/api/submissions", self.submissions),
            ("/api/submissions/{id}", self.submission),
            ("/api/submissions/{id}/log", self.log),
            ("/api/ladder", self.ladder),
            ("/health", self.health),
            ("/metrics", self.metrics),
            ("/openapi.json", self.described),
        ]
        post = [
            ("/api/submissions", self.submit),
            ("/api/submissions/{id}/withdraw", self.withdraw),
            ("/api/authors", self.join),
        ]
        routes = [Route(path, endpoint, methods=["GET"]) for path, endpoint in get]
        return routes + [Route(path, endpoint, methods=["POST"]) for path, endpoint in post]

    # Who asks

    def author(self, request: Request) -> str:
        """The author whose token a request has; Refusal 401 or 403 for others."""
        word, _, token = request.headers.get("authorization", "").partition(" ")
        if word.lower() != "bearer" or not token.strip():
            raise Refusal(401, "this needs the token of an author", f"send it as {TOKEN}")
        try:
            return self._ledger.author_of(token.strip())
        except Refusal as refusal:
            if refusal.status == 401:
                self._limits.take(STRANGERS, request.scope["client_address"])
            raise

    def _own(self, request: Request) -> Submission:
        author = self.author(request)
        one = self._ledger.submission(request.path_params["id"])
        if one.author != author:
            raise Refusal(403, "this submission is another author's", "ask for your own")
        return one

    # Authors

    async def submit(self, request: Request) -> Response:
        """Take a file from an author: it is kept when this is answered."""
        author = self.author(request)
        self._limits.take(HANDING_IN, author)
        if self._ledger.setting("over") is not None:
            raise Refusal(422, "this ladder is over", "its standings stay")
        name, file, content = await _handed_in(request)
        if self._stopping.is_set():
            raise Refusal(503, "the ladder is shutting down, and has not kept this", "hand it in again in a minute")
        rules = self._host.ladder.submissions
        if len(content) > rules.size_kb << 10:
            raise Refusal(413, f"{file} has {len(content):,} bytes; at most {rules.size_kb:,} KiB are taken", "hand in less")
        kind = kind_of(file, content)
        if kind not in rules.kinds:
            raise Refusal(422, f"{file} is a {kind}; taken here: {', '.join(rules.kinds)}", "hand in one of these")
        if not content.strip():
            raise Refusal(422, f"{file} is empty", "hand in the file of your agent")
        given = (author, name, kind, file, content, rules.per_day)
        one = await anyio.to_thread.run_sync(lambda: self._ledger.submit(*given))
        return JSONResponse({"id": one.id, "status": one.status}, 202)

    async def submission(self, request: Request) -> Response:
        """What became of a submission, for its author alone."""
        return JSONResponse(self._told(self._own(request)))

    async def log(self, request: Request) -> Response:
        """Return the last that a submission printed and the matches it lost by its own faults, to its author alone."""
        one = self._own(request)
        lost = [] if one.version is None else await anyio.to_thread.run_sync(lost_by_faults, self._host.store.path, one.label)
        text = await anyio.to_thread.run_sync(self._host.folder.log, one)
        return JSONResponse({"id": one.id, **self._host.folder.as_handed_in(one, {"lost": lost, "log": text})})

    async def submissions(self, request: Request) -> Response:
        """All submissions of an author, the latest first."""
        author = self.author(request)
        return JSONResponse({"author": author, "rows": [self._told(one) for one in reversed(self._ledger.submissions(author))]})

    def _told(self, one: Submission) -> Mapping[str, Any]:
        return {
            "id": one.id,
            "agent": one.label if one.version is not None else None,
            "name": one.name,
            "version": one.version,
            "kind": one.kind,
            "file": one.file,
            "received": _time(one.received),
            "decided": None if one.decided is None else _time(one.decided),
            "status": one.status,
            "reason": None if one.reason is None else self._host.folder.as_handed_in(one, one.reason),
            "findings": list(one.findings),
            "faults": one.faults,
        }

    async def withdraw(self, request: Request) -> Response:
        """Take a submission out of play for its author."""
        one = self._own(request)
        self._ledger.withdraw(one.id, one.author)
        self._host.runner.wake()
        return JSONResponse(self._told(self._ledger.submission(one.id)))

    async def join(self, request: Request) -> Response:
        """Give a newcomer a token, where anybody may register."""
        if self._host.ladder.authors is not None:
            raise Refusal(403, "nobody registers here", "ask the host of the ladder for a token")
        self._limits.take(NEWCOMERS, request.scope["client_address"])
        try:
            asked = json.loads(await request.body())
        except (ValueError, RecursionError) as error:
            raise Refusal(422, "the body is no JSON", 'send {"name": "ada"}') from error
        name = asked.get("name") if isinstance(asked, dict) else None
        if not isinstance(name, str) or not is_author(name):
            raise Refusal(422, f"{str(name)[:60]!r} is no name of an author", f"choose {AUTHOR}")
        return JSONResponse({"name": name, "token": self._ledger.join(name, name)}, 201)

    # Everybody

    async def ladder(self, request: Request) -> Response:
        """What is played here, and what may be handed in."""
        ladder = self._host.ladder
        rules = ladder.submissions
        return JSONResponse(
            {
                "name": ladder.spec.name,
                "games": [board.title for board in ladder.spec.boards],
                "anchor": ladder.anchor,
                "interval": ladder.interval,
                "open": ladder.authors is None,
                "per_day": rules.per_day,
                "keep": rules.keep,
                "size_kb": rules.size_kb,
                "kinds": rules.kinds,
                "state": self._host.runner.contest.state,
                "commitment": self._host.ladder.spec.commitment,
            }
        )

    async def standings(self, request: Request) -> Response:
        """The rows of the standings, the best first; `board` says which where several games are played."""
        contest = self._host.runner.contest
        several = len(contest.standings) > 1
        rows = [{**row, "board": board.title} if several else row for board in contest.standings for row in board.rows]
        return JSONResponse({"rows": rows, "state": contest.state})

    async def agent(self, request: Request) -> Response:
        """The row of an agent, in play or not, and the course of its rating."""
        name = request.path_params["name"]
        rows = [row for board in self._host.runner.contest.standings for row in board.rows if row["agent"] == name]
        course = await anyio.to_thread.run_sync(self._ledger.course, name)
        if not rows and not course:
            raise Refusal(404, f"no agent {name[:100]} has played here", "see /api/standings")
        return JSONResponse({"agent": name, "rows": rows, "course": [point._asdict() for point in course]})

    async def health(self, request: Request) -> Response:
        """Whether the ladder works: 503 where its contest cannot go on."""
        contest = self._host.runner.contest
        code = 503 if self._host.broken else 200
        return JSONResponse({"state": contest.state, "matches": contest.matches, "version": __version__}, code)

    async def metrics(self, request: Request) -> Response:
        """Counts in the text format of Prometheus, version 0.0.4."""
        return PlainTextResponse(_metrics(self._host), media_type="text/plain; version=0.0.4")

    async def described(self, request: Request) -> Response:
        """The API in OpenAPI 3.1."""
        from arena.ladder.openapi import described

        return JSONResponse(described())


async def _handed_in(request: Request) -> tuple[str | None, str, bytes]:
    """The agent's name, if given, the name of the file, and its content; Refusal 422 where the form is another."""
    expected = Refusal(422, "expected a form with a file", "send multipart/form-data with `file`, and `name` if you like")
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise expected
    try:
        async with request.form(max_files=1, max_fields=5) as form:
            file, name = form.get("file"), form.get("name")
            if not isinstance(file, UploadFile):
                raise expected
            content = await file.read()
            said = file.filename or "agent.py"
    except HTTPException as error:  # starlette makes it of a form that it cannot read
        raise expected from error
    plain = said.replace("\\", "/").rpartition("/")[2][-LONGEST_FILE_NAME:]
    shown = "".join(letter for letter in plain if letter.isprintable()) or "agent.py"
    if name is not None and (not isinstance(name, str) or not is_name(name)):
        raise Refusal(422, f"{str(name)[:60]!r} is no name for an agent", f"choose {NAME}")
    return name or None, shown, content


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _metrics(host: "LadderHost") -> str:
    contest = host.runner.contest
    in_play = max((len(board.rows) for board in contest.standings), default=0)
    unsettled = sum(not row["settled"] for board in contest.standings for row in board.rows)
    gauges: Sequence[tuple[str, str, str, float]] = (
        ("arena_ladder_up", "gauge", "1 if the contest goes on, 0 if it cannot.", float(not host.broken)),
        ("arena_ladder_paused", "gauge", "1 while nothing is played though there is something.", float(contest.paused)),
        ("arena_ladder_matches_total", "counter", "Matches played since the process began.", contest.matches),
        ("arena_ladder_voids_total", "counter", "Void matches since the process began.", contest.voids),
        ("arena_ladder_agents", "gauge", "Agents in play.", in_play),
        ("arena_ladder_unsettled", "gauge", "Agents whose intervals are wider than asked for.", unsettled),
    )
    lines = [f"# HELP {name} {told}\n# TYPE {name} {kind}\n{name} {value:g}" for name, kind, told, value in gauges]
    lines.append("# HELP arena_ladder_submissions Submissions by status.\n# TYPE arena_ladder_submissions gauge")
    lines += [f'arena_ladder_submissions{{status="{status}"}} {count}' for status, count in host.ledger.counts().items()]
    return "\n".join(lines) + "\n"
