"""The process for `arena_isolation.describe`: `python -m arena_isolation.describe_host` loads a plugin and describes it.

Options are validated by the same code that reads a spec, so an older version of a plugin is read in the same way as the current
one.
"""

from collections.abc import Mapping
from typing import Any

from arena import Agent, ArenaError, Registry, UnknownName, __version__, load_plugins
from arena.api.errors import Interrupted, describe
from arena.api.games import Abilities, count_given
from arena.api.processes import PythonProcess
from arena.api.spec import Parameters, PluginPlace
from arena_isolation import protocol
from arena_isolation.helper_process import pack, serve, use_own_path

Answer = dict[str, Any]


class DescribeHost:
    """Answers questions about the plugin that it was last asked to describe."""

    def __init__(self) -> None:
        self.registry = Registry()

    def answer(self, message: Answer) -> Answer:
        """Return the answer to a request. If the plugin raises an error, the request fails."""
        if message["type"] == "hello":
            return {"type": "hello", "protocol": protocol.VERSION, "name": f"arena {__version__}", "can": ["describe"]}
        try:
            answer = self._describe(message) if message["type"] == "describe" else _checked(self.registry, message)
            pack(answer)
        except Interrupted:
            raise
        except BaseException as error:
            return {"type": "failed", "message": describe(error)}
        return answer

    def _describe(self, message: Answer) -> Answer:
        self.registry = Registry()
        try:
            installed = message.get("installed")
            registry = load_plugins(message["plugins"], entry_points=True if installed is None else installed)
            keys = PluginPlace(message["plugin"]).replace_in(registry)
        except ArenaError as error:
            return {"type": "failed", "message": str(error)}
        self.registry = registry
        agents: list[type[Agent]] = [registry.value(key) for key in keys if key[0] == "agent"]
        return {
            "type": "description",
            "agents": [
                {
                    "name": agent.name,
                    "needs": sorted(agent.needs),
                    "copes": sorted(Abilities(agent).copes),
                    "games": sorted(Abilities(agent).games),
                    "wants_heuristic": bool(agent.wants_heuristic),
                    "chooses": Abilities(agent).chooses,
                    "solves": Abilities(agent).solves,
                    "options": {name: _schema(agent, name) for name in Parameters(agent).known},
                }
                for agent in agents
            ],
            "games": [key[1] for key in keys if key[0] == "game"],
            "heuristics": [key[1:] for key in keys if key[0] == "heuristic"],
            "known": sorted(registry.heuristics),
        }


def _schema(agent: type[Agent], name: str) -> Answer:
    """Return the JSON Schema of an option, with its default. A type hint without a schema gives an empty answer."""
    parameter = Parameters(agent).known[name]
    try:
        schema: Answer = Parameters(agent).adapter(name).json_schema()
    except Exception:  # an author's type hints may raise anything
        schema = {}
    return schema if parameter.default is parameter.empty else {**schema, "default": Parameters.make_plain(parameter.default)}


def _checked(registry: Registry, message: Answer) -> Answer:
    faults: list[tuple[list[str | int], str]] = []

    def report(path: tuple[str | int, ...], fault: str) -> None:
        faults.append((list(path), fault))

    optimal = None
    target: Any = None
    if message["type"] == "options":
        target = registry.agent(message["agent"])
        values = Parameters(target).validate(message["given"], (), report)
        if values is not None:
            optimal = _made(target, values, report)
    else:
        try:
            target = registry.heuristic(message["game"], message["heuristic"])
            values = Parameters(target).validate(message["given"], (), report, skip=count_given(target))
        except UnknownName as error:
            values = None
            report((), str(error))
    told = [{"path": path, "message": fault} for path, fault in faults]
    if faults or values is None:
        return {"type": "checked", "values": None, "faults": told, "optimal": optimal}
    defaults = sorted(set(values) - set(Parameters(target).drop_defaults(values)))
    return {"type": "checked", "values": Parameters.make_plain(values), "defaults": defaults, "faults": told, "optimal": optimal}


def _made(agent: type[Agent], options: Mapping[str, Any], report: Any) -> str | None:
    """Return what an agent with these options claims about its solutions (see `Agent.optimal`). If the agent cannot be
    constructed, report a fault.
    """
    try:
        return agent(**options).optimal
    except Interrupted:
        raise
    except ValueError as error:
        report((), str(error) or describe(error))
    except BaseException as error:
        report((), f"cannot be created: {describe(error)}")
    return None


if __name__ == "__main__":
    use_own_path()
    serve(DescribeHost().answer, *PythonProcess.take_pipes())
