"""Fixtures of the benchmarks: they time two functions in turns, and print a table of all figures at the end of the run."""

import gc
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import pytest


class Benchmark(Protocol):
    """The part of the fixture of pytest-benchmark that is used here. The package is installed only for `make bench`."""

    extra_info: dict[str, Any]

    def pedantic(
        self, target: Callable[[], Any], *, setup: Callable[[], None], rounds: int, warmup_rounds: int
    ) -> Any: ...  # fmt: skip


class Figure(NamedTuple):
    """A measured figure, and the bound that it must keep."""

    what: str
    measured: str
    bound: str
    kept: bool
    detail: str


FIGURES = pytest.StashKey[list[Figure]]()


class Timings(NamedTuple):
    """The seconds that two functions took in each round. The two times of a round were measured right after each other."""

    ours: list[float]
    theirs: list[float]

    @property
    def ratio(self) -> float:
        """The time of `ours` divided by the time of `theirs`: the median over the rounds. Noise affects both times of a round."""
        return median([ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True)])

    @property
    def best(self) -> tuple[float, float]:
        """The shortest times of `ours` and `theirs`, which other work on the machine has increased least."""
        return min(self.ours), min(self.theirs)


class Bench:
    """Times our function and another one in turns, and notes figures with their bounds."""

    def __init__(self, benchmark: Benchmark, figures: list[Figure]) -> None:
        self._benchmark = benchmark
        self._figures = figures

    def in_turns(self, ours: Callable[[], object], theirs: Callable[[], object], *, rounds: int) -> Timings:
        """Time both functions, one after the other in every round. One more round comes first and does not count."""
        timings = Timings([], [])

        def before() -> None:
            gc.collect()
            timings.theirs.append(_seconds(theirs))

        self._benchmark.pedantic(lambda: timings.ours.append(_seconds(ours)), setup=before, rounds=rounds, warmup_rounds=1)
        return Timings(timings.ours[-rounds:], timings.theirs[-rounds:])

    def at_most(self, bound: float, what: str, measured: float, unit: str, **details: str) -> None:
        """Note a figure, and fail if it is larger than its bound."""
        self._note(f"at most {bound:g}{unit}", what, measured, unit, measured <= bound, details)

    def at_least(self, bound: float, what: str, measured: float, unit: str, **details: str) -> None:
        """Note a figure, and fail if it is smaller than its bound."""
        self._note(f"at least {bound:g}{unit}", what, measured, unit, measured >= bound, details)

    def _note(self, bound: str, what: str, measured: float, unit: str, kept: bool, details: Mapping[str, str]) -> None:
        detail = ", ".join([f"{name.replace('_', ' ')} {value}" for name, value in details.items()])
        figure = Figure(what, f"{measured:.3g}{unit}", bound, kept, detail)
        self._figures.append(figure)
        self._benchmark.extra_info.update({"what": what, "measured": measured, "unit": unit.strip(), "bound": bound, **details})
        assert kept, f"{what}: {figure.measured}, expected {bound} ({detail})"


def _seconds(call: Callable[[], object]) -> float:
    enabled = gc.isenabled()
    gc.disable()
    try:
        began = perf_counter()
        call()
        return perf_counter() - began
    finally:
        if enabled:
            gc.enable()


@pytest.fixture
def bench(benchmark: Benchmark, pytestconfig: pytest.Config) -> Bench:
    """Return the timer of a benchmark, which uses pytest-benchmark."""
    return Bench(benchmark, pytestconfig.stash.setdefault(FIGURES, []))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print every figure of the run with its bound."""
    figures = config.stash.get(FIGURES, [])
    if not figures:
        return
    heads = ("figure", "measured", "bound", "", "in detail")
    rows = [heads, *[(one.what, one.measured, one.bound, "ok" if one.kept else "MISSED", one.detail) for one in figures]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    terminalreporter.section("figures of this run")
    for row in rows:
        terminalreporter.write_line("  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=True)]).rstrip())
