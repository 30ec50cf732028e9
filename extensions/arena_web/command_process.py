"""Commands of arena in processes of their own, which the server starts."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from arena import ArenaError
from arena.api.run import python_environment
from arena.errors import import_extension

COMPARISON_SECONDS = 60.0
COMPARISON_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The content security policy of the page, which has no script and its style in itself."""


async def start_command(words: Sequence[str]) -> asyncio.subprocess.Process:
    """Start `arena WORDS`; what it says on stderr can be read, what it prints is dropped."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "arena",
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # so that Ctrl-C reaches the server alone
        env=python_environment(),
    )


class Comparisons:
    """Makes pages of comparisons, one at a time, since each takes a processor for a second or more."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()

    async def page(self, store: Path, agents: Sequence[str]) -> bytes:
        """Compare entries of a store, or all if none is named; ArenaError says why that cannot be."""
        import_extension("arena_compare", "a page of comparisons")
        async with self._one_at_a_time:
            with TemporaryDirectory() as folder:
                file = Path(folder) / "comparison.html"
                await _run(["compare", "-o", str(file), "--", str(store), *agents])
                return file.read_bytes()


async def _run(words: Sequence[str]) -> None:
    """Run a command of arena to its end; ArenaError with what it said if it fails."""
    process = await start_command(words)
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
        raise ArenaError(said.decode("utf-8", "replace").strip().removeprefix("error: ") or "the comparison failed")
