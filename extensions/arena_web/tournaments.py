"""The tournaments of a server: the one given at its start, and the ones started on its pages."""

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
"""The folder for specs from pages and their stores, relative to the working directory of the server."""
STOP_SECONDS = 10.0
"""Seconds for a run to end when the server does."""
STDERR_LINES = 40
"""The number of last lines kept of a run's stderr."""
MAX_SLUG_LENGTH = 40


class Underway(ArenaError):
    """A tournament that the server has started is still going on."""


class ServedTournament:
    """One store with its watcher, and the process that fills it if the server has started one."""

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
        """End its process as Ctrl-C would: the matches so far are safe, and can be gone on with."""
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
        """Keep the end of its stderr, and report it if the run fails."""
        assert process.stderr is not None
        said: deque[str] = deque(maxlen=STDERR_LINES)
        while data := await process.stderr.read(1 << 14):
            said.extend(data.decode("utf-8", "replace").splitlines())
        code = await process.wait()
        self.watcher.starting = self.watcher.own = False
        if code not in (0, 130, -signal.SIGINT):
            self.watcher.trouble = "\n".join(said) or f"the run ended with exit code {code}"


class Tournaments:
    """The tournaments of a server by their keys, which are all that a page can name."""

    def __init__(self, plugins: Sequence[str], listing: Path | None) -> None:
        self._plugins = tuple(plugins)
        self.listing = listing
        """The folder whose stores are listed, those that come later too; None for a server of one store."""
        self._starting = asyncio.Lock()
        self.listed: dict[str, ServedTournament] = {}

    def show(self, store: Path, spec: Path | None = None) -> ServedTournament:
        """Show a store, and with a spec, what can be run into it."""
        key = self._free(slug(store.stem))
        self.listed[key] = ServedTournament(key, store, spec)
        return self.listed[key]

    def show_folder(self, stores: Iterable[Path]) -> None:
        """Show the stores that the listed folder has now; those that are gone no more, unless they were started here."""
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
        """Return where a store lies, as a list tells it: in the listed folder from there, else its name alone."""
        inside = self.listing is not None and tournament.store.is_relative_to(self.listing)
        return str(tournament.store.relative_to(self.listing)) if inside and self.listing is not None else tournament.store.name

    def save(self, name: str, text: str) -> Path:
        """Keep a spec in the server's own folder, under a name made from the tournament's, and never over another."""
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
        """Start a saved spec; Underway where another one that was started here is not over."""
        async with self._starting:  # of two at once, such as of a double click, the second finds the first
            self.check_free()
            store = spec.with_suffix(".db")
            known = next((one for one in self.listed.values() if one.store == store), None)
            tournament = known or self.show(store, spec)
            await tournament.start(self._plugins)
        return tournament

    def check_free(self) -> None:
        """Underway where a tournament that was started here is not over."""
        busy = next((one for one in self.listed.values() if one.running), None)
        if busy is not None:
            raise Underway(f"{busy.key} is still being played; stop it, or wait for it to end")

    async def close(self) -> None:
        """End all that was started."""
        await asyncio.gather(*[one.stop() for one in self.listed.values()])

    def _free(self, stem: str) -> str:
        key, number = stem, 1
        while key in self.listed:
            number += 1
            key = f"{stem}-{number}"
        return key


def slug(name: str) -> str:
    """A name in small letters, digits and dashes, fit for an address and for a file."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:MAX_SLUG_LENGTH].strip("-") or "tournament"
