"""The pages of a ladder and what they ask for."""

import asyncio
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from arena.ladder.ladder_host import LadderHost


class LadderApp:
    """The endpoints and what they share."""

    def __init__(self, host: "LadderHost") -> None:
        self._host = host
        self.stopping = asyncio.Event()

    def app(self) -> Starlette:
        """The application."""
        return Starlette(routes=[Route("/api/standings", self.standings), Route("/health", self.health)])

    async def standings(self, request: Request) -> Response:
        """The rows of the standings, the best first."""
        contest = self._host.runner.contest
        rows = [row for board in contest.standings for row in board.rows]
        return JSONResponse({"rows": rows, "state": contest.state})

    async def health(self, request: Request) -> Response:
        """Whether the ladder works."""
        contest = self._host.runner.contest
        return JSONResponse({"state": contest.state, "matches": contest.matches}, 503 if self._host.broken else 200)
