"""Runs commands of arena in separate processes for the server."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import anyio.to_thread

from arena import ArenaError
from arena.api.processes import PythonProcess
from arena.clock import monotonic
from arena_web.live import state_signature

COMPARISON_SECONDS = 60.0
COMPARISON_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The content security policy of a page of comparisons. Such a page has an inline style and no script."""


async def start_command(words: Sequence[str]) -> asyncio.subprocess.Process:
    """Start `arena WORDS`. Its stderr can be read; its stdout is discarded."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "arena",
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # so that Ctrl-C reaches only the server
        env=PythonProcess.environment(),
    )


MAX_KEPT_PAGES = 20
KEPT_SECONDS = 30.0
"""Seconds for which a cached page is still served after its store has grown."""


class KeptPage(NamedTuple):
    """A page of comparisons, and the state that its store had before the page was made."""

    content: bytes
    signature: object
    made: float


class Comparisons:
    """Generates pages of comparisons and caches the most recent ones. It generates one page at a time, because each takes some
    CPU seconds.
    """

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._kept: dict[tuple[Path, tuple[str, ...]], KeptPage] = {}

    async def find(self, store: Path, agents: Sequence[str]) -> bytes | None:
        """Return the cached page if it is as new as its store or only slightly older; None if it has to be generated."""
        kept = self._kept.get((store, tuple(agents)))
        if kept is None:
            return None
        fresh = monotonic() - kept.made < KEPT_SECONDS or kept.signature == await anyio.to_thread.run_sync(state_signature, store)
        return kept.content if fresh else None

    async def page(self, store: Path, agents: Sequence[str]) -> bytes:
        """Return the page that compares entries of a store, by default all entries; raises ArenaError if that fails."""
        async with self._one_at_a_time:
            if (found := await self.find(store, agents)) is not None:
                return found
            signature = await anyio.to_thread.run_sync(state_signature, store)
            content = await self._make(store, agents)
            self._kept.pop((store, tuple(agents)), None)
            self._kept[store, tuple(agents)] = KeptPage(content, signature, monotonic())
            while len(self._kept) > MAX_KEPT_PAGES:
                del self._kept[next(iter(self._kept))]
            return content

    async def _make(self, store: Path, agents: Sequence[str]) -> bytes:
        """Run `arena compare` in a separate process."""
        with TemporaryDirectory() as folder:
            file = Path(folder) / "comparison.html"
            process = await start_command(["compare", "-o", str(file), "--", str(store), *agents])
            try:
                _, said = await asyncio.wait_for(process.communicate(), COMPARISON_SECONDS)
            except TimeoutError:
                raise ArenaError(f"the comparison took more than {COMPARISON_SECONDS:g} s; name two agents") from None
            finally:
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    await process.wait()
            if process.returncode != 0:
                reason = said.decode("utf-8", "replace").strip().removeprefix("error: ")
                raise ArenaError(reason or "the comparison failed")
            return file.read_bytes()
