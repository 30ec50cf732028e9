"""A seat whose agent runs in a process of its own: asked in messages, its answers turned into actions by the rules here."""

from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex
from time import perf_counter
from typing import Any

from arena.configured import settings
from arena.errors import describe
from arena.game import Action, Game, State
from arena.identity import position_seed, program_seed, seat_seed
from arena.isolation import protocol
from arena.isolation.agent_process import STARTING, AgentLost, AgentProcess, AgentProcesses
from arena.isolation.protocol import Broken
from arena.limits import MARGIN
from arena.match.match import Match, Program
from arena.match.player import Ending, Forfeit, LocalPlayer, Player, Unreadable, Used, checked
from arena.match.record import Reason
from arena.match.referee import PlayerMaker
from arena.outcome import Answer, Path
from arena.search import SharedStart

SOLVE = protocol.line({"type": "solve"})


def player_maker(processes: AgentProcesses) -> PlayerMaker:
    """Return a maker of players that gives each agent the isolation of its seat, those of other processes out of `processes`."""

    def make(match: Match, number: int, start: SharedStart, played: Sequence[str]) -> Player:
        if match.seats[number].isolation == "none":
            return LocalPlayer(match, number, start, played)
        return RemotePlayer(match, number, processes, played)

    return make


class RemotePlayer:
    """An agent in a process of its own."""

    def __init__(self, match: Match, number: int, hosts: AgentProcesses, played: Sequence[str]) -> None:
        self.number = number
        self.seat = seat = match.seats[number]
        self.used_rng = False
        self.used: Used = ()
        self.fallbacks = 0
        self.overrun: float | None = None
        self.lack_of_cpu = self.cpu = 0.0
        assert seat.program is not None
        self._program: Program = seat.program
        self._match = match
        self._game = match.game
        self._hosts = hosts
        self._limits = seat.limits
        self._played = played
        self._told = 0
        self._guest = any(other.isolation == "none" for other in match.seats)  # who decides here stops nobody meanwhile
        self._host: AgentProcess | None = None

    def make_agent(self) -> None:
        """Take a process and have it make the agent; a Forfeit where that fails."""
        try:
            self._host = self._hosts.take(self._program, self._limits, self.seat.isolation)
            self._host.begin()
            started = self._host.ask(protocol.line(_start(self._match, self.number, self._program)), STARTING)
        except AgentLost as lost:
            raise self._lost(lost) from lost
        if self._guest:
            self._hosts.settle()
        self._understood(self._ready, started)

    @property
    def solver(self) -> bool:
        """True if it solves a puzzle in one go."""
        if self._program.command is None or self._host is None:
            return self.seat.solver
        return self._host.solves

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it if it is legal; a Forfeit otherwise."""
        actions = self._played
        told = self._told
        self._told = len(actions)
        answer = self._asked(protocol.choose_line(actions[told:]))
        return checked(self.number, self._understood(self._action, answer, state), legal)

    def solve(self, state: State) -> Any:
        """Ask for a solution; None where the agent gave up."""
        return self._understood(self._solution, self._asked(SOLVE), state)

    def leave(self) -> None:
        """Give the process back for the next match."""
        if self._host is not None:
            self.lack_of_cpu, self.cpu = self._host.processors()
            self._hosts.give_back(self._host, self._program, self._limits, self.seat.isolation)
            self._host = None

    def _asked(self, request: bytes) -> dict[str, Any]:
        assert self._host is not None
        self.used = ()
        began = perf_counter()
        try:
            answer = self._host.ask(request, self._limits.seconds, MARGIN, self._limits.cpu_seconds)
        except AgentLost as lost:
            self.used = (0, 0, perf_counter() - began, None, None)
            raise self._lost(lost) from lost
        seconds = perf_counter() - began
        if self._guest:
            self._hosts.settle()
        self._understood(self._note, answer, seconds)
        return answer

    def _note(self, answer: Mapping[str, Any], seconds: float) -> None:
        used = protocol.used(answer)
        self.used = (used.nodes, used.evaluations, seconds, used.depth, used.value)
        self.fallbacks += protocol.flag(answer, "fallback", default=False)
        self.used_rng = protocol.flag(answer, "drew", default=self._program.command is not None)
        if answer["type"] == "failed":
            raise self._failed(answer)

    def _ready(self, answer: Mapping[str, Any]) -> None:
        protocol.expected(answer, "ready", "failed")
        self.used_rng = protocol.flag(answer, "drew", default=False)
        if answer["type"] == "failed":
            raise self._failed(answer)

    def _action(self, answer: Mapping[str, Any], state: State) -> Any:
        protocol.expected(answer, "action", "best")
        if "illegal" in answer:
            return Unreadable(protocol.text_of(answer, "illegal"))
        if answer.get("action") is None:
            return None
        return _parsed(self._game.parse_action, state, protocol.text_of(answer, "action"))

    def _solution(self, answer: Mapping[str, Any], state: State) -> Any:
        protocol.expected(answer, "path", "answer", "none", "other", "best")
        if "actions" in answer:
            return Path(self._path(answer, state))
        if "state" in answer or "illegal" in answer:
            return self._answer(answer)
        return Unreadable(protocol.text_of(answer, "is")) if answer["type"] == "other" else None

    def _path(self, answer: Mapping[str, Any], state: State) -> list[Any]:
        game = self._game
        actions: list[Any] = []
        for text in protocol.texts_of(answer, "actions"):
            action = _parsed(game.parse_action, state, text)
            actions.append(action)
            if type(action) is Unreadable:
                return actions
            if len(actions) > self._limits.moves:
                break  # it is too long, whatever follows
            state = game.result(state, action)
        if "illegal" in answer:
            fault = self._failed(protocol.object_of(answer, "failed")) if "failed" in answer else None
            actions.append(Unreadable(protocol.text_of(answer, "illegal"), fault))
        missing = protocol.texts_of(answer, "actions")[len(actions) :]
        return actions + list(missing)

    def _answer(self, answer: Mapping[str, Any]) -> Any:
        steps: Any = protocol.steps_of(answer)
        if "illegal_steps" in answer:
            steps = Unreadable(protocol.text_of(answer, "illegal_steps"))
        if "illegal" in answer:
            return Answer(Unreadable(protocol.text_of(answer, "illegal")), steps)
        text = protocol.text_of(answer, "state")
        try:
            state = self._game.parse_state(text)
        except Exception as error:
            message = f"expected a state of {self._game.name}, got {text[:120]!r} ({describe(error)})"
            raise Forfeit(Ending("illegal-action", self.number, message)) from error
        return Answer(state, steps)

    def _understood(self, read: Callable[..., Any], answer: Mapping[str, Any], *more: Any) -> Any:
        """The result of `read` for an answer; if that breaks the protocol, the process is ended and the seat at fault."""
        try:
            return read(answer, *more)
        except Broken as broken:
            assert self._host is not None
            raise self._lost(self._host.lost("crash", str(broken))) from broken

    def _lost(self, lost: AgentLost) -> Forfeit:
        if lost.overrun is not None:
            self.overrun = lost.overrun
        return Forfeit(Ending(lost.reason, self.number, lost.message))

    def _failed(self, answer: Mapping[str, Any]) -> Forfeit:
        reason: Reason = "memory" if answer.get("kind") == "memory" else "exception"
        message = protocol.message_of(answer, "message")
        return Forfeit(Ending(reason, self.number, message, protocol.message_of(answer, "traceback")))


def _parsed(parse: Callable[[State, str], Action], state: State, text: str) -> Any:
    try:
        return parse(state, text)
    except Exception:  # a plugin's parser, and a text from anywhere
        return Unreadable(repr(text[:120]))


def _start(match: Match, number: int, program: Program) -> dict[str, Any]:
    seat = match.seats[number]
    limits = seat.limits
    message = {
        "type": "start",
        "match": token_hex(16),  # from the id of a match, and a seed that can be guessed, all of its streams would follow
        "game": match.game.name,
        "parameters": plain_settings(match.game),
        "position": match.position.text,
        "seat": number,
        "players": len(match.seats),
        "seed": program_seed(match.id, number),
        "limits": {"nodes": limits.nodes, "seconds": limits.seconds, "depth": limits.depth, "moves": limits.moves}
        | ({} if limits.cpu_seconds is None else {"cpu_seconds": limits.cpu_seconds}),
        "options": dict(program.options),
    }
    if program.command is None:
        message["agent"] = program.agent
        message["heuristic"] = program.heuristic
        message["plugins"] = list(program.plugins)
        if program.version is not None:
            message["version"] = program.version.plugin
        message["streams"] = {"seat": seat_seed(match.id, number), "start": position_seed(match.position.key, "start")}
    return message


def plain_settings(game: Game) -> dict[str, Any]:
    """The parameters of a game as JSON says them."""
    return dict(settings(game))
