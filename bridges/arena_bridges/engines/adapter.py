"""The adapter of an engine: it speaks the agent protocol with arena, follows the match, and asks the engine for moves."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from arena import Action, Game, Limits, State
from arena.api.errors import cut, describe
from arena.api.processes import PythonProcess
from arena.clock import perf_counter
from arena_bridges.dialects import Dialect, dialect_of
from arena_bridges.engines.engine_process import ArenaGone, EngineFault, EngineProcess, Inbox, quote
from arena_isolation.agent_host import Library, Message
from arena_isolation.helper_process import pack

START_SHARE = 0.9
"""The share of the start timeout after which an engine counts as failed, so that there is time to report the failure."""


class EngineConversation(ABC):
    """A client that talks to one engine in the engine's protocol, in one match after another."""

    protocol: str

    def __init__(self, engine: EngineProcess) -> None:
        self.engine = engine
        self.limits: Mapping[str, Any] = {}

    def begin(self, game: Game, dialect: Dialect, limits: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Prepare the engine for another match. Before the first match, greet it and set its options."""
        greeted, self.game, self.limits = bool(self.limits), game, limits
        self.take(dialect)
        if not greeted:
            self.greet()
        self.prepare(options, first=not greeted)

    @abstractmethod
    def take(self, dialect: Dialect) -> None:
        """Keep the dialect of the game."""

    @abstractmethod
    def greet(self) -> None:
        """Greet the engine and read its description."""

    @abstractmethod
    def prepare(self, options: Mapping[str, Any], *, first: bool) -> None:
        """Announce a new game, and before the first match, set the options of the engine."""

    @abstractmethod
    def place(self, state: State) -> None:
        """Send the first position of the match."""

    @abstractmethod
    def play(self, state: State, action: Action) -> None:
        """Report an action that was played, including the engine's own actions."""

    @abstractmethod
    def choose(self, state: State) -> Message:
        """Ask for a move. Return the reply to the message `choose`, but without the field `type`. The field `action` is the move
        in the engine's notation.
        """

    @abstractmethod
    def read(self, state: State, text: str) -> Action:
        """Return the action for a move. Raises ValueError if there is none."""


class Adapter:
    """Answers arena's requests with the moves of an engine. After a fault, it ends the engine; the next match starts another."""

    def __init__(self, kind: type[EngineConversation], command: Sequence[str], inbox: Inbox) -> None:
        self._kind = kind
        self._command = command
        self._inbox = inbox
        self._library = Library()
        self._talk: EngineConversation | None = None
        self._game: Any = None
        self._state: State = None

    def answer(self, message: Message) -> Message | None:
        """Return the answer to a message; None if it needs none."""
        kind = message["type"]
        try:
            if kind == "hello":
                return {"type": "hello", "protocol": 2, "name": f"{self._kind.protocol} {self._command[0]}", "can": ["choose"]}
            if kind == "start":
                self._start(message)
                return {"type": "ready", "drew": True}
            return self._choose(message) if kind == "choose" else None
        except EngineFault as fault:
            self.end()
            return {"type": "failed", "message": str(fault)}

    def end(self) -> None:
        """End the engine."""
        talk, self._talk = self._talk, None
        if talk is not None:
            talk.engine.end()

    def _start(self, message: Message) -> None:
        limits = message["limits"]
        until = perf_counter() + START_SHARE * message.get("start_seconds", Limits().start_seconds)
        registry = self._library.registry(message.get("plugins", ()))
        self._game = game = registry.game(message["game"])(**message["parameters"])
        dialect = dialect_of(game, self._kind.protocol)
        if dialect is None:
            raise EngineFault(f"{message['game']} has no dialect for {self._kind.protocol}")
        if self._talk is None:
            self._talk = self._kind(EngineProcess(self._command, self._inbox))
        engine = self._talk.engine
        engine.until, engine.stop = until, lambda: None
        self._talk.begin(game, dialect, limits, message["options"])
        engine.until = None

    def _choose(self, message: Message) -> Message:
        talk, game = self._talk, self._game
        if talk is None:
            raise EngineFault("no match was started")
        if "position" in message:
            self._state = game.parse_state(message["position"])
            talk.place(self._state)
        for text in message["played"]:
            action = game.parse_action(self._state, text)
            talk.play(self._state, action)
            self._state = game.result(self._state, action)
        said = talk.choose(self._state)
        move = said.pop("action")
        try:
            action = talk.read(self._state, move)
        except Exception as error:
            return {"type": "action", "illegal": f"{quote(move)} of {talk.engine.name} ({cut(describe(error), 300)})", **said}
        return {"type": "action", "action": game.format_action(self._state, action), **said}


def serve(kind: type[EngineConversation], command: Sequence[str], requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until the end of the input."""
    inbox = Inbox(requests)
    adapter = Adapter(kind, command, inbox)
    try:
        while True:
            answer = adapter.answer(inbox.request())
            if answer is not None:
                replies.write(pack(answer))
                replies.flush()
    except ArenaGone:
        pass
    finally:
        adapter.end()
        inbox.close()


def main(kind: type[EngineConversation]) -> None:
    """Answer the requests of the parent process with the engine whose command is on the command line."""
    if len(sys.argv) < 2:
        sys.exit("expected the command of an engine")
    serve(kind, sys.argv[1:], *PythonProcess.take_pipes())
