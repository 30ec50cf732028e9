"""The HTTP API of a ladder: submissions, their state, and the public standings."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from fastapi import Depends, FastAPI, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import AfterValidator, BaseModel, Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from arena import __version__
from arena.api.store import Store
from arena.clock import wall_time
from arena_ladder.code_folder import kind_of
from arena_ladder.contest import check_known
from arena_ladder.ledger import Feedback, find_deadline, find_last_run
from arena_ladder.spec import AUTHOR, NAME, is_author, is_name
from arena_ladder.submissions import Finding, Status, Submission
from arena_ladder.wheel import list_wheels
from arena_web.api import CostlyDecision
from arena_web.error_answers import AsciiJson
from arena_web.errors import Refusal
from arena_web.guard import FORM, Rate, RateLimits
from arena_web.match_filter import PLACED, MatchFilter

if TYPE_CHECKING:
    from arena_ladder.host import LadderHost

TOKEN = "the header Authorization: Bearer TOKEN"  # noqa: S105 - a hint, not a token
SUBMISSIONS_PER_PAGE = 20
"""The maximum number of submissions in one answer, because each may have long findings."""
MAX_FILE_NAME = 100
"""The maximum length of a file name that is kept, in characters. Only the end of a longer name is kept."""
MAX_FIELD_BYTES = 4096
"""The maximum size of a field of a form, without the file."""
BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=?-]{1,70}")
"""The text between the parts of a form (RFC 2046, 5.1.1)."""
HANDING_IN = Rate("submissions", 20, 0.5)
"""The rate limit for submissions by one author, in addition to the daily limit."""
WITHDRAWING = Rate("withdrawals", 10, 0.1)
"""The rate limit for withdrawals by one author."""
STRANGERS = Rate("wrong tokens", 10, 0.1)
"""The rate limit for an address that sends requests with unknown tokens."""
NEWCOMERS = Rate("registrations", 30, 0.02)
"""The rate limit for registrations from an address, if the ladder is open to everyone."""


def _check_author(name: str) -> str:
    if not is_author(name):
        raise Refusal(422, f"{name[:60]!r} is not a valid author name", f"choose {AUTHOR}")
    return name


Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Key = Annotated[str, Path(alias="id")]
PageNumber = Annotated[int, Query(ge=0, le=1_000_000)]


class Refused(BaseModel):
    """The reason why a request is refused, and what to do."""

    error: str
    hint: str


class FindingAnswer(Finding, extra="allow"):
    """One result of the check of a submission: a property that was checked on one game."""


class FeedbackAnswer(BaseModel):
    """The result of the last review of a submission: how many matches and decisions were reviewed, how many decisions were
    judged, and the costliest decisions.
    """

    time: Time
    matches: int
    decisions: int
    judged: int
    costly: list[CostlyDecision]


class SubmissionAnswer(BaseModel):
    """A submission and its state."""

    id: str
    agent: str | None
    name: str | None
    version: int | None
    kind: str
    file: str
    received: Time
    decided: Time | None
    status: Status
    reason: str | None
    findings: list[FindingAnswer]
    faults: int
    feedback: FeedbackAnswer | None


class MessageAnswer(BaseModel):
    """A message from the host."""

    time: Time
    text: str


class SubmissionsAnswer(BaseModel):
    """A page of the submissions of an author, and the messages from the host, the latest first.

    `author` is the name that tables show. Only the author can see `id`, `name` and `team`, which come from the roster. `total` is
    the number of submissions. They are on `pages` pages, and `page` is the number of this one, counted from 0.
    """

    author: str
    id: str
    name: str
    team: str
    rows: list[SubmissionAnswer]
    total: int
    page: int
    pages: int
    messages: list[MessageAnswer]


class TakenAnswer(BaseModel):
    """A submission that has been stored and will be checked."""

    id: str
    status: Status


class LostMatch(BaseModel):
    """A match that an agent has lost through its own fault."""

    match: str
    labels: list[str]
    termination: str
    message: str | None
    traceback: str | None


class LogAnswer(BaseModel):
    """The last output of a submission, and its lost matches.

    While the positions of a puzzle are `hidden`, the log contains only the output of the check, and there are no matches.
    """

    id: str
    hidden: bool
    lost: list[LostMatch]
    log: str


class StandingsAnswer(BaseModel):
    """The rows of the standings, the best first."""

    rows: list[dict[str, Any]]
    state: str


class RegisteredAnswer(BaseModel):
    """A new author, with the token for requests."""

    name: str
    token: str


class Newcomer(BaseModel):
    """The name that an author chooses."""

    name: Annotated[str, AfterValidator(_check_author)]


class LinkCode(BaseModel):
    """The code of a link that a host has sent to an author."""

    code: str


class HandIn(BaseModel):
    """The form for a submission. It is read only after the author has been identified."""

    file: Annotated[str, Field(json_schema_extra={"contentMediaType": "application/octet-stream"})]
    name: str | None = None


class LadderAnswer(BaseModel):
    """The games that are played here, and the rules for submissions.

    `anchor` is the agent whose rating is 0, and `interval` is the target half-width of the intervals, in Elo. A ladder for a
    puzzle has neither of them; it has `positions`, the number of hidden positions.
    """

    name: str
    games: list[str]
    anchor: str | None
    interval: float | None
    positions: int | None
    open: bool
    per_day: int
    keep: int
    agents: int
    size_kb: int
    kinds: list[str]
    packages: list[str] | None
    install: str | None
    wheels: list[str]
    closes: Time | None
    state: str
    commitment: str | None


class AgentAnswer(BaseModel):
    """The rows of an agent in the standings, and the history of its rating."""

    agent: str
    rows: list[dict[str, Any]]
    course: list[dict[str, Any]]


class HealthAnswer(BaseModel):
    """The state of the ladder."""

    state: str
    matches: int
    version: str


class LadderApi:
    """The endpoints below /api, and the endpoints with which a monitor watches the process."""

    def __init__(self, host: "LadderHost", limits: RateLimits, stopping: asyncio.Event) -> None:
        self._host, self._ledger, self._limits, self._stopping = host, host.ledger, limits, stopping

    def add_to(self, app: FastAPI) -> None:
        """Add every endpoint."""
        own = [Depends(HTTPBearer(scheme_name="bearer", auto_error=False))]
        get, post = partial(app.add_api_route, methods=["GET"]), partial(app.add_api_route, methods=["POST"])
        of_author = partial(app.router.add_api_route, route_class_override=checked_route(self._author))
        get_own, post_own = partial(of_author, methods=["GET"]), partial(of_author, methods=["POST"])
        get("/api/standings", self.standings, response_model=StandingsAnswer, responses=_refusals(503))
        get("/api/ladder", self.ladder, response_model=LadderAnswer)
        get("/api/agents/{name:path}", self.agent, response_model=AgentAnswer, responses=_refusals(404, 503))
        get_own(
            "/api/submissions",
            self.submissions,
            response_model=SubmissionsAnswer,
            responses=_refusals(401, 403, 422),
            dependencies=own,
        )
        post_own(
            "/api/submissions",
            self.submit,
            status_code=202,
            response_model=TakenAnswer,
            responses=_refusals(401, 403, 413, 422, 429, 503),
            dependencies=own,
            openapi_extra={
                "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": HandIn.model_json_schema()}}}
            },
        )
        one: dict[str, Any] = {"responses": _refusals(401, 403, 404), "dependencies": own}
        get_own("/api/submissions/{id}", self.submission, response_model=SubmissionAnswer, **one)
        get_own("/api/submissions/{id}/log", self.log, response_model=LogAnswer, **one)
        post_own("/api/submissions/{id}/withdraw", self.withdraw, response_model=SubmissionAnswer, **one)
        responses, answer = _refusals(403, 409, 422, 429), RegisteredAnswer
        app.router.add_api_route(
            "/api/authors",
            self.join,
            methods=["POST"],
            status_code=201,
            response_model=answer,
            responses=responses,
            route_class_override=checked_route(self._check_open),
        )
        post("/api/claim", self.claim, response_model=RegisteredAnswer, responses=_refusals(404, 422, 429))
        get("/health", self.health, response_model=HealthAnswer, responses={503: {"model": HealthAnswer}})
        get("/metrics", self.metrics, response_model=None, include_in_schema=False)

    def _author(self, request: Request) -> str:
        """Return the author whose token a request carries.

        Raises Refusal 401 if the token is missing or unknown, and 403 if the author is banned.
        """
        token = bearer_of(request, "an author")
        try:
            return self._ledger.author_of(token)
        except Refusal as refusal:
            if refusal.status == 401:
                self._limits.take(STRANGERS, request.scope["client_address"])
            raise

    async def _own(self, request: Request, key: str) -> Submission:
        """Return the submission that a request names. Raises Refusal 403 if it belongs to another author."""
        author = self._author(request)
        one = await anyio.to_thread.run_sync(self._ledger.submission, key)
        if one.author != author:
            raise Refusal(403, "this submission belongs to another author", "ask for your own token")
        return one

    async def submit(self, request: Request) -> TakenAnswer:
        """Hand in an agent. When the answer arrives, the agent has been stored."""
        author = self._author(request)  # before the body is read
        self._limits.take(HANDING_IN, author)
        if self._ledger.setting("over") is not None:
            raise Refusal(422, "this ladder has ended", "its standings stay")
        name, file, content = await _read_form(request)
        if self._stopping.is_set():
            raise Refusal(
                503, "the ladder is shutting down and has not stored the submission", "submit it again in a minute", 60.0
            )
        rules = self._host.ladder.submissions
        if len(content) > rules.size_kb << 10:
            raise Refusal(
                413, f"{file} has {len(content):,} bytes; at most {rules.size_kb:,} KiB are accepted", "submit a smaller file"
            )
        self._check_time(wall_time())
        kind = kind_of(file, content)
        if kind not in rules.kinds:
            raise Refusal(422, f"{file} is a {kind}; this ladder accepts: {', '.join(rules.kinds)}", "submit one of these")
        if not content.strip():
            raise Refusal(422, f"{file} is empty", "submit the file of your agent")
        given = (author, name, kind, file, content, rules.per_day)
        one = await anyio.to_thread.run_sync(lambda: self._ledger.submit(*given))
        self._host.examiner.wake()
        return TakenAnswer(id=one.id, status=one.status)

    def _check_time(self, received: float) -> None:
        """Raise Refusal 403 if submissions were closed when the last byte arrived."""
        rules = self._host.ladder.submissions
        last = find_deadline(rules, self._ledger)
        if rules.opens is not None and received < rules.opens.timestamp():
            raise Refusal(403, f"submissions open at {rules.opens.isoformat()}", "submit it then")
        if last is not None and received > last.timestamp():
            raise Refusal(403, f"submissions closed at {last.isoformat()}", "ask the host of the ladder")

    async def submission(self, request: Request, key: Key) -> SubmissionAnswer:
        """Return the state of your submission."""
        one = await self._own(request, key)
        return await anyio.to_thread.run_sync(lambda: _describe(self._host, one, self._ledger.feedback(one.id)))

    async def log(self, request: Request, key: Key) -> LogAnswer:
        """Return the last output of your submission, and the matches that it lost through its own faults."""
        one = await self._own(request, key)
        hidden = self._host.hides
        lost = []
        if one.version is not None and not hidden:
            lost = await anyio.to_thread.run_sync(find_lost_matches, self._host.store.path, one.label)
        text = await anyio.to_thread.run_sync(lambda: self._host.folder.log(one, of_check=hidden))
        return LogAnswer(id=one.id, hidden=hidden, **self._host.folder.as_handed_in(one, {"lost": lost, "log": text}))

    async def submissions(self, request: Request, page: PageNumber = 0) -> Response:
        """Return a page of at most 20 of your submissions, the latest first."""
        author = self._author(request)
        own = self._ledger.find_author(bearer_of(request, "an author"))
        assert own is not None
        return await anyio.to_thread.run_sync(self._list, author, own, page)

    def _list(self, author: str, own: str, page: int) -> Response:
        """Return the whole answer with a page of submissions, so that no work is left for the thread that serves all requests."""
        found = self._ledger.submissions_on_page(author, page, SUBMISSIONS_PER_PAGE)
        feedback = self._ledger.feedback_on([one.id for one in found])
        total = self._ledger.count_submissions(author)
        person = self._ledger.person(own)
        answer = SubmissionsAnswer(
            author=author,
            id=person.id,
            name=person.name,
            team=person.team,
            rows=[_describe(self._host, one, feedback.get(one.id)) for one in found],
            total=total,
            page=page,
            pages=max(1, -(-total // SUBMISSIONS_PER_PAGE)),
            messages=[MessageAnswer(time=_time(one.time), text=one.text) for one in self._ledger.messages(author)],
        )
        return AsciiJson(answer.model_dump(mode="json"))

    async def withdraw(self, request: Request, key: Key) -> SubmissionAnswer:
        """Take your submission out of play."""
        one = await self._own(request, key)
        self._limits.take(WITHDRAWING, one.author)
        if not await anyio.to_thread.run_sync(self._ledger.withdraw, one.id, one.author):
            raise Refusal(
                409,
                f"{one.name or one.file} is {one.status}",
                "only agents that are playing or waiting for their check can be withdrawn",
            )
        self._host.runner.wake()
        return await self.submission(request, key)

    def _check_open(self, request: Request) -> None:
        """Raise Refusal 403 if registration is closed, and 429 if an address registers too often."""
        if self._host.ladder.authors is not None:
            raise Refusal(403, "registration is closed here", "ask the host of the ladder for a token")
        self._limits.take(NEWCOMERS, request.scope["client_address"])

    async def join(self, newcomer: Newcomer) -> RegisteredAnswer:
        """Register as an author, if registration is open to everyone."""
        token = await anyio.to_thread.run_sync(self._ledger.join, newcomer.name, newcomer.name)
        return RegisteredAnswer(name=newcomer.name, token=token)

    async def claim(self, request: Request, link: LinkCode) -> RegisteredAnswer:
        """Exchange the code of a link from the host for a token. A code works once."""
        try:
            name, token = await anyio.to_thread.run_sync(self._ledger.claim, link.code)
        except Refusal:
            self._limits.take(STRANGERS, request.scope["client_address"])
            raise
        return RegisteredAnswer(name=name, token=token)

    async def ladder(self) -> LadderAnswer:
        """Return the games that are played here, and the rules for submissions."""
        ladder, found = self._host.ladder, self._host.public.read()
        rules = ladder.submissions
        return LadderAnswer(
            name=ladder.spec.name,
            games=[board.title for board in ladder.spec.boards],
            anchor=ladder.anchor,
            interval=ladder.interval if ladder.solvers is None else None,
            positions=found.positions,
            open=ladder.authors is None,
            per_day=rules.per_day,
            keep=rules.keep,
            agents=rules.agents,
            size_kb=rules.size_kb,
            kinds=list(rules.kinds),
            packages=rules.packages,
            install=rules.install,
            wheels=[*list_wheels()],
            closes=None if (last := find_deadline(rules, self._ledger)) is None else last.isoformat(),
            state=found.state,
            commitment=ladder.spec.commitment,
        )

    async def standings(self) -> Response:
        """Return the rows of the standings, the best agent first. For a puzzle, the rows have the share of solved positions.

        If several games are played, `board` names the game of a row. While positions are hidden, costs are rounded, efforts and
        kinds of faults are missing, and the figures of an agent change only when it has attempted all positions.
        """
        return await anyio.to_thread.run_sync(self._standings)

    def _standings(self) -> Response:
        found = self._host.public.read()
        check_known(found.boards)
        several = len(found.boards) > 1
        rows = [{**row, "board": board.title} if several else row for board in found.boards for row in board.rows]
        return AsciiJson({"rows": rows, "state": found.state})

    async def agent(self, name: str) -> Response:
        """Return the rows of an agent and the history of its rating, whether the agent is in play or not. While positions are
        hidden, there is no history, and only agents in play are known.
        """
        return await anyio.to_thread.run_sync(self._agent, name)

    def _agent(self, name: str) -> Response:
        found = self._host.public.read()
        check_known(found.boards)
        rows = [row for board in found.boards for row in board.rows if row["agent"] == name]
        # while positions are hidden, even the question whether a history exists would show the end of an attempt
        course = [] if found.hidden else self._ledger.course(name)
        if not rows and not course:
            raise Refusal(404, f"no agent {name[:100]} has played here", "see /api/standings")
        return AsciiJson({"agent": name, "rows": rows, "course": [point._asdict() for point in course]})

    async def health(self, response: Response) -> HealthAnswer:
        """Return the state of the ladder, with the status 503 if its contest cannot continue."""
        if self._host.broken:
            response.status_code = 503
        return HealthAnswer(state=self._host.public_state, matches=self._host.public.read().matches, version=__version__)

    async def metrics(self) -> Response:
        """Return counts in the text format of Prometheus, version 0.0.4."""
        text = await anyio.to_thread.run_sync(_metrics, self._host)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def _describe(host: "LadderHost", one: Submission, feedback: Feedback | None) -> SubmissionAnswer:
    return SubmissionAnswer(
        id=one.id,
        agent=one.label if one.version is not None else None,
        name=one.name,
        version=one.version,
        kind=one.kind,
        file=one.file,
        received=_time(one.received),
        decided=None if one.decided is None else _time(one.decided),
        status=one.status,
        reason=None if one.reason is None else host.folder.as_handed_in(one, one.reason),
        findings=[FindingAnswer(**finding) for finding in one.findings],
        faults=0 if host.hides else one.faults,
        feedback=None if feedback is None else FeedbackAnswer(**feedback.as_values()),
    )


def checked_route(check: Callable[[Request], object]) -> type[APIRoute]:
    """Return a class of routes that call `check`, which raises Refusal, before anything else of a request is read. FastAPI would
    read its body first, and tell a stranger what is wrong with it.
    """

    class CheckedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def check_first(request: Request) -> Response:
                check(request)
                return await handle(request)

            return check_first

    return CheckedRoute


def bearer_of(request: Request, whose: str) -> str:
    """Return the token that a request carries. Raises Refusal 401 if there is none; the message names the owner, `whose`."""
    word, _, token = request.headers.get("authorization", "").partition(" ")
    if word.lower() != "bearer" or not token.strip():
        raise Refusal(401, f"this needs the token of {whose}", f"send it as {TOKEN}")
    return token.strip()


def _refusals(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": Refused, "description": "Refused."} for code in codes}


async def _read_form(request: Request) -> tuple[str | None, str, bytes]:
    """Return the name of the agent (if given), the name of the file and its content. Raises Refusal 422 for a bad form."""
    expected = Refusal(422, "expected a form with a file", f"send {FORM} with `file` and, optionally, `name`")
    boundary = _boundary_of(request.headers.get("content-type", ""))
    if boundary is None:
        raise expected
    kind = f"{FORM}; boundary={boundary}"  # nothing else that the client may have said
    form_request = Request({**request.scope, "headers": [(b"content-type", kind.encode())]}, request.receive)
    try:
        async with form_request.form(max_files=1, max_fields=5, max_part_size=MAX_FIELD_BYTES) as form:
            file, name = form.get("file"), form.get("name")
            if not isinstance(file, UploadFile):
                raise expected
            content = await file.read()
            said = file.filename or "agent.py"
    except HTTPException as error:  # a form that starlette cannot read
        raise expected from error
    plain = said.replace("\\", "/").rpartition("/")[2][-MAX_FILE_NAME:]
    shown = "".join(letter for letter in plain if letter.isprintable()) or "agent.py"
    if name is not None and (not isinstance(name, str) or not is_name(name)):
        raise Refusal(422, f"{str(name)[:60]!r} is not a valid agent name", f"choose {NAME}")
    return name or None, shown, content


def _boundary_of(content_type: str) -> str | None:
    """Return the boundary of a form; None if the content type is not that of a form.

    Raises Refusal 422 for a form in a charset other than UTF-8, because Python takes very long to decode some, such as
    punycode.
    """
    kind, *parameters = content_type.split(";")
    given = {name.strip().lower(): value.strip().strip('"') for name, _, value in [one.partition("=") for one in parameters]}
    boundary, charset = given.get("boundary", ""), given.get("charset", "utf-8")
    if kind.strip().lower() != FORM or not BOUNDARY.fullmatch(boundary):
        return None
    if charset.lower() not in ("utf-8", "utf8"):
        raise Refusal(422, f"expected a form in UTF-8, got charset={charset[:60]!r}", "leave the charset out")
    return boundary


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _metrics(host: "LadderHost") -> str:
    found = host.public.read()
    in_play = max((len(board.rows) for board in found.boards), default=0)
    unsettled = sum(not row["settled"] for board in found.boards for row in board.rows)
    gauges: Sequence[tuple[str, str, str, float]] = (
        ("arena_ladder_up", "gauge", "1 if the contest is running, 0 if it cannot continue.", float(not host.broken)),
        ("arena_ladder_paused", "gauge", "1 if matches are waiting but none is being played.", float(found.paused)),
        ("arena_ladder_matches_total", "counter", "Number of matches played since the process started.", found.matches),
        ("arena_ladder_voids_total", "counter", "Number of void matches since the process started.", found.voids),
        ("arena_ladder_agents", "gauge", "Agents in play.", in_play),
        ("arena_ladder_unsettled", "gauge", "Number of agents whose intervals are wider than `until` allows.", unsettled),
    )
    lines = [f"# HELP {name} {told}\n# TYPE {name} {kind}\n{name} {value:g}" for name, kind, told, value in gauges]
    lines.append("# HELP arena_ladder_submissions Submissions by status.\n# TYPE arena_ladder_submissions gauge")
    lines += [f'arena_ladder_submissions{{status="{status}"}} {count}' for status, count in host.ledger.counts().items()]
    return "\n".join(lines) + "\n"


MAX_LOST_MATCHES = 10
"""The maximum number of lost matches in an answer."""


def find_lost_matches(path: FilePath, label: str) -> list[dict[str, Any]]:
    """Return the latest matches that an entry lost through its own faults, the newest match first; empty if it has not played."""
    with Store.open(path) as store, store.snapshot():
        last = find_last_run(store)
        boards = () if last is None else last.boards
        where, values = MatchFilter(agent=label, ending="failed").where(store, boards)
        columns = "r.id, p.board, p.seats, r.seat, r.termination, d.message, d.traceback"
        question = f"SELECT {columns} {PLACED} JOIN detail d ON d.record = r.number {where} ORDER BY p.number DESC"
        found: list[dict[str, Any]] = []
        for key, board, text, seat, termination, message, traceback in store.query(question, values):
            labels = [boards[board].labels[entry] for entry in Store.seats_of(text)]
            if seat is not None and labels[seat] == label:
                told = {"match": key.hex(), "labels": labels, "termination": termination}
                found.append({**told, "message": message, "traceback": traceback})
            if len(found) == MAX_LOST_MATCHES:
                break
        return found
