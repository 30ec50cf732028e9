"""The tournaments of a server, which the command line names."""

import asyncio
import os
import re
import signal
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from arena_web.command_process import start_command
from arena_web.live import Watcher

STOP_SECONDS = 10.0
"""The number of seconds that a run gets to end when the server ends."""
STDERR_LINES = 40
"""The number of lines kept from the end of the stderr of a run."""
MAX_SLUG_LENGTH = 40


class ServedTournament:
    """One store with its watcher and, if the server has started one, the process that fills it."""

    def __init__(self, key: str, store: Path, spec: Path | None = None) -> None:
        self.key = key
        self.store = store
        self.spec = spec
        self.watcher = Watcher(store)
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """True while a process of the server plays."""
        return self._process is not None and self._process.returncode is None

    async def start(self, plugins: Sequence[str]) -> None:
        """Play the spec in another process with `arena run SPEC`."""
        assert self.spec is not None
        words = ["run", str(self.spec), "--store", str(self.store), "--quiet"]
        words += [word for plugin in plugins for word in ("--plugin", plugin)]
        self.watcher.starting = self.watcher.own = True
        self.watcher.trouble = None
        self._process = await start_command(words)
        self._reader = asyncio.create_task(self._listen(self._process))

    async def stop(self) -> None:
        """End the process as Ctrl-C would. The matches so far are kept, and the run can be continued."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Read the stderr of the process and keep the last lines. Report these lines if the run fails."""
        assert process.stderr is not None
        said: deque[str] = deque(maxlen=STDERR_LINES)
        while data := await process.stderr.read(1 << 14):
            said.extend(data.decode("utf-8", "replace").splitlines())
        code = await process.wait()
        self.watcher.starting = self.watcher.own = False
        if code not in (0, 130, -signal.SIGINT):
            self.watcher.trouble = "\n".join(said) or f"the run ended with exit code {code}"


class Tournaments:
    """The tournaments of a server by key. A page can name a tournament only by its key."""

    def __init__(self, listing: Path | None) -> None:
        self.listing = listing
        """The folder of the stores that are listed, including stores that are added later; None for a server of one
        store."""
        self.listed: dict[str, ServedTournament] = {}

    def show(self, store: Path, spec: Path | None = None) -> ServedTournament:
        """Show a store. If `spec` is given, it can be played, and its matches are added to the store."""
        key = self._free(slug(store.stem))
        self.listed[key] = ServedTournament(key, store, spec)
        return self.listed[key]

    def show_folder(self, stores: Iterable[Path]) -> None:
        """Show the stores that are now in the listed folder. Stores that no longer exist are dropped."""
        assert self.listing is not None
        there = dict.fromkeys(stores)
        shown = {one.store for one in self.listed.values()}
        self.listed = {key: one for key, one in self.listed.items() if one.store in there}
        for store in there:
            if store not in shown:
                key = self._free(slug(str(store.relative_to(self.listing).with_suffix(""))))
                self.listed[key] = ServedTournament(key, store)

    def place_of(self, tournament: ServedTournament) -> str:
        """Return the place of a store as lists show it: its path relative to the listed folder, or only its name."""
        return tournament.store.name if self.listing is None else str(tournament.store.relative_to(self.listing))

    async def close(self) -> None:
        """End the run that the server has started."""
        await asyncio.gather(*[one.stop() for one in self.listed.values()])

    def _free(self, stem: str) -> str:
        key, number = stem, 1
        while key in self.listed:
            number += 1
            key = f"{stem}-{number}"
        return key


def slug(name: str) -> str:
    """Return a name in lowercase letters, digits and dashes, which fits into an address and a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:MAX_SLUG_LENGTH].strip("-") or "tournament"
