"""Whether the programs that a spec names start on a machine: those that start at the coordinator must start on a node, too."""

from collections.abc import Iterator, Sequence

from arena.isolation.agent_process import AgentLost, AgentProcess, NoAgentProcess
from arena.isolation.sandbox import SandboxError
from arena.match.match import Isolation, Program
from arena.spec import Spec

Starting = tuple[Program, int | None, Isolation]
"""A program, its limit of memory in MiB, and where it runs."""


def starting(spec: Spec) -> Sequence[bool]:
    """For every program of a spec, in order, whether it starts here. Each is started once, and ended when it has said hello."""
    return [fault(*one) is None for one in programs(spec)]


def programs(spec: Spec) -> Iterator[Starting]:
    """The programs of a spec, each once, in an order that follows from the spec."""
    seen = set()
    for board in spec.boards:
        for seat in board.seats:
            program = seat.program
            if program is not None and program.command is not None:
                key = (program.command, seat.limits.memory_mb, seat.isolation)
                if key not in seen:
                    seen.add(key)
                    yield program, seat.limits.memory_mb, seat.isolation


def fault(program: Program, memory_mb: int | None, isolation: Isolation) -> str | None:
    """Why a program does not start here; None where it does."""
    try:
        AgentProcess(program, memory_mb, isolation).end()
    except AgentLost as gone:
        return gone.message
    except (NoAgentProcess, SandboxError) as error:
        return str(error)
    return None
