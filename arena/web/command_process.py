"""A command of arena in a process of its own, which the server starts."""

import asyncio
import sys
from collections.abc import Sequence

from arena.processes.child import python_environment


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
