"""A seat whose agent runs in a process of its own: asked in messages, its answers turned into actions by the rules here."""

import os
from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex
from time import perf_counter, thread_time
from typing import Any

from arena.configured import settings
from arena.errors import GameError, IsolationError, Unavailable, describe
from arena.game import Action, Game, Puzzle, State, gives
from arena.identity import position_seed, program_seed, seat_seed
from arena.isolation import protocol
from arena.isolation.agent_process import AgentLost, AgentProcess, AgentProcesses
from arena.isolation.protocol import Broken
from arena.limits import MARGIN
from arena.match.chance_streams import has_chance
from arena.match.match import Match, Position, Program, Seat
from arena.match.player import UNANSWERING, Ending, Forfeit, Player, Unreadable, Used, checked, local_player
from arena.match.record import Reason
from arena.match.referee import PlayerMaker
from arena.outcome import Answer, Path
from arena.search import SharedStart

SOLVE = protocol.line({"type": "solve"})
Reading = Callable[[Mapping[str, Any], State], Any]
"""Makes an action or a solution of an answer."""


def player_maker(processes: AgentProcesses) -> PlayerMaker:
    """Return a maker of players that gives each agent the isolation of its seat, those of other processes out of `processes`."""

    def make(match: Match, number: int, start: SharedStart, played: Sequence[str]) -> Player:
        if match.seats[number].isolation == "none":
            return local_player(match, number, start, played)
        return RemotePlayer(match, number, processes, played)

    return make


class RemotePlayer:
    """An agent in a process of its own."""

    def __init__(self, match: Match, number: int, hosts: AgentProcesses, played: Sequence[str]) -> None:
        self.number = number
        self.seat = seat = match.seats[number]
        self.used_rng = False
        self.compiled = False
        self.used: Used = ()
        self.fallbacks = 0
        self.overrun: float | None = None
        self.started: float | None = None
        self.lack_of_cpu = self.cpu = 0.0
        self.exchanges: tuple[str, ...] = ()
        assert seat.program is not None
        self._program: Program = seat.program
        self._match = match
        self._game = match.game
        self._hosts = hosts
        self._limits = seat.limits
        self._played = played
        self._told = 0
        self._observes = gives(match.game, "observation")
        self._deal = f"{match.position.key}/{match.repetition}" if self._observes or has_chance(match.game) else None
        self._place: dict[str, Any] = {}
        """The position, until the first decision of a program that gets it then."""
        self._spent = 0.0
        """Seconds on the clock of the next decision before it begins."""
        self._until = 0.0
        """Processor time of this thread at which the clock of a decision has run out."""
        self._guest = any(other.isolation == "none" for other in match.seats)  # who decides here stops nobody meanwhile
        self._host: AgentProcess | None = None

    def make_agent(self) -> None:
        """Take a process and have it make the agent; a Forfeit where that fails."""
        self.leave()  # where the backend of the agent did not answer, it is made again
        try:
            self._host = self._hosts.take(self._program, self._limits, self.seat.isolation, self._deal)
            if self._observes and not self._host.observes:
                name, game = self.seat.label, self._game.name
                hint = 'its hello must have "observe" in `can`, and its answers follow from `observation` and `legal`'
                raise IsolationError(f"{name} cannot play {game}: {game} has hidden-information; {hint}")
            self._host.begin()
            started = self._begun(self._host)
        except AgentLost as lost:
            raise self._lost(lost) from lost
        if self._guest:
            self._hosts.settle()
        self._understood(self._ready, started)
        self._prepare(self._host)

    def _prepare(self, host: AgentProcess) -> None:
        """Have it load the compiled search that its agent asks for, once a game and heuristic, before any clock runs."""
        from arena.compiled import cache, seam

        if self._program.command is not None or not host.alive or not seam.available():
            return
        key = id(self._game), self.seat.heuristic
        if host.prepared.get(key) is not self._game:
            host.prepared[key] = self._game
            try:
                own = self._program.version is not None
                host.prepare(compiling=own and os.environ.get(cache.COMPILE) in ("always", cache.OWN))
            except AgentLost as lost:
                raise self._lost(lost) from lost
            if self._guest:
                self._hosts.settle()

    def _begun(self, host: AgentProcess) -> dict[str, Any]:
        """Have it begin a match, and return the answer.

        A program of protocol 1 has the position from now on, so its clock runs, if it has one.
        """
        request, limits = _start(self._match, self.number, self._program, _position(self._match, self.number)), self._limits
        seconds = limits.start_seconds
        clock = limits.seconds if host.speaks == protocol.VERSION else None
        if clock is not None:
            seconds = min(seconds, clock + MARGIN)
        if host.speaks != protocol.VERSION:
            self._place = {"position": request.pop("position")}
            if self._program.command is None:
                self._place["stream"] = position_seed(self._match.position.key, "start")
        began = perf_counter()
        try:
            answer = host.ask(protocol.line(request), seconds, what="its start")
        finally:
            self.started = perf_counter() - began
        self._spent = 0.0 if clock is None else self.started
        return answer

    @property
    def solver(self) -> bool:
        """True if it solves a puzzle in one go."""
        if self._program.command is None or self._host is None:
            return self.seat.solver
        return self._host.solves

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it if it is legal; a Forfeit otherwise."""
        return checked(self.number, self._asked(self._request(state, legal), self._action, state), legal)

    def _request(self, state: State, legal: Sequence[Action]) -> bytes:
        if self._observes:
            return _observed(self._game, state, self.number, legal)
        actions = self._played
        told = self._told
        self._told = len(actions)
        if self._place:
            return protocol.line({"type": "choose", **self._placed(), "played": actions[told:]})
        return protocol.choose_line(actions[told:])

    def solve(self, state: State) -> Any:
        """Ask for a solution; None where the agent gave up."""
        line = protocol.line({"type": "solve", **self._placed()}) if self._place else SOLVE
        return self._asked(line, self._solution, state)

    def _placed(self) -> dict[str, Any]:
        """The position, once."""
        place, self._place = self._place, {}
        return place

    def leave(self) -> None:
        """Give the process back for the next match."""
        if self._host is not None:
            self.lack_of_cpu, self.cpu = self._host.processors()
            self._hosts.give_back(self._host, self._program, self._limits, self.seat.isolation)
            self._host = None

    def _asked(self, request: bytes, read: Reading, state: State) -> Any:
        """What `read` makes of the answer to a request. Until then the clock of the decision runs."""
        assert self._host is not None
        self.used = ()
        limit, spent, self._spent = self._limits.seconds, self._spent, 0.0
        began = perf_counter() - spent
        try:
            answer = self._host.ask(
                request, None if limit is None else max(limit - spent, 0.0), MARGIN, cpu_seconds=self._limits.cpu_seconds
            )
        except AgentLost as lost:
            self.used = (0, 0, perf_counter() - began, None, None, None, 0)
            if limit is not None and spent and lost.overrun is not None:
                more = f", of which its start had taken {spent:.2g} s" if spent > limit / 10 else ""
                lost.message = f"a decision took longer than its limit of {limit:g} s{more}"
            raise self._lost(lost) from lost
        seconds = perf_counter() - began
        if self._guest:
            self._hosts.settle()
        self._understood(self._note, answer, seconds)
        if limit is None:
            return self._understood(read, answer, state)
        self._until = thread_time() + max(limit - seconds, 0.0) + MARGIN
        found = self._understood(read, answer, state)
        self._check_time()
        return found

    def _check_time(self) -> None:
        """A Forfeit where the clock of a decision has run out while its answer is read: in processor time of this thread."""
        late = thread_time() - self._until
        if self._limits.seconds is not None and late > 0.0:
            self.overrun = late + MARGIN
            message = f"a decision took longer than its limit of {self._limits.seconds:g} s, with the reading of its answer"
            raise Forfeit(Ending("timeout", self.number, message))

    def _note(self, answer: Mapping[str, Any], seconds: float) -> None:
        used = protocol.used(answer)
        self.used = (used.nodes, used.evaluations, seconds, used.depth, used.value, used.spent, used.unmetered)
        self.fallbacks += protocol.flag(answer, "fallback", default=False)
        self.used_rng = protocol.flag(answer, "drew", default=self._program.command is not None)
        self.compiled |= self._program.command is None and protocol.flag(answer, "compiled", default=False)
        if self._transcribes:
            self.exchanges += protocol.transcript(answer)
        if answer["type"] == "failed":
            raise self._failed(answer)

    @property
    def _transcribes(self) -> bool:
        """Whether it may write to the file beside the store: an agent of the organiser's, not whoever hands one in."""
        version = self._program.version
        return self._program.command is None and (version is None or not version.submitted)

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
        return _parsed(self._game.parse_action, state, protocol.action_of(answer))

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
        texts = protocol.path_of(answer)
        for text in texts:
            self._check_time()
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
        return actions + list(texts[len(actions) :])

    def _answer(self, answer: Mapping[str, Any]) -> Any:
        steps: Any = protocol.steps_of(answer)
        if "illegal_steps" in answer:
            steps = Unreadable(protocol.text_of(answer, "illegal_steps"))
        if "illegal" in answer:
            return Answer(Unreadable(protocol.text_of(answer, "illegal")), steps)
        text = protocol.text_of(answer, "state")
        if isinstance(self._game, Puzzle) and self._game.path_matters:
            return Answer(None, steps)  # whatever it says, no state is a solution
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

    def _failed(self, answer: Mapping[str, Any]) -> Forfeit | Unavailable:
        unanswering = UNANSWERING.get(str(answer.get("kind")))
        if unanswering is not None:
            return unanswering(protocol.message_of(answer, "message") or self.seat.label)
        reason: Reason = "memory" if answer.get("kind") == "memory" else "exception"
        message = protocol.message_of(answer, "message")
        return Forfeit(Ending(reason, self.number, message, protocol.message_of(answer, "traceback")))


def _parsed(parse: Callable[[State, str], Action], state: State, text: str) -> Any:
    try:
        return parse(state, text)
    except Exception:  # a plugin's parser, and a text from anywhere
        return Unreadable(repr(text[:120]))


def _observed(game: Game, state: State, seat: int, legal: Sequence[Action]) -> bytes:
    """The request for an action from what a seat observes; GameError where the notation of that loses something."""
    seen = game.observation(state, seat)
    text = game.format_state(seen)
    try:
        same = game.parse_state(text) == seen
    except ValueError:
        same = False
    if not same:
        raise GameError(f"{game.name}: the observation {text} does not read back; parse_state must take what format_state gives")
    return protocol.observed_line(text, [game.format_action(seen, action) for action in legal])


def _position(match: Match, number: int) -> str:
    """The text of the position as a seat may see it."""
    if not gives(match.game, "observation"):
        return match.position.text
    return match.game.format_state(match.game.observation(match.position.state, number))


def plain_reason(seat: Seat, game: Game) -> str | None:
    """Return why compiled searches run plain in the process of a seat, None where they do not, as far as can be told at once.

    IsolationError where the process cannot be started, AgentLost where it does not do as it should.
    """
    assert seat.program is not None
    nowhere = Position("", None, "")
    match = Match("", game, nowhere, (seat,) * game.players, None)
    process = AgentProcess(seat.program, seat.limits.memory_mb, seat.isolation)
    try:
        request = {**_start(match, 0, seat.program, ""), "streams": {"seat": 0}}
        if process.ask(protocol.line(request), seat.limits.start_seconds, what="its start")["type"] != "ready":
            return None  # the match tells
        return process.prepare(compiling=False)
    finally:
        process.end()


def _start(match: Match, number: int, program: Program, position: str) -> dict[str, Any]:
    seat = match.seats[number]
    limits = seat.limits
    message = {
        "type": "start",
        "match": token_hex(16),  # from the id of a match, and a seed that can be guessed, all of its streams would follow
        "game": match.game.name,
        "parameters": settings(match.game),
        "position": position,
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
        message["streams"] = {"seat": seat_seed(match.id, number)}
    elif program.adapter is not None:
        message["plugins"] = list(program.plugins)
        message["start_seconds"] = limits.start_seconds
    return message
