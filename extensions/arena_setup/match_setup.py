"""Turns the arguments of a command such as `arena play` into a spec, so that they are validated like a tournament."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from arena import ArenaError, Spec, SpecError
from arena.api.cli import load
from arena.api.errors import call_foreign
from arena.api.match import Match, Seat
from arena.api.spec import SHARED_DEALS, load_spec
from arena_setup.words import entry_of, heuristic_of, values_of

_LIMITS_KEY = re.compile(r"`limits: \{(\w+): ([^{}]*)\}`")
"""A limit as the messages about a spec write it."""
_AGENT = re.compile(r"agents\[(\d+)\](?:\.agent)?(?:\.(.+))?")
_PLACES = {r"game\.(?!name$)(.+)": r"--set \1", r"positions.*": "--position", r"limits\.(.+)": r"--limits \1"}
"""The paths in a spec, and the words of the command line that set them. The name of the game is such a word itself."""


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """A game, its position, and the limits of agents, as given on the command line."""

    game: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    position: str | None = None
    heuristic: str | None = None
    limits: Mapping[str, Any] | None = None
    """The given limits. None means that none are given; an empty mapping removes the default limits."""
    patient: bool = False
    """Whether the limits are those of a command, and not of the user; see `arena.Limits.patient`."""
    plugins: tuple[str, ...] = ()
    own_plugins: tuple[str, ...] = ()
    """Plugins that the command itself loads, such as the agent `human`."""

    def keys(self, agents: Sequence[str]) -> dict[str, Any]:
        """Return the keys of the spec for these agents, which are given as words. Equal agents get labels, because labels must be
        unique.
        """
        entries = []
        for number, word in enumerate(agents, 1):
            entry = entry_of(word)
            if self.heuristic is not None:
                name, parameters = heuristic_of(self.heuristic)
                entry.setdefault("heuristic", {"name": name, **parameters} if parameters else name)
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
        """Return the spec, ready to be played; raises ArenaError with all errors, described in the words of the command line."""
        try:
            spec = load_spec(self.keys(agents), plugins=(*self.plugins, *self.own_plugins))
            spec = make_patient(spec, self.limits) if self.patient and self.limits else spec
            # The note that is left out is about the deals of several matches, and this spec has only one match.
            return replace(spec, notes=tuple([note for note in spec.notes if SHARED_DEALS not in note]))
        except SpecError as error:
            messages = [_LIMITS_KEY.sub("--limits \\1=\\2", fault.message) for fault in error.faults]
            faults = [f"{self._place(fault.where, agents)}: {text}" for fault, text in zip(error.faults, messages, strict=True)]
            raise ArenaError("\n".join(dict.fromkeys(faults))) from error

    def load_alike(self, agent: str) -> Spec:
        """Return the spec in which the same agent plays in every seat."""
        kind = load(self.plugins).game(self.game)
        # If the parameters are wrong, loading the spec reports it better, so here any number of seats will do.
        players = call_foreign(lambda: kind(**self.parameters).players, lambda _: max(1, kind.players))
        return self.load([agent] * players)

    def at(self, position: str) -> "MatchSetup":
        """Return the same setup with another position."""
        return replace(self, position=position)

    def _place(self, where: str, agents: Sequence[str]) -> str:
        """Return the word on the command line that caused an error in the spec."""
        agent = _AGENT.fullmatch(where)
        if agent is not None:
            word = agents[int(agent[1])]
            inner = re.fullmatch(r"heuristic(?:\.(.+))?", agent[2] or "")
            if inner is not None and "heuristic" not in entry_of(word):
                return "--heuristic" if inner[1] in (None, "name") else f"--heuristic {self.heuristic}: {inner[1]}"
            return f"{word}: {agent[2]}" if agent[2] else word
        found = [(re.fullmatch(pattern, where), place) for pattern, place in _PLACES.items()]
        return next(
            (match.expand(place) for match, place in found if match), self.game if where in ("", "game", "game.name") else where
        )


def make_patient(spec: Spec, limits: Mapping[str, Any]) -> Spec:
    """Return the spec with `Limits.patient` for all seats that have `limits`, which the user has not named.

    Seats with limits of their own keep these. No random action replaces an action of an agent with patient limits.
    """

    def change(seat: Seat) -> Seat:
        own = any(getattr(seat.limits, name) != value for name, value in limits.items())
        return seat if own else replace(seat, limits=replace(seat.limits, patient=True))

    boards = [replace(board, seats=tuple(map(change, board.seats))) for board in spec.boards]
    return replace(spec, boards=tuple(boards))


def setup_of(game: str, asked: Mapping[str, Any], own_plugins: tuple[str, ...] = ()) -> MatchSetup:
    """Return a setup from the options that `play` and `solve` share; raises ArenaError if they are not valid."""
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
    """Return the match between all entries of a spec, in their order, from its first position. Exceptions from the game are not
    caught.
    """
    board = spec.boards[0]
    position = board.positions[0]
    return Match.of(board.game, position, board.seats, spec.record_seed)
