"""The Go Text Protocol, version 2 (G. Farneback, 2002), for any game that has a `dialects` entry `gtp`."""

from collections.abc import Mapping
from typing import Any

from arena import Action, State
from arena_bridges.dialects import Dialect, Gtp
from arena_bridges.engines.adapter import EngineConversation, main
from arena_bridges.engines.engine_process import EngineFault
from arena_bridges.engines.entries import EngineAgent
from arena_isolation.agent_host import Message

Setting = str | int | float | None


class GtpEngine(EngineAgent):
    """An engine that speaks GTP. `options` are commands with their argument, sent once: `{level: 5}`.

    Seconds are sent as `time_settings 0 S 1`, in whole seconds and at least one. GTP has no command for nodes and depth.
    """

    name = "gtp"
    keeps = frozenset({"seconds"})

    def __init__(self, *, options: dict[str, Setting] | None = None) -> None:
        self.options = options


class GtpConversation(EngineConversation):
    """An engine that speaks GTP."""

    protocol = "gtp"
    _dialect: Gtp

    def take(self, dialect: Dialect) -> None:
        """Keep the dialect; raises EngineFault if it is for another protocol."""
        if not isinstance(dialect, Gtp):
            raise EngineFault(f"{self.game.name}: dialects: gtp: expected a Gtp, got {dialect!r}")
        self._dialect = dialect

    def greet(self) -> None:
        """Ask for the version of its protocol."""
        version = self._ask("protocol_version")
        if version != "2":
            raise self.engine.misspoke("version 2 of GTP", version)

    def prepare(self, options: Mapping[str, Any], *, first: bool) -> None:
        """Send its options, the size of the board and komi, and clear the board."""
        for command, argument in (options.get("options") or {}).items() if first else ():
            self._ask(command if argument is None else f"{command} {argument}")
        self._ask(f"boardsize {self._dialect.size}")
        if self._dialect.komi is not None:
            self._ask(f"komi {self._dialect.komi:g}")
        self._ask("clear_board")
        if self.limits["seconds"] is not None:
            self._ask(f"time_settings 0 {max(1, int(self.limits['seconds']))} 1")
        self._own: str | None = None

    def place(self, state: State) -> None:
        """Play the stones of the position."""
        for seat, vertex in self._dialect.setup(state):
            self._put(seat, vertex)

    def play(self, state: State, action: Action) -> None:
        """Report a play, except its own, which it knows."""
        own, self._own = self._own, None
        vertex = self._dialect.vertex(state, action)
        if own is None or own.lower() != vertex.lower():
            self._put(self.game.to_move(state), vertex)

    def choose(self, state: State) -> Message:
        """Send `genmove`."""
        self._own = self._ask(f"genmove {self._dialect.colors[self.game.to_move(state)]}")
        if self._own.lower() == "resign":
            raise EngineFault(f"{self.engine.name} resigned, and so lost; matches are played to their end")
        return {"action": self._own}

    def read(self, state: State, text: str) -> Action:
        """The action of a vertex."""
        return self._dialect.action(state, text)

    def _put(self, seat: int, vertex: str) -> None:
        self._ask(f"play {self._dialect.colors[seat]} {vertex}")

    def _ask(self, command: str) -> str:
        """Its answer to a command; raises EngineFault if it is an error, or not GTP."""
        engine = self.engine
        engine.send(command)
        expected = f"an answer to {command!r} that begins with = or ?"
        said = engine.receive(expected)
        while not said:  # a blank line ends the answer before
            said = engine.receive(expected)
        if said[0] == "?":
            raise EngineFault(f"{engine.name} refuses {command!r}: {said[1:].strip() or 'it does not say why'}")
        if said[0] != "=":
            raise engine.misspoke(expected, said)
        while engine.receive("a blank line after an answer"):
            pass  # further lines of it
        return said[1:].strip()


if __name__ == "__main__":
    main(GtpConversation)
