"""A call of `arena play` or `arena solve` as a spec, so that names, options and positions are checked as in any tournament."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from arena.commands.terminal import human
from arena.commands.terminal.words import entry_of
from arena.errors import ArenaError, SpecError
from arena.match.match import Match, match_id
from arena.spec import Spec, load_spec


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """What is played, from where, and what agents may use."""

    game: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    position: str | None = None
    heuristic: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()

    def keys(self, agents: Sequence[str]) -> dict[str, Any]:
        """The keys of the spec for these agents, given as words."""
        keys: dict[str, Any] = {
            "game": {"name": self.game, **self.parameters} if self.parameters else self.game,
            "agents": [_brief(entry) for entry in self._entries(agents)],
        }
        if self.limits:
            keys["limits"] = dict(self.limits)
        if self.position is not None:
            keys["positions"] = [self.position]
        keys["seed"] = self.seed
        return keys

    def load(self, agents: Sequence[str]) -> Spec:
        """The spec, ready to be played; ArenaError lists all that is wrong with the call, in its own words."""
        try:
            return load_spec(self.keys(agents), plugins=(*self.plugins, human.__name__))
        except SpecError as error:
            faults = [f"{self._place(fault.where, agents)}: {fault.message}" for fault in error.faults]
            raise ArenaError("\n".join(dict.fromkeys(faults))) from error

    def at(self, position: str) -> "MatchSetup":
        """The same from another position."""
        return replace(self, position=position)

    def _entries(self, agents: Sequence[str]) -> list[dict[str, Any]]:
        """The entries of the spec; twins get labels, which no two entries may share."""
        entries = []
        for number, word in enumerate(agents, 1):
            entry = entry_of(word)
            if self.heuristic is not None:
                entry.setdefault("heuristic", self.heuristic)
            if list(agents).count(word) > 1:
                entry.setdefault("label", f"{word} (seat {number})")
            entries.append(entry)
        return entries

    def _place(self, where: str, agents: Sequence[str]) -> str:
        """Where a fault of the spec stands in the call."""
        for pattern, place in _PLACES:
            found = re.fullmatch(pattern, where)
            if found:
                return place(found, agents)
        return where or self.game


def _brief(entry: Mapping[str, Any]) -> Any:
    """An entry as one would write it in a spec."""
    return entry["agent"] if len(entry) == 1 and isinstance(entry["agent"], str) else dict(entry)


Place = Callable[[re.Match[str], Sequence[str]], str]


def _agent(found: re.Match[str], agents: Sequence[str]) -> str:
    word = agents[int(found[1])]
    return f"{word}: {found[2]}" if found[2] else word


_PLACES: tuple[tuple[str, Place], ...] = (
    (r"agents\[(\d+)\](?:\.(.+))?", _agent),
    (r"game(?:\.name)?", lambda found, agents: "GAME"),
    (r"game\.(.+)", lambda found, agents: f"--set {found[1]}"),
    (r"positions.*", lambda found, agents: "--position"),
    (r"limits\.(.+)", lambda found, agents: f"--limits {found[1]}"),
)


def match_of(spec: Spec) -> Match:
    """The match of all entries of a spec, in their order, from its first position. What the game raises is passed on."""
    board = spec.boards[0]
    position = board.positions[0]
    identity = match_id(position.key, board.seats, board.seats[0].limits.moves)
    return Match(identity, board.game, position, board.seats, spec.seed)
