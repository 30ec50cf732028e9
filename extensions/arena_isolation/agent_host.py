"""The Python end of the agent protocol: `python -m arena_isolation.agent_host` plays any registered agent over stdin and stdout.

What the agent prints goes to stderr, and what it reads is empty: the two pipes are out of its reach. It meets the same game,
search and random stream as an agent in arena's own process, so it plays the same.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from arena import Agent, Answer, Game, GameError, Path, Puzzle, State, __version__
from arena.api.cli import describe
from arena.api.match import AgentRaised, Decider, Limits, SharedStart, Stream, canonical
from arena.api.run import serve, take_pipes
from arena.api.spec import Evaluation, Registry, bind, load_plugins
from arena.errors import Interrupted
from arena.identity import is_used
from arena.limits import is_count
from arena.match.player import find_legal, short
from arena.plugins.sources import put_in_place
from arena.search_engines import search_engines
from arena.unmetered import unwatched_copy, watch
from arena_isolation import protocol

Message = dict[str, Any]
ABILITIES = ["choose", "solve", "observe"]
"""What it says that it can do."""


class Library:
    """Games, agents and heuristics, each made once for all matches of this process that want the same."""

    def __init__(self) -> None:
        self._registries: dict[tuple[tuple[str, ...], str | None], Registry] = {}
        self._games: dict[str, Game] = {}
        self._evaluations: dict[str, Evaluation] = {}

    def registry(self, plugins: Sequence[str], version: str | None = None) -> Registry:
        """Everything that the installed plugins and these bring, with what `version` brings in place of the same names."""
        wanted = tuple(plugins), version
        if wanted not in self._registries:
            registry = load_plugins(plugins)
            if version is not None:
                put_in_place(registry, version)
            self._registries[wanted] = registry
        return self._registries[wanted]

    def game(self, registry: Registry, name: str, parameters: Mapping[str, Any]) -> Game:
        """A game with its parameters, whose class is watched from now on."""
        key = canonical([name, parameters])
        if key not in self._games:
            game = registry.game(name)(**parameters)
            watch(type(game))
            self._games[key] = unwatched_copy(game)
        return self._games[key]

    def evaluation(self, registry: Registry, game: Game, heuristic: Mapping[str, Any] | None, key: str) -> Evaluation | None:
        """A heuristic, bound to a game; `key` tells the game from others."""
        if heuristic is None:
            return None
        whole = f"{key}{canonical(heuristic)}"
        if whole not in self._evaluations:
            target = registry.heuristic(game.name, heuristic["name"])
            self._evaluations[whole] = bind(target, game, heuristic["parameters"])
        return self._evaluations[whole]


_NOTHING: tuple[str | None, Any] = (None, None)


class HostedSeat:
    """The agent of one match: where the match stands, and who decides. The position comes with the first request to decide."""

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
            SharedStart(game, Stream(0)),  # `place` tells the one of the round
        )
        self.decider.make_agent()

    def prepare(self, *, compiling: bool) -> Message:
        """Get the compiled search that the agent asks for ready; the answer tells why it runs plain, where it is to."""
        agent, game, evaluation = self.decider.agent, self.game, self._evaluation
        found = [
            engine.prepare_agent(agent, game, evaluation, private=self._alone, compiling=compiling) for engine in search_engines()
        ]
        reason = next((one for one in found if one is not None), None)
        return {"type": "prepared"} if reason is None else {"type": "prepared", "plain": reason}

    def place(self, request: Message) -> None:
        """Take in where the match begins, from the first request to decide."""
        self.state = self.game.parse_state(request["position"])
        self.decider.start = SharedStart(self.game, Stream(request["stream"]))

    def choose(self, played: Sequence[str], observation: str | None = None) -> Message:
        """The answer to `choose`; of a game with hidden information the state is what the seat observes."""
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
        except (ValueError, GameError):  # the referee meets the same, and judges
            return {"type": "action", "illegal": short(choice)}
        text = game.format_action(self.state, action)
        self._own = (text, action)
        return {"type": "action", "action": text}

    def solve(self) -> Message:
        """The answer to `solve`."""
        found = self.decider.solve(self.state)
        if found is None:
            return {"type": "none"}
        if type(found) is Path:
            return self._path(found)
        if type(found) is Answer:
            return self._answer(found)
        return {"type": "other", "is": short(found)}

    def _path(self, path: Path) -> Message:
        game, state = self.game, self.state
        texts: list[str] = []
        for choice in path.actions:
            legal = game.actions(state)
            try:
                action = find_legal(choice, legal)
            except (ValueError, GameError):
                return {"type": "path", "actions": texts, "illegal": short(choice)}
            except AgentRaised as failed:
                return {"type": "path", "actions": texts, "illegal": short(choice), "failed": _describe_failure(failed)}
            texts.append(game.format_action(state, action))
            state = game.result(state, action)
        return {"type": "path", "actions": texts}

    def _answer(self, answer: Answer) -> Message:
        if answer.steps is None or is_count(answer.steps):
            steps: Message = {"steps": answer.steps}
        else:
            steps = {"steps": None, "illegal_steps": short(answer.steps)}
        try:
            text = self._text(answer.state)
        except Interrupted:
            raise
        except BaseException as error:  # whatever the agent calls a state goes through the rules
            return {"type": "answer", "illegal": f"{short(answer.state)} ({describe(error)})", **steps}
        return {"type": "answer", "state": text, **steps}

    def _text(self, state: Any) -> str:
        """The text of a final state, which is judged in its place: ValueError where it would be judged otherwise."""
        puzzle = self.game
        assert isinstance(puzzle, Puzzle)
        solved = bool(puzzle.is_answer(self.state, state))
        text = puzzle.format_state(state)
        read = puzzle.parse_state(text)
        if read != state and bool(puzzle.is_answer(self.state, read)) is not solved:
            raise ValueError("its text stands for another state")
        return text


class AgentHost:
    """Answers the requests of match after match; one seat at a time."""

    def __init__(self) -> None:
        self._library = Library()
        self._seat: HostedSeat | None = None

    def answer(self, message: Message) -> Message | bytes | None:
        """Return the answer to a request, None if it needs none. SystemExit after `quit`."""
        kind = message["type"]
        if kind == "start":
            self._seat, ready = _start_match(self._library, message)
            return ready
        if kind == "hello":
            return {"type": "hello", "protocol": protocol.VERSION, "name": f"arena {__version__}", "can": ABILITIES}
        if kind == "quit":
            raise SystemExit
        if self._seat is not None and kind == "prepare":
            return self._seat.prepare(compiling=message["compiling"])
        if self._seat is not None and kind in ("choose", "solve"):
            return _decide(self._seat, message)
        return None  # a stop that came too late, or a request of a later version


def _start_match(library: Library, message: Message) -> tuple[HostedSeat | None, Message]:
    try:
        seat = HostedSeat(library, message)
    except AgentRaised as failed:
        return None, _describe_failure(failed)
    except Exception as error:
        return None, {"type": "failed", "kind": "exception", "message": f"cannot be made: {describe(error)}"}
    return seat, {"type": "ready", "drew": is_used(seat.decider.rng)}


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
    plain = depth is None and value is None and spent is None and not (decider.fallback or unmetered or decider.compiled or said)
    if plain and answer.get("action") is not None:
        return protocol.action_line(answer["action"], nodes, evaluations, is_used(decider.rng))
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
    if decider.compiled:
        answer["compiled"] = True
    answer["drew"] = is_used(decider.rng)
    return answer


def _describe_failure(failed: AgentRaised) -> Message:
    return {"type": "failed", "kind": failed.kind, "message": failed.message, "traceback": failed.traceback}


def main() -> None:
    """Serve the parent process, with stdin and stdout out of reach of the agent."""
    os.environ["ARENA_COMPILE"] = "hosted"  # the clock of a decision runs outside: see arena_compiled.cache
    serve(AgentHost().answer, *take_pipes())


if __name__ == "__main__":
    main()
