"""A call of a command such as `arena play` as a spec, so that names, options and positions are checked as in any tournament."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from arena.console.notices import load
from arena.console.words import entry_of, values_of
from arena.errors import ArenaError, SpecError, call_foreign
from arena.match.match import Match, match_id
from arena.spec import Spec, load_spec
from arena.spec.boards import SHARED_DEALS

_AGENT = re.compile(r"agents\[(\d+)\](?:\.(.+))?")
_PLACES = {r"game(?:\.name)?": "GAME", r"game\.(.+)": r"--set \1", r"positions.*": "--position", r"limits\.(.+)": r"--limits \1"}
"""Paths of a spec and the words of the call that they come from."""


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """A game, its position, and the limits of agents, as a call gives them."""

    game: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    position: str | None = None
    heuristic: str | None = None
    limits: Mapping[str, Any] | None = None
    """None if the call says nothing of limits, empty if it lifts them."""
    plugins: tuple[str, ...] = ()
    own_plugins: tuple[str, ...] = ()
    """What the command itself loads, such as the agent `human`."""

    def keys(self, agents: Sequence[str]) -> dict[str, Any]:
        """Return the keys of the spec for these agents, given as words; twins get labels, since no two entries may share one."""
        entries = []
        for number, word in enumerate(agents, 1):
            entry = entry_of(word)
            if self.heuristic is not None:
                entry.setdefault("heuristic", self.heuristic)
            if list(agents).count(word) > 1:
                entry.setdefault("label", f"{word} (seat {number})")
            entries.append(entry["agent"] if len(entry) == 1 and isinstance(entry["agent"], str) else entry)
        game = {"name": self.game, **self.parameters} if self.parameters else self.game
        keys: dict[str, Any] = {"game": game, "agents": entries}
        if self.limits:
            keys["limits"] = dict(self.limits)
        if self.position is not None:
            keys["positions"] = [self.position]
        return {**keys, "seed": self.seed}

    def load(self, agents: Sequence[str]) -> Spec:
        """Return the spec, ready to be played; ArenaError lists all that is wrong with the call, in its own words."""
        try:
            spec = load_spec(self.keys(agents), plugins=(*self.plugins, *self.own_plugins))
            return replace(spec, notes=tuple([note for note in spec.notes if SHARED_DEALS not in note]))  # there is but one match
        except SpecError as error:
            faults = [f"{self._place(fault.where, agents)}: {fault.message}" for fault in error.faults]
            raise ArenaError("\n".join(dict.fromkeys(faults))) from error

    def at(self, position: str) -> "MatchSetup":
        """Return the same setup from another position."""
        return replace(self, position=position)

    def _place(self, where: str, agents: Sequence[str]) -> str:
        """Return the word of the call that a fault of the spec comes from."""
        agent = _AGENT.fullmatch(where)
        if agent is not None:
            word = agents[int(agent[1])]
            return f"{word}: {agent[2]}" if agent[2] else word
        found = [(re.fullmatch(pattern, where), place) for pattern, place in _PLACES.items()]
        return next((match.expand(place) for match, place in found if match), where or self.game)


def players_of(setup: MatchSetup) -> int:
    """Return the number of seats of a setup's game; some number where its parameters are wrong, which the spec says better."""
    kind = load(setup.plugins).game(setup.game)
    return call_foreign(lambda: kind(**setup.parameters).players, lambda _: max(1, kind.players))


def setup_of(game: str, asked: Mapping[str, Any], own_plugins: tuple[str, ...] = ()) -> MatchSetup:
    """Return a setup from the options that `play` and `solve` share; ArenaError names the one that is wrong."""
    parameters, word = values_of(asked["given"], what="--set"), asked["limits"]
    limits = {} if word is None or word.strip() == "none" else values_of([word], what="--limits")
    for key in ("nodes", "seconds"):
        if asked[key] is not None and key in limits:
            raise ArenaError(f"--{key}: given twice, here and in --limits")
        if asked[key] is not None:
            limits[key] = asked[key]
    rest = {key: asked[key] for key in ("seed", "position", "heuristic", "plugins")}
    return MatchSetup(game, parameters, limits=None if word is None and not limits else limits, own_plugins=own_plugins, **rest)


def match_of(spec: Spec) -> Match:
    """Return the match of all entries of a spec, in their order, from its first position. Errors of the game are passed on."""
    board = spec.boards[0]
    position = board.positions[0]
    identity = match_id(position.key, board.seats, board.seats[0].limits.moves)
    return Match(identity, board.game, position, board.seats, spec.record_seed)
