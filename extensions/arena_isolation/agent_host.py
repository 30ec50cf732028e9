"""The Python side of the agent protocol: `python -m arena_isolation.agent_host` plays any registered agent over stdin and
stdout.

The agent's own output goes to stderr, and its stdin is empty, so the agent cannot reach the two pipes. It gets the same game,
search and random stream as an agent in arena's own process, so it plays the same.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from arena import Agent, Answer, Game, GameError, Limits, Path, Puzzle, Registry, State, __version__, load_plugins
from arena.api.errors import Interrupted, abbreviate, describe
from arena.api.games import Evaluation, bind
from arena.api.match import AgentRaised, Decider, Stream, canonical, find_legal, is_count
from arena.api.processes import take_pipes
from arena.api.search import SharedStart, search_engines, unwatched_copy, watch
from arena.api.spec import put_in_place
from arena_isolation import protocol
from arena_isolation.helper import serve

Message = dict[str, Any]
ABILITIES = ["choose", "solve", "observe"]
"""Abilities that it announces."""


class Library:
    """Games, agents and heuristics, each created once and shared by all matches of this process."""

    def __init__(self) -> None:
        self._registries: dict[tuple[tuple[str, ...], str | None], Registry] = {}
        self._games: dict[str, Game] = {}
        self._evaluations: dict[str, Evaluation] = {}

    def registry(self, plugins: Sequence[str], version: str | None = None) -> Registry:
        """Return the registry of the installed plugins and `plugins`. Code from `version` replaces code of the same name."""
        wanted = tuple(plugins), version
        if wanted not in self._registries:
            registry = load_plugins(plugins)
            if version is not None:
                put_in_place(registry, version)
            self._registries[wanted] = registry
        return self._registries[wanted]

    def game(self, registry: Registry, name: str, parameters: Mapping[str, Any]) -> Game:
        """Return a game with its parameters. From now on its class is observed for compiled searches."""
        key = canonical([name, parameters])
        if key not in self._games:
            game = registry.game(name)(**parameters)
            watch(type(game))
            self._games[key] = unwatched_copy(game)
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
    """The agent of one match, with the current position. The position arrives with the first request for a decision."""

    def __init__(self, library: Library, start: Message) -> None:
        registry = library.registry(start["plugins"], start.get("version"))
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
            SharedStart(game, Stream(0)),  # `place` sends the start of the round
        )
        self.decider.make_agent()

    def prepare(self, *, compiling: bool) -> Message:
        """Prepare the compiled search for the agent. The answer gives the reason if an expected search runs plain."""
        agent, game, evaluation = self.decider.agent, self.game, self._evaluation
        found = [
            engine.prepare_agent(agent, game, evaluation, private=self._alone, compiling=compiling) for engine in search_engines()
        ]
        reason = next((one for one in found if one is not None), None)
        return {"type": "prepared"} if reason is None else {"type": "prepared", "plain": reason}

    def place(self, request: Message) -> None:
        """Set the start of the match from the first request for a decision."""
        self.state = self.game.parse_state(request["position"])
        self.decider.start = SharedStart(self.game, Stream(request["stream"]))

    def choose(self, played: Sequence[str], observation: str | None = None) -> Message:
        """Answer `choose`. In a game with hidden information the state is the seat's observation."""
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
        except (ValueError, GameError):  # the referee gets the same error, and judges it
            return {"type": "action", "illegal": abbreviate(choice)}
        text = game.format_action(self.state, action)
        self._own = (text, action)
        return {"type": "action", "action": text}

    def solve(self) -> Message:
        """Answer `solve`."""
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
        if answer.steps is None or is_count(answer.steps):
            steps: Message = {"steps": answer.steps}
        else:
            steps = {"steps": None, "illegal_steps": abbreviate(answer.steps)}
        puzzle = self.game
        assert isinstance(puzzle, Puzzle)
        try:  # anything that the agent returns as a state goes through the rules
            solved = bool(puzzle.is_answer(self.state, answer.state))
            text = puzzle.format_state(answer.state)
            read = puzzle.parse_state(text)
            if read != answer.state and bool(puzzle.is_answer(self.state, read)) is not solved:
                raise ValueError("its text stands for another state")  # its text is judged instead of the state
        except Interrupted:
            raise
        except BaseException as error:
            return {"type": "answer", "illegal": f"{abbreviate(answer.state)} ({describe(error)})", **steps}
        return {"type": "answer", "state": text, **steps}


class AgentHost:
    """Answers the requests of one match after another; one seat at a time."""

    def __init__(self) -> None:
        self._library = Library()
        self._seat: HostedSeat | None = None

    def answer(self, message: Message) -> Message | bytes | None:
        """Return the answer to a request; None if it needs none. Raises SystemExit after `quit`."""
        kind = message["type"]
        if kind == "start":
            self._seat = None
            try:
                self._seat = HostedSeat(self._library, message)
            except AgentRaised as failed:
                return _describe_failure(failed)
            except Exception as error:
                return {"type": "failed", "kind": "exception", "message": f"cannot be made: {describe(error)}"}
            return {"type": "ready", "drew": self._seat.decider.drew}
        if kind == "hello":
            return {"type": "hello", "protocol": protocol.VERSION, "name": f"arena {__version__}", "can": ABILITIES}
        if kind == "quit":
            raise SystemExit
        if self._seat is not None and kind == "prepare":
            return self._seat.prepare(compiling=message["compiling"])
        if self._seat is not None and kind in ("choose", "solve"):
            return _decide(self._seat, message)
        return None  # a stop that came too late, or a request of a later protocol version


def _decide(seat: HostedSeat, request: Message) -> Message | bytes:
    decider = seat.decider
    try:
        if "position" in request:
            seat.place(request)
        solves = request["type"] == "solve"
        answer = seat.solve() if solves else seat.choose(request["played"], request.get("observation"))
    except AgentRaised as failed:
        answer = _describe_failure(failed)
    nodes, evaluations, _, depth, value, spent, unmetered = decider.used
    said, decider.exchanges = decider.exchanges, ()
    plain = depth is None and value is None and spent is None and not (decider.fallback or unmetered or said)
    if plain and decider.ran_compiled is None and answer.get("action") is not None:
        return protocol.action_line(answer["action"], nodes, evaluations, decider.drew)
    answer["nodes"], answer["evaluations"] = nodes, evaluations
    if depth is not None:
        answer["depth"] = depth
    if value is not None:
        answer["value"] = value
    if spent is not None:
        answer["spent"] = spent
    if said:
        answer["transcript"] = list(said)
    if unmetered:
        answer["unmetered"] = unmetered
    if decider.fallback:
        answer["fallback"] = True
    if decider.ran_compiled is not None:
        answer["compiled"] = decider.ran_compiled
    answer["drew"] = decider.drew
    return answer


def _describe_failure(failed: AgentRaised) -> Message:
    return {"type": "failed", "kind": failed.kind, "message": failed.message, "traceback": failed.traceback}


def main() -> None:
    """Serve the parent process, with stdin and stdout out of reach of the agent."""
    os.environ["ARENA_COMPILE"] = "hosted"  # the decision clock runs outside: see arena_compiled.cache
    serve(AgentHost().answer, *take_pipes())


if __name__ == "__main__":
    main()
