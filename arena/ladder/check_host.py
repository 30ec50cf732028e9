"""The far end of `arena.ladder.examination`: `python -m arena.ladder.check_host` loads a plugin and checks its agent.

It runs where matches of the agent will: nothing that it says is trusted further than that the agent may play.
"""

from typing import Any, BinaryIO

from arena.errors import Interrupted, describe
from arena.isolation import protocol
from arena.isolation.agent_host import pipes
from arena.limits import Limits
from arena.match.record import FAULTS
from arena.plugins.registry import Registry
from arena.spec.describe_host import described
from arena.testing.agent_checks import AgentSetup, agent_setups
from arena.version import __version__

Answer = dict[str, Any]


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    registry = Registry()
    for line in requests:
        message = protocol.parsed(line)
        answer: Answer
        if message["type"] == "hello":
            answer = {"type": "hello", "protocol": protocol.VERSIONS[-1], "name": f"arena {__version__}", "can": ["check"]}
        elif message["type"] == "describe":
            registry, answer = described(message)
        else:
            answer = _guarded(registry, message)
        replies.write(protocol.line(answer))
        replies.flush()


def _guarded(registry: Registry, message: Answer) -> Answer:
    try:
        game = registry.game(message["game"])(**message["parameters"])
        (setup,) = agent_setups(message["agent"], game, registry)
        if message["type"] == "decide":
            record = setup.first_move(Limits(**message["limits"]))
            fault = f"{record.termination}: {record.message}" if record.termination in FAULTS else None
            return {"type": "decided", "fault": fault}
        return {"type": "checked", "verdicts": list(_verdicts(setup, message["matches"], message["patience"]))}
    except Interrupted:
        raise
    except BaseException as error:  # whatever the author's code raises
        return {"type": "failed", "message": describe(error)}


def _verdicts(setup: AgentSetup, matches: int, patience: float) -> Any:
    for verdict in setup.suite(0, matches, patience).verdicts():
        found = None if verdict.violation is None else str(verdict.violation.finding)
        yield {"check": verdict.check, "promise": verdict.promise, "reached": verdict.reached, "found": found}


if __name__ == "__main__":
    serve(*pipes())
