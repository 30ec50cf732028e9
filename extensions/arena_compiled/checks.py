"""What `arena check` compares: the rules of a game uncompiled and compiled, and decisions with compiled searches and without."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from arena import Agent, Game, OutOfBudget, Puzzle, State
from arena.api.match import Limits, Search, SharedStart, Stream
from arena.api.spec import Evaluation, find_refusal
from arena.compiled import NoEstimate, NotCompilable
from arena.counting import GoPlain, Meter, counting_view
from arena_compiled import seam
from arena_compiled.edition import edition_of
from arena_compiled.engines import ENGINES, engine_of
from arena_compiled.loop import Loop
from arena_compiled.probe_loop import ROWS, ProbeLoop
from arena_compiled.rehearsal import Fault, Rehearsal, rehearse, space_of

AGENTS = 2
"""Agents that decide, each by another kernel."""


@dataclass(slots=True)
class CompiledSetup:
    """What is compared: the rules of a game uncompiled, compiled, and searches over them."""

    fault: ClassVar = Fault
    """What `rehearse` raises if the rules say something else than the game."""
    rows: ClassVar = ROWS
    """The most states that the probe takes at a time."""
    game: Game
    evaluation: Evaluation | None
    agents: Mapping[str, type[Agent]]
    reason: str | None = None
    """Why nothing is compiled; None where it is."""
    derived: bool = False
    """Whether it is the game's own methods that are compiled."""
    refused: NotCompilable | None = None
    """What is wrong with the author's own second edition, found before play."""
    rehearsals: dict[bool, Rehearsal] = field(default_factory=dict)
    probe: ProbeLoop | None = None
    space: dict[str, Any] = field(default_factory=dict)
    loops: dict[str, tuple[Agent, Loop]] = field(default_factory=dict)

    def begin(self) -> None:
        """Get ready; NotCompilable if searches run plain, and may."""
        edition = edition_of(self.game)
        self.derived = edition.rules is self.game
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
        if seam.wants_plain():
            self.reason = "ARENA_PLAIN is set"
        elif not (seam.installed("llvmlite") and seam.installed("numba")):
            self.reason = seam.MISSING
        else:
            self.space = space_of(module, rules, estimate, held=False)
            self._compile()

    def _compile(self) -> None:
        try:
            with suppress(Fault):  # the comparison of states is going to meet it, with a state
                self.probe = cast(ProbeLoop, seam.load_loop(self.game, self.evaluation, ProbeLoop, compiling=True))
                self._engines()
        except NotCompilable as reason:
            if self.derived:
                raise
            self.refused = reason

    def _engines(self) -> None:
        """Compile the loops of some agents."""
        kernels: set[str] = set()
        for name, kind in self.agents.items():
            with suppress(Exception):
                agent = kind()
                engine = engine_of(agent)
                if len(kernels) == AGENTS or engine is None or ENGINES[engine].kernel in kernels or find_refusal(kind, self.game):
                    continue
                loop = seam.load_loop(self.game, self.evaluation, engine, compiling=True)
                if loop is not None:
                    self.loops[name] = agent, loop
                    kernels.add(ENGINES[engine].kernel)

    def decision(self, agent: Agent, state: State, nodes: int, loop: Loop | None) -> tuple[Any, ...]:
        """Return all that comes of a decision, with a loop or plain, and the next random number."""
        game, evaluation = self.game, self.evaluation
        meter, rng = Meter(), Stream("check")
        meter.begin(nodes, None)

        def find_loop(search: Search, engine: str, options: dict[str, Any]) -> Any:
            if loop is None or engine != engine_of(agent):
                return None
            search.served = seam.Served(rng)
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
