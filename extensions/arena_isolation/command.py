"""Agents that are external programs in any language. They follow the protocol in docs/reference/protocol.md."""

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
from arena.api.spec import Choices, EntryAgent, Fitted, GivenEntry, Rules, SourceReader


class ExternalAgent(Agent):
    """A program that a spec (a tournament file) names. When the program starts, it says whether it chooses single actions or
    solves whole puzzles.
    """

    name = "command"
    copes = frozenset({"chance", "hidden-information"})  # the program itself says whether it supports hidden information

    def __init__(self, **options: Any) -> None:
        """Accept any options, because only the program knows them."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Raise TypeError, because a program is asked only through its own process."""
        raise TypeError("a command cannot play in this process; it needs a separate process")

    def solve(self, game: Game, state: State, search: Search) -> Path | Answer | None:
        """Raise TypeError, as `choose` does."""
        raise TypeError("a command cannot play in this process; it needs a separate process")


SPEC_ENDINGS = (".yaml", ".yml", ".json")


def found(program: str, folder: FilePath) -> bool:
    """Return True if a program can be started from `folder`. The program is a path relative to the folder, or a name on PATH."""
    return shutil.which(str(folder / program) if "/" in program else program) is not None


def need_startable(word: str, command: Sequence[str], example: str) -> None:
    """Raise ArenaError if a command cannot be started here. `word` is the command as the user wrote it. `example` shows how to
    put an interpreter before the program.
    """
    if not found(command[0], FilePath.cwd()):
        if not FilePath(command[0]).exists():
            raise ArenaError(f"{word}: no such file; write it as in {example}")
        if FilePath(command[0]).suffix in SPEC_ENDINGS:
            raise ArenaError(f"{word} is a spec, and not an agent; to play it, use `arena run {word}`")
        raise ArenaError(
            f"{word} is neither a Python file nor executable; run chmod +x on it, or put its interpreter before it, as in "
            f"{example}"
        )


def called(command: Sequence[str]) -> str:
    """Return the default label of a command: the stem of its last word, such as `my_agent` for `node my_agent.js`."""
    return FilePath(command[-1]).stem or command[-1]


COMMAND = "command"
"""The key for the command in the mapping `agent` of an entry. It is also the name of the agent source."""


class CommandReader(SourceReader):
    """Reads entries for which the agent is a program."""

    def read(self, given: GivenEntry) -> EntryAgent | None:
        """Return the agent of `{command: [program, argument, ...]}`."""
        return CommandAgent(given) if isinstance(given.values.get("agent"), dict) else None


class CommandAgent(EntryAgent):
    """The agent of an entry that names a program. On a cluster, the files of the program may be in another folder; see
    `SpecReader.shared`.
    """

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
        words: list[str] | None = self.given.check(where, _WORDS, given[COMMAND])
        if words is None:
            return None
        if not found(self._moved.get(words[0], words[0]), folder):
            place = f"in {folder}" if "/" in words[0] else "on PATH"
            there = isfile(folder / words[0])  # noqa: PTH113 - accepts names that no file can have
            advice = "; it exists, but is not executable: run chmod +x on it, or put its interpreter before it" if there else ""
            report(where, f"no executable program {abbreviate(words[0])} was found {place}{advice}")
        return tuple(words)

    def find(self) -> type[Agent] | None:
        """Return the class that stands for any program."""
        return ExternalAgent

    def check_options(self, agent: type[Agent]) -> dict[str, Any] | None:
        """Return the options unchanged, because only the program knows them."""
        return self.given.options()

    def name(self, agent: type[Agent]) -> str:
        """Return the name of the entry, which is derived from its command."""
        return called(self.words or ())

    def heuristic(self, choices: Choices, rules: Rules) -> tuple[Evaluation | None, Fitted | None]:
        """Return the heuristic that the entry names. If the entry names none, arena chooses none, because a program has its own
        heuristic.
        """
        return super().heuristic(choices, rules) if choices else (None, None)

    def identity_options(self) -> Mapping[str, Any]:
        """Return the command, which is part of the identity of the seat."""
        return {COMMAND: list(self.words or ())}

    def program(self, program: Program, game: str) -> Program:
        """Return the program that is started instead of the Python host of arena."""
        return replace(program, command=tuple([self._moved.get(word, word) for word in self.words or ()]))

    def note_trust(self, agent: str) -> None:
        """Do nothing, because arena loads no code of a program."""


_WORDS = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
