"""The far end of `arena.isolation.describe`: `python -m arena.spec.describe_host` loads a plugin and tells what it brings.

It holds options against hints by the same code as a spec, so that a version of a plugin is read as the current one is.
"""

from collections.abc import Mapping
from typing import Any, BinaryIO

from arena.agent import Agent, chooses, solves
from arena.configured import parameters_of
from arena.errors import ArenaError, Interrupted, UnknownName, describe
from arena.isolation import protocol
from arena.isolation.agent_host import pipes
from arena.plugins.registry import Key, Registry
from arena.plugins.sources import load_plugins, put_in_place
from arena.spec.choices import parameters_checked
from arena.spec.document import Path
from arena.spec.parameters import adapters, plain, validated
from arena.traits import coped, made_for
from arena.version import __version__

Answer = dict[str, Any]


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    registry = Registry()
    for line in requests:
        message = protocol.parsed(line)
        if message["type"] == "describe":
            registry, answer = described(message)
        elif message["type"] == "hello":
            answer = {"type": "hello", "protocol": protocol.VERSIONS[-1], "name": f"arena {__version__}", "can": ["describe"]}
        else:
            answer = _guarded(_checked, registry, message)
        replies.write(protocol.line(answer))
        replies.flush()


def described(message: Answer) -> tuple[Registry, Answer]:
    """Load the plugin of a request; return everything that is registered then, and the answer."""
    try:
        registry = load_plugins(message["plugins"])
        keys = put_in_place(registry, message["plugin"])
    except ArenaError as error:
        return Registry(), {"type": "failed", "message": str(error)}
    return registry, _guarded(_description, registry, keys)


def _guarded(tell: Any, *given: Any) -> Answer:
    """What `tell` returns; whatever a plugin raises meanwhile is a failure of the request."""
    try:
        answer: Answer = tell(*given)
        protocol.line(answer)
    except Interrupted:
        raise
    except BaseException as error:
        return {"type": "failed", "message": describe(error)}
    return answer


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
        "copes": sorted(coped(agent)),
        "games": sorted(made_for(agent)),
        "wants_heuristic": bool(agent.wants_heuristic),
        "chooses": chooses(agent),
        "solves": solves(agent),
        "options": {name: _schema(agent, name) for name in parameters_of(agent)},
    }


def _schema(agent: type[Agent], name: str) -> Answer:
    """The JSON Schema of an option, with its default; nothing is known of one whose hint has none."""
    parameter = parameters_of(agent)[name]
    try:
        schema: Answer = adapters(agent)[name].json_schema()
    except Exception:  # the hints are the author's
        schema = {}
    return schema if parameter.default is parameter.empty else {**schema, "default": plain(parameter.default)}


def _checked(registry: Registry, message: Answer) -> Answer:
    faults: list[tuple[list[str | int], str]] = []

    def report(path: Path, fault: str) -> None:
        faults.append((list(path), fault))

    optimal = None
    if message["type"] == "options":
        agent = registry.agent(message["agent"])
        values = validated(agent, message["given"], (), report)
        if values is not None:
            optimal = _made(agent, values, report)
    else:
        try:
            target = registry.heuristic(message["game"], message["heuristic"])
            values = parameters_checked(target, message["heuristic"], message["given"], report)
        except UnknownName as error:
            values = None
            report((), str(error))
    told = [{"path": path, "message": fault} for path, fault in faults]
    return {"type": "checked", "values": None if faults else plain(values), "faults": told, "optimal": optimal}


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
    serve(*pipes())
