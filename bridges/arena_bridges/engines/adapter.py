"""The adapter of an engine: it speaks the agent protocol with arena, keeps track of the match, and has the engine play."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, BinaryIO

from arena import Action, Game, State
from arena.api.cli import describe
from arena.api.match import Limits
from arena.api.run import pack, take_pipes
from arena.dialects import Dialect, dialect_of
from arena_bridges.engines.engine_process import ArenaGone, EngineFault, EngineProcess, Inbox
from arena_isolation.agent_host import Library, Message

START_SHARE = 0.9
"""The share of the seconds for a start after which an engine has failed, so that the failure can still be reported."""


class EngineConversation(ABC):
    """One engine that is spoken to in the words of its protocol, match after match."""

    protocol: str

    def __init__(self, engine: EngineProcess) -> None:
        self.engine = engine
        self.limits: Mapping[str, Any] = {}

    def begin(self, game: Game, dialect: Dialect, limits: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Have it get ready for another match; the first time it is greeted, and given its options."""
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
        """Say hello, and hear what it is."""

    @abstractmethod
    def prepare(self, options: Mapping[str, Any], *, first: bool) -> None:
        """Give it its options if this is its first match, and say that a new game begins."""

    @abstractmethod
    def place(self, state: State) -> None:
        """Give it the position in which the match begins."""

    @abstractmethod
    def play(self, state: State, action: Action) -> None:
        """Tell it of an action that was played, its own included."""

    @abstractmethod
    def choose(self, state: State) -> Message:
        """Have it move: the answer to `choose` but for its `type`, the move as it wrote it under `action`."""

    @abstractmethod
    def read(self, state: State, text: str) -> Action:
        """The action that a move stands for; ValueError if there is none."""


class Adapter:
    """Answers arena's requests with what an engine plays. After a fault the engine is ended; the next match has another one."""

    def __init__(self, kind: type[EngineConversation], command: Sequence[str], inbox: Inbox) -> None:
        self._kind = kind
        self._command = command
        self._inbox = inbox
        self._library = Library()
        self._talk: EngineConversation | None = None
        self._game: Any = None
        self._state: State = None

    def answer(self, message: Message) -> Message | None:
        """The answer to a message; None if it needs none."""
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
            raise EngineFault(f"{message['game']} does not say how it speaks {self._kind.protocol}")
        if self._talk is None:
            self._talk = self._kind(EngineProcess(self._command, self._inbox))
        engine = self._talk.engine
        engine.until, engine.stop = until, lambda: None
        self._talk.begin(game, dialect, limits, message["options"])
        engine.until = None

    def _choose(self, message: Message) -> Message:
        talk, game = self._talk, self._game
        if talk is None:
            raise EngineFault("there is no match")
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
            return {"type": "action", "illegal": f"{move!r} of {talk.engine.name} ({describe(error)})", **said}
        return {"type": "action", "action": game.format_action(self._state, action), **said}


def serve(kind: type[EngineConversation], command: Sequence[str], requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    inbox = Inbox(requests)
    adapter = Adapter(kind, command, inbox)
    try:
        while True:
            answer = adapter.answer(inbox.request())
            if answer is not None:
                replies.write(pack(answer))
                replies.flush()
    except ArenaGone:
        adapter.end()


def main(kind: type[EngineConversation]) -> None:
    """Serve the parent process with the engine that the command line names."""
    if len(sys.argv) < 2:
        sys.exit("expected the command of an engine")
    serve(kind, sys.argv[1:], *take_pipes())
