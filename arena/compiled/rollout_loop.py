"""The loop of a rollout: what mcts plays at random from a leaf of its tree, in games with chance."""

import random
from array import array
from typing import Any

from arena.compiled.edition import Edition
from arena.compiled.fields import NotCompilable
from arena.compiled.loop import Loop, huge
from arena.compiled.twister import WORDS, numbers_of
from arena.counting import GoPlain
from arena.game import State, gives

OVER = 2


class CutOff(GoPlain):
    """A rollout has come to the depth at which it is cut off: what was drawn does not count."""


class RolloutLoop(Loop):
    """Plays on as `play_on_with_chance` of `arena_agents.playouts` does; the tree stays in Python."""

    kernel = "rollout"
    in_place = True
    informed = False
    searches = False

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        if not gives(edition.game, "chance_outcomes"):
            raise NotCompilable("it has no chance")
        if gives(edition.game, "observation"):
            raise NotCompilable("it has hidden information")
        return {"PLAYERS": edition.players, "GRID": edition.in_place}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        edition = self.edition
        return {
            "registers": 9, "gains": edition.players, "twister": WORDS, "walk": edition.words, "scratch": edition.width,
        }  # fmt: skip

    def __call__(self, state: State, rng: random.Random, ply: int, longest: int) -> list[float] | None:
        """Return what a state, `ply` decisions after the root, gives to each seat; None where it is to be played plain.

        That is where it is not over `longest` decisions after the root; the generator and all counts are as before then.
        """
        memory, meter, nodes = self.memory, self.meter, self.meter.nodes
        registers = memory["registers"]
        try:
            memory["walk"][:] = array("q", self.edition.encode(state))
        except OverflowError:
            raise GoPlain("the state does not fit into 64 bits") from None
        registers[4], registers[7], registers[8] = 0, ply, huge(longest)
        try:
            with numbers_of(rng, memory["twister"]):
                if self.drive(registers) == OVER:
                    raise CutOff
        except CutOff:
            meter.nodes = nodes
            return None
        return memory["gains"].tolist()  # type: ignore[no-any-return]
