"""Players for seats whose agents run in separate processes. An agent gets requests as messages; this process interprets the
answers by the rules of the game.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from math import inf
from secrets import token_hex
from typing import Any

from arena import Action, Agent, Answer, ArenaError, Game, GameError, Path, Puzzle, State, Unavailable
from arena.api.errors import describe
from arena.api.games import gives, settings
from arena.api.match import (
    EngineUse,
    Forfeit,
    Match,
    Player,
    Position,
    Program,
    Seat,
    Stream,
    Unreadable,
    check_action,
    local_player,
)
from arena.api.search import SharedStart, compiles_first, search_engines
from arena.clock import perf_counter, thread_time
from arena_isolation import protocol
from arena_isolation.agent_pool import AgentProcesses
from arena_isolation.agent_process import START, AgentLost, AgentProcess, HostLate, Loading
from arena_isolation.helper_process import pack
from arena_isolation.own_compiler import OwnCompiler, OwnSearch
from arena_isolation.protocol import Broken
from arena_isolation.sandbox import private_folder
from arena_isolation.versions import list_needed_plugins, version_in

COMPILED_FIRST = (
    "in a run with hidden cards or dice, the code of an entry in a sandbox is compiled only before the first match, by "
    "`arena run SPEC --compiled`"
)
"""The reason why a search with code of an entry runs uncompiled if the compiler could learn about deals."""
SOLVE = pack({"type": "solve"})
Reading = Callable[[Mapping[str, Any], State], Any]
"""A function that converts an answer into an action or a solution."""


class RemotePlayers(AgentProcesses):
    """A pool of processes that provides players for seats whose agents run in them, for the isolations `process` and
    `sandbox`.
    """

    def player(self, match: Match, number: int, start: SharedStart, played: Sequence[str]) -> Player:
        """Return the player of a seat for an agent in a separate process."""
        return RemotePlayer(match, number, self, played)


def player_maker(processes: AgentProcesses) -> Callable[[Match, int, SharedStart, Sequence[str]], Player]:
    """Return a function that creates players. The isolation of each seat decides whether its agent runs in a separate process.
    Such processes are taken from `processes`.
    """

    def make(match: Match, number: int, start: SharedStart, played: Sequence[str]) -> Player:
        if match.seats[number].in_process:
            return local_player(match, number, start, played)
        return RemotePlayer(match, number, processes, played)

    return make


class RemotePlayer:
    """An agent in a separate process."""

    def __init__(self, match: Match, number: int, hosts: AgentProcesses, played: Sequence[str]) -> None:
        self.number = number
        self.seat = seat = match.seats[number]
        self.used_rng = False
        self.engine_use: EngineUse | None = None
        self._agent: Agent | None = None
        """A copy of the agent, from which search engines get the loop to compile. It is None until they need it, and always for
        an entry that brings its own code.
        """
        self.used: tuple[Any, ...] = ()
        self.overrun: float | None = None
        self.started: float | None = None
        self.lack_of_cpu = self.cpu = self.forgiven = 0.0
        self.out_of_cpu = 0
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
        self._deal = (
            f"{match.position.key}/{match.repetition}" if self._observes or gives(match.game, "chance_outcomes") else None
        )
        self._place: dict[str, Any] = {}
        """The position, until it is sent with the request for the first decision. So no agent can think before the clock runs."""
        self._until = 0.0
        """The CPU time of this thread at which the clock of the decision runs out."""
        self._guest = any(other.in_process for other in match.seats)  # if so, processes are stopped after each answer
        self._host: AgentProcess | None = None
        self._loading: Loading | None = None

    def make_agent(self) -> None:
        """Take a process and let it create the agent. Raises Forfeit if that fails.

        The match is void if arena's own host does not answer. No agent can gain by this: nobody knows the position yet, and an
        agent of this match that uses the processor loses the match.
        """
        try:
            started = self._begin_match()
        except AgentLost as lost:
            raise self._lost(lost) from lost
        except HostLate as late:
            found = self._hosts.find_blame(Forfeit("timeout", self.number, str(late)), None)
            if found.ending.seat != self.number:
                raise found from late
            raise ArenaError(str(late)) from late
        if self._guest:
            self._hosts.settle()

        def note_ready(answer: Mapping[str, Any]) -> None:
            protocol.expect(answer, "ready", "failed")
            self.used_rng = protocol.flag(answer, "drew", default=False)
            if answer["type"] == "failed":
                raise self._fault_of(answer)

        self._interpret(note_ready, started)
        assert self._host is not None
        self._prepare(self._host)

    def _begin_match(self) -> dict[str, Any]:
        """Take a process, let it begin the match, and return its answer. Raises AgentLost if a new process fails, and Forfeit if
        its hello lacks an ability that the game needs. An earlier process of the same program may have had this ability.

        If a process that has played before fails now, the reason lies in an earlier match, such as memory that it still holds.
        Another process takes its place.
        """
        while True:
            self._host = None
            host = self._host = self._hosts.take(self._program, self._limits, self.seat.isolation, self._deal)
            if self._observes and not host.observes:
                hint = 'its `hello` must list "observe" in `can`, and it must choose its actions from `observation` and `legal`'
                raise Forfeit(
                    "crash", self.number, f"{self._game.name} has hidden-information, which this program does not support; {hint}"
                )
            reused = host.has_played
            self._hosts.playing[host] = self.number
            host.begin()
            try:
                started = self._begun(host)
                if not reused or started.get("kind") != "memory":
                    return started
                host.end()
            except AgentLost:
                if not reused:
                    raise
            self._hosts.playing.pop(host)

    def _prepare(self, host: AgentProcess) -> None:
        """Let the process load the compiled search of its agent, once for each game and heuristic, before any clock runs.

        In a game with hidden information, no search is compiled. In a run with deals, no compiler of a confined entry runs: it
        could hear from a stopped process which cards or dice it has met, and tell the processes that meet them later.
        """
        if self._observes or self._program.command is not None or not host.alive:
            return
        if not any(engine.can_load() for engine in search_engines()):
            return
        key = id(self._game), self.seat.heuristic
        loading = host.prepared.get(key)
        if loading is None or loading.game is not self._game:
            loading = host.prepared[key] = Loading(self._game, own=self._own_search())
        own = loading.own
        if own is not None:
            if own.wanted and self._match.keeps_deals and host.confined:
                own.settled, own.failure = True, COMPILED_FIRST
            elif own.wanted:
                self._hosts.settle()  # its compiler runs the code of the entry: no agent may run beside it
                self._hosts.compiler.compile(own, wait=compiles_first())
            if own.has_code and not loading.has_own:
                loading.has_own, loading.ask_at = True, 0.0
        if loading.plain_seconds >= loading.ask_at:
            loading.ask_at = inf if own is not None else max(1.0, 2 * loading.plain_seconds)
            version = version_in(self._program)
            folder = None if version is None else str(private_folder(version.origin(self.seat.isolation)))
            try:
                if host.prepare(folder) is not None:
                    loading.ask_at = inf
                    if own is not None:
                        own.settled = True  # the process would not load compiled code
            except AgentLost as lost:
                raise self._lost(lost) from lost
            if self._guest:
                self._hosts.settle()
        self._loading = loading

    def _own_search(self) -> OwnSearch | None:
        """Return the search of an entry with its own code; None for other entries."""
        program, seat = self._program, self.seat
        if program.version is None:
            return None
        start = _start(_match_of(seat, self._game), 0, program)
        known = {name: value for name, value in start.items() if name != "match"}
        return self._hosts.compiler.search(repr((known, program.version)), program, seat.limits.memory_mb, seat.isolation, start)

    def _count(self, seconds: float, *, compiled: bool, settled: bool) -> None:
        """Count a decision that could have used the compiled loop of a search engine."""
        reason = None
        loading = self._loading
        if loading is not None and not compiled:
            loading.plain_seconds += seconds
            if loading.own is not None:
                loading.own.plain_seconds += seconds
                reason = loading.own.failure
            else:  # the process of such an agent never compiles; this process does
                if self._agent is None:
                    self._agent = self.seat.make()
                for engine in search_engines():
                    reason = engine.note_plain(self._agent, self._game, self.seat.evaluation, seconds) or reason
        self.engine_use = (self.engine_use or EngineUse()).add(
            seconds, compiled=compiled, settled=settled or compiles_first(), reason=reason
        )

    def _begun(self, host: AgentProcess) -> dict[str, Any]:
        """Let the process begin a match, and return its answer."""
        game, position = self._game, self._match.position
        seen = game.format_state(game.observation(position.state, self.number)) if self._observes else position.text
        self._place = {"position": seen}
        if self._program.command is None:
            self._place["stream"] = self._match.start_stream().first_seed
        request = pack(_start(self._match, self.number, self._program))
        began = perf_counter()
        try:
            return host.ask(request, self._limits.start_seconds, what=START)
        finally:
            self.started = perf_counter() - began

    @property
    def solver(self) -> bool:
        """True if the agent solves a whole puzzle at once."""
        if self._program.command is None or self._host is None:
            return self.seat.solver
        return self._host.solves

    def choose(self, state: State, legal: Sequence[Action]) -> Action:
        """Ask for an action and return it. Raises Forfeit if the action is not legal."""
        game = self._game
        if self._observes:
            seen = game.observation(state, self.number)
            text = game.format_state(seen)
            try:
                same = game.parse_state(text) == seen
            except ValueError:
                same = False
            if not same:
                told = f"the observation {text} cannot be parsed; parse_state must accept the text of format_state"
                raise GameError(f"{game.name}: {told}")
            request = protocol.observed_line(text, [game.format_action(seen, action) for action in legal])
        else:
            new = self._played[self._told :]
            self._told = len(self._played)
            if self._place:
                request = pack({"type": "choose", **self._take_position(), "played": new})
            else:
                request = protocol.choose_line(new)
        return check_action(self.number, self._ask(request, self._action, state), legal)

    def solve(self, state: State) -> Any:
        """Ask for a solution. The result is None if the agent gave up."""
        line = pack({"type": "solve", **self._take_position()}) if self._place else SOLVE
        return self._ask(line, self._solution, state)

    def _take_position(self) -> dict[str, Any]:
        """Return the position at the first call, and an empty dictionary at later calls."""
        place, self._place = self._place, {}
        return place

    def leave(self) -> None:
        """Give the process back, so that the next match can use it."""
        if self._host is not None:
            self.lack_of_cpu, self.cpu = self._host.processors()
            self._hosts.playing.pop(self._host, None)
            self._hosts.give_back(self._host, self._program, self._limits, self.seat.isolation)
            self._host = None

    def _ask(self, request: bytes, read: Reading, state: State) -> Any:
        """Send a request and return the result of `read` for its answer. The clock of the decision runs until `read` returns."""
        assert self._host is not None
        self.used = ()
        limit = self._limits.seconds
        began = perf_counter()
        try:
            answer = self._host.ask(request, limit, margin=self._limits.margin, cpu_seconds=self._limits.cpu_seconds)
        except AgentLost as lost:
            seconds = perf_counter() - began
            self.used = (0, 0, seconds, None, None, None, False, False)
            self._count_out_of_cpu(self._host, seconds)
            raise self._lost(lost) from lost
        seconds = perf_counter() - began - self._host.abandoned
        self._count_out_of_cpu(self._host, seconds)
        if self._guest:
            self._hosts.settle()
        self._interpret(self._note, answer, seconds)
        if limit is None:
            return self._interpret(read, answer, state)
        self.forgiven += max(0.0, seconds - limit - self._limits.margin)
        self._until = thread_time() + max(limit - seconds, 0.0) + self._limits.margin
        found = self._interpret(read, answer, state)
        self._check_time()
        return found

    def _count_out_of_cpu(self, host: AgentProcess, seconds: float) -> None:
        """Count a decision whose threads together used up its processor time before its clock did."""
        self.out_of_cpu += host.out_of_cpu and seconds < self._limits.shortest_seconds

    def _check_time(self) -> None:
        """Raise Forfeit if the time limit of a decision is exceeded while its answer is being read. Only the CPU time of this
        thread counts for this.
        """
        late = thread_time() - self._until
        if self._limits.seconds is not None and late > 0.0:
            self.overrun = late + self._limits.margin
            limit = f"its limit of {self._limits.seconds:g} s"
            message = f"a decision took longer than {limit}, including the time to read its answer"
            raise Forfeit("timeout", self.number, message)

    def _note(self, answer: Mapping[str, Any], seconds: float) -> None:
        used = protocol.read_used(answer)
        self.used = (used.nodes, used.evaluations, seconds, *used[2:], protocol.flag(answer, "fallback", default=False))
        self.used_rng = protocol.flag(answer, "drew", default=self._program.command is not None)
        if self._program.command is None and "compiled" in answer:
            ran, settled = (protocol.flag(answer, key, default=False) for key in ("compiled", "settled"))
            self._count(seconds, compiled=ran, settled=settled)
        version = version_in(self._program)
        if self._program.command is None and (version is None or not version.submitted):  # an agent of the organiser
            self.exchanges += protocol.read_transcript(answer)
        if answer["type"] == "failed":
            raise self._fault_of(answer)

    def _action(self, answer: Mapping[str, Any], state: State) -> Any:
        protocol.expect(answer, "action", "best")
        if "illegal" in answer:
            return Unreadable(protocol.text_of(answer, "illegal"))
        if answer.get("action") is None:
            return None
        return _parsed(self._game.parse_action, state, protocol.action_of(answer))

    def _solution(self, answer: Mapping[str, Any], state: State) -> Any:
        protocol.expect(answer, "path", "answer", "none", "other", "best")
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
                break  # such a path is too long in any case
            try:
                state = game.result(state, action)
            except Exception:  # the referee finds out whether the action is illegal, or the rules of the game fail
                break
        if "illegal" in answer:
            fault = self._fault_of(protocol.object_of(answer, "failed")) if "failed" in answer else None
            actions.append(Unreadable(protocol.text_of(answer, "illegal"), fault))
        return actions + list(texts[len(actions) :])

    def _answer(self, answer: Mapping[str, Any]) -> Any:
        steps: Any = protocol.steps_of(answer)
        if "illegal_steps" in answer:
            steps = Unreadable(protocol.text_of(answer, "illegal_steps"))
        if "illegal" in answer:
            return Answer(Unreadable(protocol.text_of(answer, "illegal")), steps)
        text = protocol.state_of(answer)
        if isinstance(self._game, Puzzle) and self._game.path_matters:
            return Answer(None, steps)  # this is never a solution, whatever the answer says
        try:
            state = self._game.parse_state(text)
        except Exception as error:
            message = f"expected a state of {self._game.name}, got {text[:120]!r} ({describe(error, folders=False)})"
            raise Forfeit("illegal-action", self.number, message) from error
        return Answer(state, steps)

    def _interpret(self, read: Callable[..., Any], answer: Mapping[str, Any], *more: Any) -> Any:
        """Return the result of `read` for an answer. If the answer breaks the protocol, end the process and blame the seat."""
        try:
            return read(answer, *more)
        except Broken as broken:
            assert self._host is not None
            raise self._lost(self._host.lost("crash", str(broken))) from broken

    def _lost(self, lost: AgentLost) -> Forfeit:
        if lost.overrun is not None:
            self.overrun = lost.overrun
        return self._hosts.find_blame(Forfeit(lost.reason, self.number, lost.message), self._host)

    def _fault_of(self, answer: Mapping[str, Any]) -> Forfeit | Unavailable:
        message = protocol.message_of(answer, "message") or self.seat.label
        traceback = protocol.message_of(answer, "traceback")
        fault = Forfeit.of_failure(self.number, str(answer.get("kind")), message, traceback, waits=self.seat.waits)
        if not isinstance(fault, Forfeit):
            return fault
        if fault.ending.reason == "memory" and self._host is not None:
            self._host.end()  # it may still hold the memory, which would fail in the next match
        return self._hosts.find_blame(fault, self._host)


def _parsed(parse: Callable[[State, str], Action], state: State, text: str) -> Any:
    try:
        return parse(state, text)
    except Exception:  # a plugin's parser may raise anything for an arbitrary text
        return Unreadable(repr(text[:120]))


def why_plain(seat: Seat, game: Game) -> str | None:
    """Return the reason why searches are not compiled in the process of a seat; None if no reason is known at this point. If the
    game has chance, and everything is compiled first, compile the code of the entry, because it is not compiled between matches.

    Raises IsolationError if the process cannot be started. Other faults appear only in the first match.
    """
    assert seat.program is not None
    with suppress(AgentLost):
        process = AgentProcess(seat.program, seat.limits.memory_mb, seat.isolation)
        try:
            request = _start(_match_of(seat, game), 0, seat.program)
            if seat.version is not None and compiles_first() and gives(game, "chance_outcomes"):
                search = OwnSearch(seat.program, seat.limits.memory_mb, seat.isolation, request)
                OwnCompiler().compile(search, wait=True)
                if search.failure is not None:
                    return search.failure
            if process.ask(pack(request), seat.limits.start_seconds, what=START)["type"] == "ready":
                return process.prepare(None)
        finally:
            process.end()
    return None


def _match_of(seat: Seat, game: Game) -> Match:
    """Return a match that is never played, from which a process creates the agent of a seat."""
    return Match("", game, Position("", None, ""), (seat,) * game.players, None)


def _start(match: Match, number: int, program: Program) -> dict[str, Any]:
    seat = match.seats[number]
    limits = seat.limits
    message: dict[str, Any] = {
        "type": "start",
        "match": token_hex(16),  # not the match id: with it, an agent that guesses the seed could derive all random numbers
        "game": match.game.name,
        "parameters": settings(match.game),
        "seat": number,
        "players": len(match.seats),
        # 32 bits, so that programs in other languages can use it
        "seed": int.from_bytes(blake2b(f"{match.id}/seat/{number}".encode(), digest_size=4).digest(), "big"),
        "limits": {"nodes": limits.nodes, "seconds": limits.seconds, "depth": limits.depth, "moves": limits.moves}
        | ({} if limits.cpu_seconds is None else {"cpu_seconds": limits.cpu_seconds}),
        "options": dict(program.options),
    }
    if program.command is None:
        message["agent"] = program.agent
        message["heuristic"] = program.heuristic
        message["plugins"] = list(program.plugins)
        version = version_in(program)
        if version is None:
            message["installed"] = list_needed_plugins(match.game.name, agent=program.agent)
        else:
            message["version"] = version.plugin
            if version.submitted:
                message["installed"] = list_needed_plugins(match.game.name)
        message["limits"] |= {"patient": True} if limits.patient else {}
        message["streams"] = {"seat": Stream.seed_of_seat(match.id, number)}
    elif program.adapter is not None:
        message["plugins"] = list(program.plugins)
        message["start_seconds"] = limits.start_seconds
    return message
