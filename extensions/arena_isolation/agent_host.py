"""The Python side of the agent protocol: `python -m arena_isolation.agent_host` plays any registered agent over stdin and stdout.

The output of the agent goes to stderr, and its stdin is empty, so it cannot reach the pipes of the protocol. The agent gets the
same game, search and random numbers as it would in the process of arena, so it plays the same moves.
"""

import base64
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena import Agent, Answer, Game, GameError, Limits, Path, Puzzle, Registry, State, __version__, load_plugins
from arena.api.errors import Interrupted, abbreviate, describe
from arena.api.games import Evaluation, bind
from arena.api.match import AgentRaised, Decider, Stream, canonical, find_legal
from arena.api.processes import PythonProcess
from arena.api.search import SharedStart, search_engines
from arena.api.spec import PluginPlace
from arena.compiled import NotCompilable
from arena_isolation import protocol
from arena_isolation.helper_process import pack, serve, use_own_path

Message = dict[str, Any]
ABILITIES = ["choose", "solve", "observe"]
"""The abilities that this host announces."""


class Library:
    """Games, agents and heuristics, each created once and shared by all matches of this process."""

    def __init__(self) -> None:
        self._registries: dict[tuple[tuple[str, ...], str | None, tuple[str, ...] | None], Registry] = {}
        self._games: dict[str, Game] = {}
        self._evaluations: dict[str, Evaluation] = {}

    def registry(self, plugins: Sequence[str], version: str | None = None, installed: Sequence[str] | None = None) -> Registry:
        """Return a registry of the installed plugins and `plugins`. `version` is the file or module of another version of a
        plugin. Its games and agents replace those with the same name. `installed` names the installed plugins to load; None
        loads all of them.
        """
        wanted = tuple(plugins), version, None if installed is None else tuple(installed)
        if wanted not in self._registries:
            registry = load_plugins(plugins, entry_points=True if installed is None else installed)
            if version is not None:
                PluginPlace(version).replace_in(registry)
            self._registries[wanted] = registry
        return self._registries[wanted]

    def game(self, registry: Registry, name: str, parameters: Mapping[str, Any]) -> Game:
        """Return a game with its parameters."""
        key = canonical([name, parameters])
        if key not in self._games:
            self._games[key] = registry.game(name)(**parameters)
        return self._games[key]

    def evaluation(self, registry: Registry, game: Game, heuristic: Mapping[str, Any] | None, key: str) -> Evaluation | None:
        """Return a heuristic, bound to a game. `key` identifies the game."""
        if heuristic is None:
            return None
        whole = f"{key}{canonical(heuristic)}"
        if whole not in self._evaluations:
            target = registry.heuristic(game.name, heuristic["name"])
            self._evaluations[whole] = bind(target, game, heuristic["parameters"])
        return self._evaluations[whole]


_NOTHING: tuple[str | None, Any] = (None, None)


class HostedSeat:
    """The agent in one match, with the current position. The first position arrives with the first request for a decision."""

    def __init__(self, library: Library, start: Message, announce: Callable[[bool], object]) -> None:
        registry = library.registry(start["plugins"], start.get("version"), start.get("installed"))
        self.game = game = library.game(registry, start["game"], start["parameters"])
        self.state: State = None
        self._own = _NOTHING
        bounds = start["limits"]
        kind: type[Agent] = registry.agent(start["agent"])
        key = canonical([start["game"], start["parameters"]])
        self._alone = start.get("version") is not None
        self._evaluation = library.evaluation(registry, game, start["heuristic"], key)
        self.decider = Decider(
            game,
            lambda: kind(**start["options"]),
            self._evaluation,
            Limits(**bounds),
            Stream(start["streams"]["seat"]),
            SharedStart(game, Stream(0)),  # `place` sets the start of the round
        )
        self.decider.meter.announce = None if self._alone else announce
        self.decider.make_agent()

    def prepare(self, private: str | None) -> Message:
        """Load the compiled search for the agent. If a compiled search was expected but is not possible, the answer gives the
        reason.
        """
        agent, game, evaluation = self.decider.agent, self.game, self._evaluation
        found = [engine.prepare_agent(agent, game, evaluation, private) for engine in search_engines()]
        reason = next((one for one in found if one is not None), None)
        return {"type": "prepared"} if reason is None else {"type": "prepared", "plain": reason}

    def compile(self, private: str) -> Message:
        """Compile the search for the agent. The answer has either the files for the folder `private` or a reason why there are
        none.
        """
        agent, game, evaluation = self.decider.agent, self.game, self._evaluation
        try:
            found = [engine.compile_agent(agent, game, evaluation, private) for engine in search_engines()]
        except NotCompilable as refused:
            return {"type": "compiled", "plain": str(refused)}
        except Exception as error:  # the agent may raise anything
            return {"type": "failed", "message": describe(error, folders=False)}
        files = {name: base64.b64encode(data).decode() for one in found for name, data in one.items()}
        return {"type": "compiled", "files": files}

    def place(self, request: Message) -> None:
        """Set the start of the match from the first request for a decision."""
        self.state = self.game.parse_state(request["position"])
        self.decider.start = SharedStart(self.game, Stream(request["stream"]))

    def choose(self, played: Sequence[str], observation: str | None = None) -> Message:
        """Answer a `choose` request. In a game with hidden information, the state is the observation of the seat."""
        game = self.game
        if observation is not None:
            self.state = game.parse_state(observation)
        for text in played:
            said, own = self._own
            self._own = _NOTHING
            self.state = game.result(self.state, own if text == said else game.parse_action(self.state, text))
        legal = game.actions(self.state)
        choice = self.decider.choose(self.state, legal)
        if choice is None:
            return {"type": "action", "action": None}
        try:
            action = find_legal(choice, legal)
        except (ValueError, GameError):  # the referee gets the same error, and handles it
            return {"type": "action", "illegal": abbreviate(choice)}
        text = game.format_action(self.state, action)
        self._own = (text, action)
        return {"type": "action", "action": text}

    def solve(self) -> Message:
        """Answer a `solve` request."""
        found = self.decider.solve(self.state)
        if found is None:
            return {"type": "none"}
        if type(found) is Path:
            return self._path(found)
        if type(found) is Answer:
            return self._answer(found)
        return {"type": "other", "is": abbreviate(found)}

    def _path(self, path: Path) -> Message:
        game, state = self.game, self.state
        texts: list[str] = []
        for choice in path.actions:
            legal = game.actions(state)
            try:
                action = find_legal(choice, legal)
            except (ValueError, GameError):
                return {"type": "path", "actions": texts, "illegal": abbreviate(choice)}
            except AgentRaised as failed:
                return {"type": "path", "actions": texts, "illegal": abbreviate(choice), "failed": _describe_failure(failed)}
            texts.append(game.format_action(state, action))
            state = game.result(state, action)
        return {"type": "path", "actions": texts}

    def _answer(self, answer: Answer) -> Message:
        if answer.steps is None or Limits.is_count(answer.steps):
            steps: Message = {"steps": answer.steps}
        else:
            steps = {"steps": None, "illegal_steps": abbreviate(answer.steps)}
        puzzle = self.game
        assert isinstance(puzzle, Puzzle)
        try:  # the rules check whatever the agent returns as a state
            solved = bool(puzzle.is_answer(self.state, answer.state))
            text = puzzle.format_state(answer.state)
            read = puzzle.parse_state(text)
            if read != answer.state and bool(puzzle.is_answer(self.state, read)) is not solved:
                raise ValueError("parsing its text gives a different state")  # the referee gets only this text
        except Interrupted:
            raise
        except BaseException as error:
            return {"type": "answer", "illegal": f"{abbreviate(answer.state)} ({describe(error, folders=False)})", **steps}
        return {"type": "answer", "state": text, **steps}


class AgentHost:
    """Answers requests. It plays one match after another, and in each of them one seat."""

    def __init__(self, announce: Callable[[bool], object]) -> None:
        self._library = Library()
        self._announce = announce
        self._seat: HostedSeat | None = None

    def answer(self, message: Message) -> Message | bytes | None:
        """Return the answer to a request; None if the request needs no answer. Raises SystemExit after `quit`."""
        kind = message["type"]
        if kind == "start":
            if self._seat is not None:
                self._seat = None
                gc.collect()  # nodes of a tree may refer to each other; the memory of a match must not count in the next one
                if not gc.get_freeze_count():
                    gc.freeze()  # modules stay, so later collections need not look at them
            try:
                self._seat = HostedSeat(self._library, message, self._announce)
            except AgentRaised as failed:
                return _describe_failure(failed)
            except Exception as error:
                return {"type": "failed", "kind": "exception", "message": f"cannot be created: {describe(error, folders=False)}"}
            return {"type": "ready", "drew": self._seat.decider.used_rng}
        if kind == "hello":
            return {"type": "hello", "protocol": protocol.VERSION, "name": f"arena {__version__}", "can": ABILITIES}
        if kind == "quit":
            raise SystemExit
        if self._seat is not None and kind == "prepare":
            return self._seat.prepare(message["private"])
        if self._seat is not None and kind == "compile":
            return self._seat.compile(message["private"])
        if self._seat is not None and kind in ("choose", "solve"):
            return _decide(self._seat, message)
        return None  # a stop that came too late, or a request from a later protocol version


def _decide(seat: HostedSeat, request: Message) -> Message | bytes:
    decider = seat.decider
    try:
        if "position" in request:
            seat.place(request)
        solves = request["type"] == "solve"
        answer = seat.solve() if solves else seat.choose(request["played"], request.get("observation"))
    except AgentRaised as failed:
        answer = _describe_failure(failed)
    nodes, evaluations, _, depth, value, spent, exact, fallback = decider.used
    said, decider.exchanges = decider.exchanges, ()
    plain = depth is None and value is None and spent is None and not (fallback or said)
    if plain and decider.ran_compiled is None and answer.get("action") is not None:
        return protocol.action_line(answer["action"], nodes, evaluations, decider.used_rng)
    answer["nodes"], answer["evaluations"] = nodes, evaluations
    if depth is not None:
        answer["depth"] = depth
    if value is not None:
        answer["value"] = value
    if exact:
        answer["exact"] = True
    if spent is not None:
        answer["spent"] = spent
    if said:
        answer["transcript"] = list(said)
    if fallback:
        answer["fallback"] = True
    if decider.ran_compiled is not None:
        answer["compiled"] = decider.ran_compiled
        answer["settled"] = decider.settled
    answer["drew"] = decider.used_rng
    return answer


def _describe_failure(failed: AgentRaised) -> Message:
    return {"type": "failed", "kind": failed.kind, "message": failed.message, "traceback": failed.traceback}


def main() -> None:
    """Serve the parent process. The agent cannot reach stdin and stdout."""
    os.environ["ARENA_COMPILE"] = "hosted"  # the clock of a decision runs in another process: see arena_compiled.cache
    use_own_path()
    requests, replies = PythonProcess.take_pipes()

    def announce(loading: bool) -> None:
        replies.write(pack({"type": "again", "loading": loading}))
        replies.flush()

    serve(AgentHost(announce).answer, requests, replies)


if __name__ == "__main__":
    main()
