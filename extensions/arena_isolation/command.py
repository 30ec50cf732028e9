"""Agents that are external programs in any language. They speak the protocol of docs/protocol.md."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os.path import isfile
from pathlib import Path as FilePath
from typing import Annotated, Any

from pydantic import Field

from arena import Action, Agent, Answer, ArenaError, Game, Path, Search, State
from arena.api.errors import abbreviate
from arena.api.games import Evaluation
from arena.api.match import Program
from arena.api.spec import Choices, EntryAgent, Fitted, GivenEntry, Rules, SourceReader, check_value, make_adapter


class ExternalAgent(Agent):
    """A program that a spec names. Whether it chooses or solves, it says itself when it is started."""

    name = "command"
    copes = frozenset({"chance", "hidden-information"})  # for hidden information, the program itself says whether it does

    def __init__(self, **options: Any) -> None:
        """Accept any options: only the program knows them."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Raise TypeError: a program is asked only through its own process."""
        raise TypeError("a command plays in a process of its own")

    def solve(self, game: Game, state: State, search: Search) -> Path | Answer | None:
        """Raise TypeError, as `choose` does."""
        raise TypeError("a command plays in a process of its own")


def found(program: str, folder: FilePath) -> bool:
    """Return whether a program can be started from `folder`: a path relative to it, or a name on PATH."""
    return shutil.which(str(folder / program) if "/" in program else program) is not None


def need_startable(word: str, command: Sequence[str], example: str) -> None:
    """Raise ArenaError if the command of a word cannot be started here. `example` shows how to put an interpreter before it."""
    if not found(command[0], FilePath.cwd()):
        if not FilePath(command[0]).exists():
            raise ArenaError(f"{word}: no such file; write it as in {example}")
        raise ArenaError(
            f"{word}: is no Python file and cannot be started; chmod +x it, or put its interpreter before it, as in {example}"
        )


def called(command: Sequence[str]) -> str:
    """Return the default label of a command: the stem of its last word, such as `my_agent` for `node my_agent.js`."""
    return FilePath(command[-1]).stem or command[-1]


COMMAND = "command"
"""The key in `agent`, and the name of the source."""


class CommandReader(SourceReader):
    """Reads entries whose agent is a program."""

    def read(self, given: GivenEntry) -> EntryAgent | None:
        """Return the agent of `{command: [program, argument, ...]}`."""
        return CommandAgent(given) if isinstance(given.values.get("agent"), dict) else None


class CommandAgent(EntryAgent):
    """A program that a spec names. On a cluster its files may be in another folder, as `SpecReader.shared` says."""

    here = False

    def __init__(self, given: GivenEntry) -> None:
        super().__init__(given)
        self._moved: Mapping[str, str] = given.reading.shared.get(COMMAND) or {}
        self.words = self._read_words(given.values["agent"])
        self.apart = None if self.words is None else "a program"

    def _read_words(self, given: Mapping[str, Any]) -> tuple[str, ...] | None:
        where, report, folder = ("agent", COMMAND), self.given.report, self.reading.document.folder
        if COMMAND not in given:
            report(("agent",), "expected the name of an agent or {command: [program, argument, ...]}")
            return None
        words: list[str] | None = check_value(_WORDS, given[COMMAND], where, report)
        if words is None:
            return None
        if not found(self._moved.get(words[0], words[0]), folder):
            place = f"in {folder}" if "/" in words[0] else "on PATH"
            there = isfile(folder / words[0])  # noqa: PTH113 - takes a name that no file can have
            advice = "; it is there, but not executable: chmod +x it, or put its interpreter before it" if there else ""
            report(where, f"no program {abbreviate(words[0])} {place} that can be started{advice}")
        return tuple(words)

    def find(self) -> type[Agent] | None:
        """Return the class that represents a program."""
        return ExternalAgent

    def check_options(self, agent: type[Agent]) -> dict[str, Any] | None:
        """Return the options unchanged: only the program knows them."""
        return self.given.options()

    def name(self, agent: type[Agent]) -> str:
        """Return the name of the entry, which is derived from its command."""
        return called(self.words or ())

    def heuristic(self, choices: Choices, rules: Rules) -> tuple[Evaluation | None, Fitted | None]:
        """Return the heuristic that the entry asks for; a program has its own."""
        return super().heuristic(choices, rules) if choices else (None, None)

    def identity_options(self) -> Mapping[str, Any]:
        """Return the command, which is part of the identity of the seat."""
        return {COMMAND: list(self.words or ())}

    def program(self, program: Program, game: str) -> Program:
        """Return the program to start instead of arena's host."""
        return replace(program, command=tuple([self._moved.get(word, word) for word in self.words or ()]))

    def note_trust(self, agent: str) -> None:
        """Do nothing, because arena loads no code of a program."""


_WORDS = make_adapter(Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)])
