"""Comparisons for `arena check`. They compare compiled rules with the uncompiled ones, and the decisions of compiled searches
with those of uncompiled searches.
"""

from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, cast

from arena import Agent, Game, Limits, OutOfBudget, Puzzle, Search, State
from arena.api.games import Abilities, Evaluation
from arena.api.match import Stream
from arena.api.search import GoPlain, Meter, SharedStart, counting_view, wants_plain
from arena.clock import perf_counter
from arena.compiled import NoEstimate, NotCompilable
from arena_compiled import seam
from arena_compiled.background import MISSING
from arena_compiled.edition import Edition, GradedReturns, edition_of, why_plain
from arena_compiled.engines import ENGINES, engine_of
from arena_compiled.loop import FOUND, Loop
from arena_compiled.rehearsal import REHEARSAL_SECONDS, Fault, Rehearsal, rehearse, space_of

MAX_AGENTS = 2
"""The maximum number of agents whose decisions are compared, each with a different kernel (the text of an inner loop)."""
PROBE_ROWS = 64
"""The maximum number of states that are compared in one call."""


class ProbeValues(NamedTuple):
    """The results of the rules and of an estimate (a heuristic) for some states, as integers and floats."""

    words: list[int]
    reals: list[float]


class ProbeLoop(Loop):
    """Applies the rules to states, and to every step from them."""

    kernel = "probe"
    levels = PROBE_ROWS

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return the constants that are filled into the kernel."""
        puzzle = isinstance(edition.game, Puzzle)
        optional = {name.upper(): edition.has(name) for name in ("threats", "reverse", "step_cost")}
        return {"PUZZLE": puzzle, "PLAYERS": edition.players, "WORDS": edition.words, **optional}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        room = PROBE_ROWS * self._max_values()
        return {
            "registers": 8, "states": PROBE_ROWS * self.edition.words, "words": room, "reals": room,
            "scratch": self.edition.width, "walk": self.edition.words,
        }  # fmt: skip

    def _max_values(self) -> int:
        """Return the maximum number of values for one state."""
        edition = self.edition
        return 4 + edition.players * (edition.width + 2) + edition.width * (edition.words + 3)

    def __call__(self, states: Sequence[State]) -> ProbeValues | None:
        """Return the results of the compiled rules for at most PROBE_ROWS states; None if the arrays have not enough room."""
        self._put(self.memory.arrays, states)
        return self._read(self.memory.arrays, self._drive.once(self.memory))

    def uncompiled(self, space: dict[str, Any], states: Sequence[State]) -> ProbeValues | None:
        """Return the results of the same module when it runs as plain Python. `space` is the result of `rehearsal.space_of`."""
        arrays = {name: array(one.typecode, bytes(len(one) * one.itemsize)) for name, one in self.memory.arrays.items()}
        self._put(arrays, states)
        return self._read(arrays, space["run"](space["rules"], space["estimate"], *arrays.values()))

    def _put(self, arrays: Any, states: Sequence[State]) -> None:
        words = [word for state in states for word in self.edition.encode(state)]
        arrays["states"][: len(words)] = array("q", words)
        registers = arrays["registers"]
        registers[4], registers[5], registers[6], registers[7] = (
            len(states),
            len(arrays["words"]),
            len(arrays["reals"]),
            self._max_values(),
        )

    def _read(self, arrays: Any, status: int) -> ProbeValues | None:
        if status != FOUND:
            return None
        registers = arrays["registers"]
        return ProbeValues(arrays["words"][: registers[5]].tolist(), arrays["reals"][: registers[6]].tolist())


def find_obstacle(game: Game, evaluation: Evaluation | None, *, compiling: bool) -> str | None:
    """Return the reason why `arena check` finds that searches of a game, or with a heuristic, do not run compiled; None if they
    do. The rules are compared with the game in a few states. With `compiling`, they are also compiled if the compiler is
    installed.
    """
    reason = why_plain(game, evaluation)
    if reason is not None:
        return reason
    if edition_of(game).in_place:  # such a game has no probe
        return None if evaluation is None else seam.IN_PLACE
    setup = CompiledSetup(game, evaluation, {}, None if compiling else "it takes too long")
    try:
        setup.begin()
        if not setup.derived and setup.refused is None:
            until = perf_counter() + REHEARSAL_SECONDS
            for state in reversed(setup.samples):
                if perf_counter() < until:
                    setup.rehearsals[False].state(state)
    except NotCompilable as refused:
        return str(refused)
    return None if setup.refused is None else str(setup.refused)


@dataclass(slots=True)
class CompiledSetup:
    """Everything that a comparison needs: the rules of a game, uncompiled and compiled, and searches that use them."""

    fault: ClassVar = Fault
    """The error that `rehearse` raises if the rules and the game disagree."""
    rows: ClassVar = PROBE_ROWS
    """The maximum number of states for one call of the probe."""
    game: Game
    evaluation: Evaluation | None
    agents: Mapping[str, type[Agent]]
    reason: str | None = None
    """The reason why nothing is compiled; None if something is."""
    derived: bool = False
    """True if the compiled rules are the methods of the game itself."""
    graded: bool = False
    """True if searches are not compiled because the returns are not from -1 to 1. The author can change this."""
    refused: NotCompilable | None = None
    """The fault in the author's compiled rules, if one was found before play."""
    rehearsals: dict[bool, Rehearsal] = field(default_factory=dict)
    probe: ProbeLoop | None = None
    space: dict[str, Any] = field(default_factory=dict)
    loops: dict[str, tuple[Agent, Loop]] = field(default_factory=dict)
    samples: tuple[State, ...] = ()
    """States from random play."""

    def begin(self) -> None:
        """Prepare the comparison. Raises NotCompilable if searches of the game are not compiled and this is not a fault."""
        try:
            edition = edition_of(self.game)
        except GradedReturns:
            self.graded = True
            raise
        self.derived, self.samples = edition.rules is self.game, edition.samples
        if edition.in_place:  # arena has derived these rules from the grid, and the probe cannot run them
            raise NotCompilable(seam.IN_PLACE)
        try:
            edition, rules, estimate, module = seam.assemble_engine(self.game, self.evaluation, ProbeLoop)
            if self.derived:
                rehearse(module, edition, rules, estimate, self.evaluation)
        except NotCompilable as reason:
            if self.derived or isinstance(reason, NoEstimate):
                raise
            self.refused = reason
            return
        for held in (False, True):
            self.rehearsals[held] = Rehearsal(module, edition, rules, estimate, self.evaluation, held=held)
        if self.reason is not None:
            return
        if wants_plain():
            self.reason = "ARENA_PLAIN is set"
        elif not (seam.is_installed("llvmlite") and seam.is_installed("numba")):
            self.reason = MISSING
        else:
            self.space = space_of(module, rules, estimate, held=False)
            try:
                with suppress(Fault):  # the comparison of states finds the fault again, and names the state
                    self.probe = cast(ProbeLoop, seam.load_loop(self.game, self.evaluation, ProbeLoop, compiling=True))
                    self._compile_agents()
            except NotCompilable as reason:
                if self.derived:
                    raise
                self.refused = reason

    def _compile_agents(self) -> None:
        """Compile the loops of some agents."""
        kernels: set[str] = set()
        for name, kind in self.agents.items():
            with suppress(Exception):
                agent = kind()
                engine = engine_of(agent)
                if engine is None or ENGINES[engine].kernel in kernels:
                    continue
                if len(kernels) == MAX_AGENTS or Abilities(kind).find_refusal(self.game):
                    continue
                loop = seam.load_loop(self.game, self.evaluation, engine, compiling=True)
                if loop is not None:
                    self.loops[name] = agent, loop
                    kernels.add(ENGINES[engine].kernel)

    def decision(self, agent: Agent, state: State, nodes: int, loop: Loop | None) -> tuple[Any, ...]:
        """Return all results of a decision, with or without a compiled loop, and the next random number."""
        game, evaluation = self.game, self.evaluation
        meter, rng = Meter(), Stream("check")
        meter.begin(nodes, None)

        def find_loop(search: Search, engine: str, options: dict[str, Any]) -> Any:
            if loop is None or engine != engine_of(agent):
                return None
            search.served = seam.Served(rng, meter)
            search.served.use(seam.CompiledPair(game, evaluation, engine, loop))
            loop.begin(meter, options)
            return loop

        view = counting_view(game, meter)
        search = Search(view, evaluation, Limits(nodes=nodes), meter, rng, SharedStart(game, Stream("start")), find_loop)
        method = agent.solve if isinstance(game, Puzzle) and type(agent).solve is not Agent.solve else agent.choose
        try:
            found = method(view, state, search)
        except OutOfBudget:
            found = "out of nodes"
        except GoPlain:
            return self.decision(agent, state, nodes, None)
        report = search.best_action, search.value, search.depth, search.line
        return found, report, meter.nodes, meter.evaluations, rng.random()
