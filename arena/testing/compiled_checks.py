"""Checks of compiled rules and estimates: against the game, within 64 bits, as machine code, and in whole decisions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from arena.agent import Agent
from arena.compiled import seam
from arena.compiled.edition import Edition, edition_of
from arena.compiled.engines import ENGINES, engine_of
from arena.compiled.fields import NoEstimate, NotCompilable
from arena.compiled.loop import Loop
from arena.compiled.probe_loop import ROWS, ProbeLoop
from arena.compiled.rehearsal import Fault, Rehearsal, space_of, tried
from arena.configured import name_of
from arena.counting import GoPlain, Meter, counting_view
from arena.errors import OutOfBudget
from arena.game import Game, Puzzle, State
from arena.heuristic import Evaluation
from arena.identity import Stream
from arena.limits import Limits
from arena.search import Search, SharedStart
from arena.testing.finding import Abandoned, Finding
from arena.testing.minimal_actions import Reproduction
from arena.testing.trial import CheckLog, Trial, walk
from arena.testing.verdicts import CheckSuite, Verdict
from arena.traits import refusal

RULES, HELD, CODE, SEARCHES = "compiled rules", "64 bits", "compiled code", "compiled searches"
CHECKS = {
    RULES: "encode and every method over whole numbers say what the game says",
    HELD: "every number on the way fits into 64 bits, and no index is below 0",
    CODE: "the compiled rules say what they say uncompiled",
    SEARCHES: "searches find the same compiled and plain",
}
"""The promises of compiled rules, by the names of their checks."""
LONGEST = 200
"""Actions of a random play."""
STATES = 600
"""States that are compared in all."""
NODES = (1, 7, 100, 5_000)
"""The limits of nodes under which searches are compared."""
AGENTS = 2
"""Agents that decide, each by another kernel."""


def compiled_verdicts(
    game: Game,
    evaluation: Evaluation | None,
    agents: Mapping[str, type[Agent]],
    *,
    seed: int,
    matches: int,
    patience: float,
    compiling: bool = True,
) -> Iterator[Verdict]:
    """Yield a verdict for every promise of what compiled searches run of a game and a heuristic.

    None for a game whose states and actions are no numbers and which gives no others, or of a kind that searches run plain.
    Where what its own methods say cannot be compiled, one verdict says why: that is no fault, but rules that an author gives
    are held to what they promise. `agents` are those that may decide for the comparison, by their names.
    """
    setup = CompiledSetup(game, evaluation, agents, None if compiling else "it takes too long")
    try:
        setup.begin(edition_of(game))
    except NotCompilable as reason:
        if not reason.broken:
            if setup.derived or isinstance(reason, NoEstimate):
                yield Verdict("compiled", f"runs plain: {reason}", reached=False)
            return
        setup.refused = reason
    promises = {name: promise for name, promise in CHECKS.items() if setup.reason is None or name in (RULES, HELD)}
    for verdict in CheckSuite(partial(_play, setup), partial(_reproduction, setup), promises, seed, matches, patience).verdicts():
        yield verdict if verdict.check != SEARCHES or not verdict.kept else setup.told(verdict)
    if setup.reason is not None:
        yield from [Verdict(name, f"not run: {setup.reason}", reached=False) for name in (CODE, SEARCHES)]


@dataclass(slots=True)
class CompiledSetup:
    """What is compared: the rules of a game uncompiled, compiled, and searches over them."""

    game: Game
    evaluation: Evaluation | None
    agents: Mapping[str, type[Agent]]
    reason: str | None = None
    """Why nothing is compiled; None where it is."""
    derived: bool = False
    """Whether it is the game's own methods that are compiled."""
    refused: NotCompilable | None = None
    """What is wrong with the author's own second edition, found before play."""
    rehearsals: dict[str, Rehearsal] = field(default_factory=dict)
    probe: ProbeLoop | None = None
    space: dict[str, Any] = field(default_factory=dict)
    loops: dict[str, tuple[Agent, Loop]] = field(default_factory=dict)

    def begin(self, edition: Edition) -> None:
        """Get ready; NotCompilable where searches run plain, and may."""
        self.derived = edition.rules is self.game
        try:
            edition, rules, estimate, module = seam.assembly(self.game, self.evaluation, ProbeLoop)
            if self.derived:
                tried(module, edition, rules, estimate, self.evaluation)
        except NotCompilable as reason:
            if self.derived or isinstance(reason, NoEstimate):
                raise
            self.refused = reason
            return
        for name, held in ((RULES, False), (HELD, True)):
            self.rehearsals[name] = Rehearsal(module, edition, rules, estimate, self.evaluation, held=held)
        if self.reason is not None:
            return
        if seam.plain_wanted():
            self.reason = "ARENA_PLAIN is set"
        elif not (seam.installed("llvmlite") and seam.installed("numba")):
            self.reason = seam.MISSING
        else:
            self.space = space_of(module, rules, estimate, held=False)
            self._compile()

    def _compile(self) -> None:
        try:
            with suppress(Fault):  # the comparison of states is going to meet it, with a state
                self.probe = cast(ProbeLoop, seam.ready(self.game, self.evaluation, ProbeLoop, compiling=True))
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
                if len(kernels) == AGENTS or engine is None or ENGINES[engine].kernel in kernels or refusal(kind, self.game):
                    continue
                loop = seam.ready(self.game, self.evaluation, engine, compiling=True)
                if loop is not None:
                    self.loops[name] = agent, loop
                    kernels.add(ENGINES[engine].kernel)

    def told(self, verdict: Verdict) -> Verdict:
        """Return the verdict on searches with the agents that decided."""
        if not (verdict.reached and self.loops):
            reason = "no agent that is known here compiles" if verdict.reached else verdict.promise
            return Verdict(SEARCHES, reason, reached=False)
        limits = ", ".join(f"{nodes:,}" for nodes in NODES)
        named = " and ".join(self.loops)
        return Verdict(SEARCHES, f"compiled and plain are the same with {named} under limits of {limits} nodes")


def _play(setup: CompiledSetup, seed: int, matches: int, log: CheckLog) -> None:
    trial = Trial(name_of(setup.game), seed, 0, log)
    if setup.refused is not None:
        with trial.checking(RULES):
            raise trial.violation("what compiled() gives compiles", "rules over whole numbers", str(setup.refused))
        return
    met: list[tuple[Trial, State]] = []
    for number in range(matches):
        trial = Trial(name_of(setup.game), seed, number, log)
        with suppress(Abandoned):
            first = len(met)
            met += _walked(setup.game, trial, max(2, STATES // matches))
            for at, state in met[first:]:
                _rehearse(setup, at, state)
    with suppress(Abandoned):
        _probe(setup, met[-ROWS:] + met[:ROWS])
        _search(setup, [met[0], met[len(met) // 2]])
    log.passed |= {RULES, HELD, *([CODE, SEARCHES] if setup.probe is not None else [])}


def _walked(game: Game, trial: Trial, most: int) -> list[tuple[Trial, State]]:
    """Return some states of a random play, the last one among them, each with the play as it is there."""
    met: list[tuple[int, State]] = []
    for before, _, successor in walk(game, trial, LONGEST):
        met[-1:] = [(len(trial.actions), before), (len(trial.actions) + 1, successor)]
    step = -(-len(met) // most) or 1
    return [(_at(trial, plies), state) for plies, state in reversed(met[::-step])]


def _at(trial: Trial, plies: int) -> Trial:
    return Trial(trial.subject, trial.seed, trial.number, trial.log, trial.actions[:plies], None, trial.position)


def _rehearse(setup: CompiledSetup, trial: Trial, state: State) -> None:
    for name, rehearsal in setup.rehearsals.items():
        with trial.checking(name):
            try:
                rehearsal.state(state)
            except Fault as fault:
                if fault.held is (name == HELD):
                    raise _violation(trial, fault) from fault
            except NotCompilable as reason:
                raise trial.violation("the compiled rules can be asked", "an answer", str(reason)) from reason


def _violation(trial: Trial, fault: Fault) -> Any:
    place = f" ({fault.place})" if fault.place else ""
    if fault.expected is None:
        return trial.violation("the compiled rules can be asked", "an answer", f"{fault.got}{place}")
    return trial.violation(f"{fault.what} of the compiled rules is that of the game", fault.expected, f"{fault.got}{place}")


def _probe(setup: CompiledSetup, met: Sequence[tuple[Trial, State]]) -> None:
    """Ask the machine code of all states in one go, and of one after the other where that is not what plain Python says."""
    if setup.probe is None:
        return
    states = [state for _, state in met]
    parts = [states[first : first + ROWS] for first in range(0, len(states), ROWS)]
    if all(setup.probe(part) == setup.probe.uncompiled(setup.space, part) for part in parts):
        return
    for trial, state in met:
        _probe_one(setup, trial, state)


def _probe_one(setup: CompiledSetup, trial: Trial, state: State) -> None:
    probe = setup.probe
    assert probe is not None
    with trial.checking(CODE):
        found, expected = probe([state]), probe.uncompiled(setup.space, [state])
        text = setup.game.format_state(state)
        trial.expect(found == expected, f"all that the compiled rules say of {text} is the same uncompiled", expected, found)


def _search(setup: CompiledSetup, met: Sequence[tuple[Trial, State]]) -> None:
    for name, (agent, loop) in setup.loops.items():
        for trial, state in met:
            if setup.game.is_terminal(state):
                continue
            for nodes in NODES:
                with trial.checking(SEARCHES):
                    found, plain = [_decision(setup, agent, state, nodes, used) for used in (loop, None)]
                    trial.expect(found == plain, f"{name} finds the same under a limit of {nodes:,} nodes", plain, found)


def _decision(setup: CompiledSetup, agent: Agent, state: State, nodes: int, loop: Loop | None) -> tuple[Any, ...]:
    """All that comes of a decision, and the next random number."""
    game, evaluation = setup.game, setup.evaluation
    meter, rng = Meter(), Stream("check")
    meter.begin(nodes, None)

    def find_loop(search: Search, engine: str, options: dict[str, Any]) -> Any:
        if loop is None or engine != engine_of(agent):
            return None
        search._using(seam.CompiledPair(game, evaluation, engine, loop))  # noqa: SLF001 - as the seam does
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
        return _decision(setup, agent, state, nodes, None)
    report = search.best_action, search.value, search.depth, search.line
    return found, report, meter.nodes, meter.evaluations, rng.random()


def _reproduction(setup: CompiledSetup, finding: Finding) -> Reproduction:
    if finding.check == SEARCHES:
        raise ValueError("to search from every state takes too long")
    position = setup.game.initial(Trial(finding.subject, finding.seed, 0).rng)
    return Reproduction(setup.game, position, partial(_probe_one if finding.check == CODE else _rehearse, setup))
