"""The Go Text Protocol, version 2 (G. Farneback, 2002), for any game that has a `dialects` entry `gtp`."""

from collections.abc import Mapping
from typing import Any

from arena import Action, State
from arena_bridges.dialects import Dialect, Gtp
from arena_bridges.engines.adapter import EngineConversation, main
from arena_bridges.engines.engine_process import MAX_ANSWER_BYTES, EngineFault, quote
from arena_bridges.engines.entries import EngineAgent
from arena_isolation.agent_host import Message

Setting = str | int | float | None


class GtpEngine(EngineAgent):
    """An engine that speaks GTP. `options` are commands with an argument, such as `{level: 5}`, which are sent once.

    A time limit is sent as `time_settings 0 S 1`, in whole seconds and at least 1. GTP has no commands for nodes and depth.
    """

    name = "gtp"
    keeps = frozenset({"seconds"})

    def __init__(self, *, options: dict[str, Setting] | None = None) -> None:
        self.options = options


class GtpConversation(EngineConversation):
    """A conversation with an engine that speaks GTP."""

    protocol = "gtp"
    _dialect: Gtp

    def take(self, dialect: Dialect) -> None:
        """Keep the dialect. Raises EngineFault if it is for another protocol."""
        if not isinstance(dialect, Gtp):
            raise EngineFault(f"{self.game.name}: dialects: gtp: expected a Gtp, got {dialect!r}")
        self._dialect = dialect

    def greet(self) -> None:
        """Ask for the version of the engine's protocol."""
        version = self._ask("protocol_version")
        if version != "2":
            raise self.engine.misspoke("version 2 of GTP", version)

    def prepare(self, options: Mapping[str, Any], *, first: bool) -> None:
        """Send the engine's options, the size of the board and the komi, and clear the board."""
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
        """Report a play, unless it is the engine's own."""
        own, self._own = self._own, None
        vertex = self._dialect.vertex(state, action)
        if own is None or own.lower() != vertex.lower():
            self._put(self.game.to_move(state), vertex)

    def choose(self, state: State) -> Message:
        """Send `genmove`."""
        self._own = self._ask(f"genmove {self._dialect.colors[self.game.to_move(state)]}")
        if self._own.lower() == "resign":
            raise EngineFault(f"{self.engine.name} resigned, which counts as a loss, because matches are played to their end")
        return {"action": self._own}

    def read(self, state: State, text: str) -> Action:
        """Return the action for a vertex."""
        return self._dialect.action(state, text)

    def _put(self, seat: int, vertex: str) -> None:
        self._ask(f"play {self._dialect.colors[seat]} {vertex}")

    def _ask(self, command: str) -> str:
        """Return the engine's answer to a command. Raises EngineFault if it is an error, or not GTP."""
        engine = self.engine
        engine.send(command)
        engine.bytes_left = MAX_ANSWER_BYTES
        expected = f"an answer to {command!r} that begins with = or ?"
        said = engine.receive(expected)
        while not said:  # a blank line ends the previous answer
            said = engine.receive(expected)
        if said[0] == "?":
            reason = said[1:].strip()
            raise EngineFault(f"{engine.name} refuses {command!r}" + (f": {quote(reason)}" if reason else " without a reason"))
        if said[0] != "=":
            raise engine.misspoke(expected, said)
        while engine.receive("a blank line after an answer"):
            pass  # skip further lines of the answer
        return said[1:].strip()


if __name__ == "__main__":
    main(GtpConversation)
