"""The tournaments of a server: those that the command line names, and those that were started from its pages."""

import asyncio
import os
import re
import signal
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from arena import ArenaError
from arena_web.command_process import start_command
from arena_web.live import Watcher

SPEC_FOLDER = Path("results") / "web"
"""The folder for specs from pages and for their stores, relative to the working directory of the server."""
STOP_SECONDS = 10.0
"""The number of seconds that a run gets to end when the server ends."""
STDERR_LINES = 40
"""The number of lines kept from the end of the stderr of a run."""
MAX_SLUG_LENGTH = 40


class Underway(ArenaError):
    """A tournament that the server started is still running."""


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

    def __init__(self, plugins: Sequence[str], listing: Path | None) -> None:
        self._plugins = tuple(plugins)
        self.listing = listing
        """The folder whose stores are listed, including stores that are added later; None for a server of one store."""
        self._starting = asyncio.Lock()
        self.listed: dict[str, ServedTournament] = {}

    def show(self, store: Path, spec: Path | None = None) -> ServedTournament:
        """Show a store. If `spec` is given, it can be played, and its matches are added to the store."""
        key = self._free(slug(store.stem))
        self.listed[key] = ServedTournament(key, store, spec)
        return self.listed[key]

    def show_folder(self, stores: Iterable[Path]) -> None:
        """Show the stores that are now in the listed folder. Stores that no longer exist are dropped, unless they were started
        here.
        """
        assert self.listing is not None
        there = dict.fromkeys(stores)
        shown = {one.store for one in self.listed.values()}
        for key, one in list(self.listed.items()):
            if one.store.is_relative_to(self.listing) and one.store not in there and one.spec is None:
                del self.listed[key]
        for store in there:
            if store not in shown:
                key = self._free(slug(str(store.relative_to(self.listing).with_suffix(""))))
                self.listed[key] = ServedTournament(key, store)

    def place_of(self, tournament: ServedTournament) -> str:
        """Return the place of a store as lists show it: its path relative to the listed folder, or only its name."""
        inside = self.listing is not None and tournament.store.is_relative_to(self.listing)
        return str(tournament.store.relative_to(self.listing)) if inside and self.listing is not None else tournament.store.name

    def save(self, name: str, text: str) -> Path:
        """Save a spec in the folder of the server, under a name made from the name of the tournament. Existing files are never
        overwritten.
        """
        SPEC_FOLDER.mkdir(parents=True, exist_ok=True)
        stem, number = slug(name), 1
        while True:
            path = SPEC_FOLDER / (f"{stem}.yaml" if number == 1 else f"{stem}-{number}.yaml")
            if path.exists() and path.read_text(encoding="utf-8") == text:
                return path
            try:
                with path.open("x", encoding="utf-8") as file:
                    file.write(text)
            except FileExistsError:
                number += 1
            else:
                return path

    async def start(self, spec: Path) -> ServedTournament:
        """Start a saved spec; raises Underway if another tournament that was started here is still running."""
        async with self._starting:  # if two starts come at once, for example by a double click, the second finds the first
            self.check_free()
            store = spec.with_suffix(".db")
            known = next((one for one in self.listed.values() if one.store == store), None)
            tournament = known or self.show(store, spec)
            await tournament.start(self._plugins)
        return tournament

    def check_free(self) -> None:
        """Raise Underway if a tournament that was started here is still running."""
        busy = next((one for one in self.listed.values() if one.running), None)
        if busy is not None:
            raise Underway(f"{busy.key} is still being played; stop it, or wait for it to end")

    async def close(self) -> None:
        """End everything that was started."""
        await asyncio.gather(*[one.stop() for one in self.listed.values()])

    def _free(self, stem: str) -> str:
        key, number = stem, 1
        while key in self.listed:
            number += 1
            key = f"{stem}-{number}"
        return key


def slug(name: str) -> str:
    """Return a name in small letters, digits and dashes, which fits into an address and a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:MAX_SLUG_LENGTH].strip("-") or "tournament"
