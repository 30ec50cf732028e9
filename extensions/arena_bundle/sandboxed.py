"""Starts a sandboxed process that loads the spec of a bundle, and sends requests to it."""

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from arena import ArenaError
from arena.api.errors import describe
from arena.api.processes import PythonProcess
from arena.api.spec import PluginPlace
from arena.clock import perf_counter
from arena_bundle.layout import TOURNAMENT, Model, NoBundle, Strict, read_json, read_model
from arena_isolation.agent_start import MAX_SUBMITTED_THREADS, AgentChild, counts_memory, open_group, prove_once
from arena_isolation.child import ChildLost
from arena_isolation.helper_process import pack
from arena_isolation.sandbox import enclose, environment
from arena_isolation.system_calls import filter_pipe
from arena_isolation.versions import list_installed_code

MODULE = "arena_bundle.replay_host"
MAX_MEMORY_BYTES = 4 << 30
"""The memory that the process and all its children may use."""
MAX_PROCESSES = 256
RECORDS_PER_ANSWER = 100
"""The number of records that one request compares with the rules."""
MAX_ANSWER_BYTES = 64 << 20
LOAD_SECONDS = 120.0
"""The timeout in seconds for loading a spec."""
ANSWER_SECONDS = 600.0
"""The timeout in seconds for any other request that does not play a match."""
LOOKS = ("plugins", "report", "columns", "sort")
"""Keys of a spec that change neither the schedule nor the rules, but may name code of the bundle."""


def stand_ins(labels: Sequence[str]) -> list[dict[str, str]]:
    """Return entries with these labels and an agent of arena, which needs nothing. They take the places of other agents."""
    return [{"agent": "random", "label": label} for label in labels]


class Loaded(Strict):
    """The answer to `load`; see `ReplayHost.do_load`."""

    boards: list[dict[str, Any]]
    hash: str
    parts: dict[str, list[str]]
    own: dict[str, tuple[str | None, list[str]]]
    """The plugins of arena itself that the spec uses, each with its version and parts."""
    reasons: list[list[str | None]]
    follows: list[bool]
    missing: list[tuple[int, str]]
    foreign: list[str]
    invalid: str | None


class Taken(Strict):
    """The answer to `take`: the number, board, round, seats and id of each match."""

    matches: list[tuple[int, int, int, list[int], str | None]]


class Told(Strict):
    """The answer to `tell`."""


class Replayed(Strict):
    """The answer to `play`: the record without times, and the texts of an error."""

    record: dict[str, Any]
    message: str | None
    traceback: str | None


class Followed(Strict):
    """The answer to `follow`."""

    differences: list[str]
    over: bool
    unsure: int = 0
    """The number of records with adjusted returns that could not be confirmed."""


class Computed(Strict):
    """The answer to `boards`: the boards, and the columns that plugins add to each of them."""

    boards: list[dict[str, Any]]
    columns: list[list[dict[str, Any]]]


class HostFailed(ArenaError):
    """The process in the sandbox could not answer a request. The message gives the reason."""


class SandboxedHost(AgentChild):
    """The process in the sandbox. It sees only the files of the bundle, and the files in `readable`.

    Raises SandboxError if there is no working sandbox on this machine.
    """

    def __init__(self, root: Path, folders: Sequence[str], readable: Sequence[Path] = ()) -> None:
        prove_once()
        path = [*PythonProcess.import_path(), *[str(root / folder) for folder in folders]]
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join(path), PluginPlace.ENVIRONMENT: ""}
        with ExitStack() as stack:
            undo = stack.enter_context(ExitStack())
            group = open_group(MAX_MEMORY_BYTES, MAX_SUBMITTED_THREADS)
            if group is not None:
                undo.callback(group.remove)
            metered = counts_memory(group)
            calls = stack.enter_context(filter_pipe(frozen=True, metered=metered))  # the process is never stopped
            shown = [root, *readable, *list_installed_code()]
            super().__init__(
                enclose(
                    [sys.executable, "-P", "-m", MODULE],
                    readable=shown,
                    folder=root / TOURNAMENT,
                    calls=calls,
                    metered=metered,
                ),
                str(root),
                MAX_MEMORY_BYTES,
                environment(variables),
                most=MAX_PROCESSES,
                longest=MAX_ANSWER_BYTES,
                group=group,
                descriptors=[calls],
                quiet=True,  # the code of a stranger must not write to the terminal
            )
            undo.pop_all()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.end()

    def ask(self, model: type[Model], what: str, seconds: float = ANSWER_SECONDS, **values: Any) -> Model:
        """Return the answer to a request. Raises HostFailed if the request fails, or after `seconds`.

        Code of the bundle can change the answer, so its types are checked.
        """
        end = perf_counter() + seconds
        try:
            self.send(pack({"do": what, **values}), end)
            answer = read_json(self.receive(end), "the answer of the sandbox")
            if isinstance(answer, dict) and "fault" in answer:
                raise HostFailed(str(answer["fault"]))
            return read_model(model, answer, "the answer of the sandbox")
        except ChildLost as lost:
            reason = {"late": f"no answer within {seconds:,.0f} s", "memory": "it needs too much memory"}
            raise HostFailed(reason.get(lost.why, f"its process in the sandbox ended unexpectedly ({lost.why})")) from lost
        except (NoBundle, RecursionError) as error:
            raise HostFailed(f"an answer from the sandbox is not valid ({describe(error)})") from error
