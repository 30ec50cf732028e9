"""The page of a comparison, made by another process: `arena compare STORE AGENT AGENT -o FILE`."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from arena.errors import ArenaError
from arena.web.command_process import start_command

DEADLINE = 60.0
"""Seconds that a comparison may take."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The content security policy of the page, which has no script and its style in itself."""


class Comparisons:
    """Makes pages of comparisons, one at a time, since each takes a processor for a second or more."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()

    async def page(self, store: Path, agents: Sequence[str]) -> bytes:
        """Compare entries of a store, or all if none is named; ArenaError says why that cannot be."""
        async with self._one_at_a_time:
            with TemporaryDirectory() as folder:
                file = Path(folder) / "comparison.html"
                await _run(["compare", "-o", str(file), "--", str(store), *agents])
                return file.read_bytes()


async def _run(words: Sequence[str]) -> None:
    """Run a command of arena to its end; ArenaError with what it said if it fails."""
    process = await start_command(words)
    try:
        _, said = await asyncio.wait_for(process.communicate(), DEADLINE)
    except TimeoutError:
        raise ArenaError(f"the comparison took more than {DEADLINE:g} s; name two agents") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode != 0:
        raise ArenaError(said.decode("utf-8", "replace").strip().removeprefix("error: ") or "the comparison failed")
