"""Turns a call of a command such as `arena play` into a spec, so that it is validated like any tournament."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from arena import ArenaError, Spec, SpecError
from arena.api.cli import load
from arena.api.errors import call_foreign
from arena.api.match import Match, match_id
from arena.api.spec import SHARED_DEALS, load_spec
from arena_setup.words import entry_of, values_of

_AGENT = re.compile(r"agents\[(\d+)\](?:\.(.+))?")
_PLACES = {r"game(?:\.name)?": "GAME", r"game\.(.+)": r"--set \1", r"positions.*": "--position", r"limits\.(.+)": r"--limits \1"}
"""The paths of a spec and the words of the call that set them."""


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """A game, its position, and the limits of agents, as a call gives them."""

    game: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    position: str | None = None
    heuristic: str | None = None
    limits: Mapping[str, Any] | None = None
    """None if the call has no limits, empty if it lifts the default limits."""
    plugins: tuple[str, ...] = ()
    own_plugins: tuple[str, ...] = ()
    """Plugins that the command itself loads, such as the agent `human`."""

    def keys(self, agents: Sequence[str]) -> dict[str, Any]:
        """Return the keys of the spec for these agents, given as words; equal agents get labels, because labels must be
        unique.
        """
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
        """Return the spec, ready to be played; raises ArenaError with all errors, in terms of the call."""
        try:
            spec = load_spec(self.keys(agents), plugins=(*self.plugins, *self.own_plugins))
            return replace(spec, notes=tuple([note for note in spec.notes if SHARED_DEALS not in note]))  # there is but one match
        except SpecError as error:
            faults = [f"{self._place(fault.where, agents)}: {fault.message}" for fault in error.faults]
            raise ArenaError("\n".join(dict.fromkeys(faults))) from error

    def load_alike(self, agent: str) -> Spec:
        """Return the spec in which the same agent has every seat."""
        kind = load(self.plugins).game(self.game)
        # Wrong parameters are reported better when the spec is loaded, so any number of seats will do here.
        players = call_foreign(lambda: kind(**self.parameters).players, lambda _: max(1, kind.players))
        return self.load([agent] * players)

    def at(self, position: str) -> "MatchSetup":
        """Return the same setup from another position."""
        return replace(self, position=position)

    def _place(self, where: str, agents: Sequence[str]) -> str:
        """Return the word of the call that caused an error of the spec."""
        agent = _AGENT.fullmatch(where)
        if agent is not None:
            word = agents[int(agent[1])]
            return f"{word}: {agent[2]}" if agent[2] else word
        found = [(re.fullmatch(pattern, where), place) for pattern, place in _PLACES.items()]
        return next((match.expand(place) for match, place in found if match), where or self.game)


def setup_of(game: str, asked: Mapping[str, Any], own_plugins: tuple[str, ...] = ()) -> MatchSetup:
    """Return a setup from the options that `play` and `solve` share; raises ArenaError for an invalid one."""
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
