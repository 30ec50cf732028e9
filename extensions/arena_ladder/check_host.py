"""The far end of `arena_ladder.examination`: `python -m arena_ladder.check_host` loads a plugin and checks its agent.

It runs where matches of the agent will: nothing that it says is trusted further than that the agent may play.
"""

from typing import Any

from arena.api.match import FAULTS, Limits
from arena.api.run import serve, take_pipes
from arena_check.agent_checks import agent_setups
from arena_isolation.describe_host import DescribeHost

Answer = dict[str, Any]


class CheckHost(DescribeHost):
    """Checks agents of the plugin that it was asked to describe last."""

    can = "check"

    def work(self, message: Answer) -> Answer:
        """Return the first move of an agent on a game, or the verdicts of all checks."""
        game = self.registry.game(message["game"])(**message["parameters"])
        (setup,) = agent_setups(message["agent"], game, self.registry)
        if message["type"] == "decide":
            record = setup.first_move(Limits(**message["limits"]))
            fault = f"{record.termination}: {record.message}" if record.termination in FAULTS else None
            return {"type": "decided", "fault": fault}
        verdicts = []
        for verdict in setup.suite(0, message["matches"], message["patience"]).verdicts():
            found = None if verdict.violation is None else str(verdict.violation.finding)
            verdicts.append({"check": verdict.check, "promise": verdict.promise, "reached": verdict.reached, "found": found})
        return {"type": "checked", "verdicts": verdicts}


if __name__ == "__main__":
    serve(CheckHost().answer, *take_pipes())
