"""The far end of `arena_isolation.describe`: `python -m arena_isolation.describe_host` loads a plugin and tells what it brings.

It holds options against hints by the same code as a spec, so that a version of a plugin is read as the current one is.
"""

from collections.abc import Mapping
from typing import Any

from arena import Agent, ArenaError, UnknownName, __version__
from arena.api.cli import describe
from arena.api.run import pack, serve, take_pipes
from arena.api.spec import Key, Registry, chooses, load_plugins, make_adapters, parameters_of, solves, validate_parameters
from arena.errors import Interrupted
from arena.plugins.sources import put_in_place
from arena.spec.choices import check_parameters
from arena.spec.document import Path
from arena.spec.parameters import drop_defaults, make_plain
from arena.traits import read_coped, read_games
from arena_isolation import protocol

Answer = dict[str, Any]


class DescribeHost:
    """Answers questions about the plugin that it was asked to describe last."""

    can = "describe"

    def __init__(self) -> None:
        self.registry = Registry()

    def answer(self, message: Answer) -> Answer:
        """Return the answer to a request; whatever a plugin raises meanwhile is a failure of the request."""
        if message["type"] == "hello":
            return {"type": "hello", "protocol": protocol.VERSION, "name": f"arena {__version__}", "can": [self.can]}
        try:
            answer = self._describe(message) if message["type"] == "describe" else self.work(message)
            pack(answer)
        except Interrupted:
            raise
        except BaseException as error:
            return {"type": "failed", "message": describe(error)}
        return answer

    def work(self, message: Answer) -> Answer:
        """Return the answer to any other request: options or parameters, checked."""
        return _checked(self.registry, message)

    def _describe(self, message: Answer) -> Answer:
        self.registry = Registry()
        try:
            registry = load_plugins(message["plugins"])
            keys = put_in_place(registry, message["plugin"])
        except ArenaError as error:
            return {"type": "failed", "message": str(error)}
        self.registry = registry
        return _description(registry, keys)


def _description(registry: Registry, keys: list[Key]) -> Answer:
    return {
        "type": "description",
        "agents": [_agent(registry.value(key)) for key in keys if key[0] == "agent"],
        "games": [key[1] for key in keys if key[0] == "game"],
        "heuristics": [key[1:] for key in keys if key[0] == "heuristic"],
        "known": sorted(registry.heuristics),
    }


def _agent(agent: type[Agent]) -> Answer:
    return {
        "name": agent.name,
        "needs": sorted(agent.needs),
        "copes": sorted(read_coped(agent)),
        "games": sorted(read_games(agent)),
        "wants_heuristic": bool(agent.wants_heuristic),
        "chooses": chooses(agent),
        "solves": solves(agent),
        "options": {name: _schema(agent, name) for name in parameters_of(agent)},
    }


def _schema(agent: type[Agent], name: str) -> Answer:
    """The JSON Schema of an option, with its default; nothing is known of one whose hint has none."""
    parameter = parameters_of(agent)[name]
    try:
        schema: Answer = make_adapters(agent)[name].json_schema()
    except Exception:  # the hints are the author's
        schema = {}
    return schema if parameter.default is parameter.empty else {**schema, "default": make_plain(parameter.default)}


def _checked(registry: Registry, message: Answer) -> Answer:
    faults: list[tuple[list[str | int], str]] = []

    def report(path: Path, fault: str) -> None:
        faults.append((list(path), fault))

    optimal = None
    target: Any = None
    if message["type"] == "options":
        target = registry.agent(message["agent"])
        values = validate_parameters(target, message["given"], (), report)
        if values is not None:
            optimal = _made(target, values, report)
    else:
        try:
            target = registry.heuristic(message["game"], message["heuristic"])
            values = check_parameters(target, message["heuristic"], message["given"], report)
        except UnknownName as error:
            values = None
            report((), str(error))
    told = [{"path": path, "message": fault} for path, fault in faults]
    if faults or values is None:
        return {"type": "checked", "values": None, "faults": told, "optimal": optimal}
    defaults = sorted(set(values) - set(drop_defaults(target, values)))
    return {"type": "checked", "values": make_plain(values), "defaults": defaults, "faults": told, "optimal": optimal}


def _made(agent: type[Agent], options: Mapping[str, Any], report: Any) -> str | None:
    """What an agent with these options claims of its solutions; a fault where it cannot be made."""
    try:
        return agent(**options).optimal
    except Interrupted:
        raise
    except ValueError as error:
        report((), str(error) or describe(error))
    except BaseException as error:
        report((), f"cannot be made: {describe(error)}")
    return None


if __name__ == "__main__":
    serve(DescribeHost().answer, *take_pipes())
