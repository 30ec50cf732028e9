"""`{sweep: [...]}`: one value of a mapping that stands for several, and so for several mappings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from arena.spec.document import Path

MAX_COMBINATIONS = 1000
"""Mappings that one mapping may stand for."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One mapping that a mapping with sweeps stands for, and where its swept values really stand."""

    values: dict[str, Any]
    origins: dict[Path, Path]
    """From the path of a value in `values` to its path in the file, for swept values."""

    def origin(self, path: Path) -> Path:
        """The path in the file of a value, both counted from the mapping."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return self.origins[path[:length]] + path[length:]
        return path


def list_variants(values: dict[str, Any], report: Callable[[Path, str], None]) -> list[Variant]:
    """Every mapping that `values` stands for; several sweeps make a product, the first in the file varies slowest."""
    found = list(_find_sweeps(values, (), report))
    places = [(path, choices) for path, choices in found if choices]
    sound = _remove(values, [path for path, choices in found if not choices])
    if prod(len(choices) for _, choices in places) > MAX_COMBINATIONS:
        report((), f"the sweeps make more than {MAX_COMBINATIONS} combinations")
        return []
    return [_choose(sound, [path for path, _ in places], numbers) for numbers in product(*(range(len(c)) for _, c in places))]


def _find_sweeps(value: Any, path: Path, report: Callable[[Path, str], None]) -> Iterator[tuple[Path, list[Any]]]:
    """Yield where each sweep stands with its values, none if its fault has been reported."""
    if not isinstance(value, dict):
        return
    if path and "sweep" in value:
        choices = value["sweep"]
        if len(value) > 1:
            report(path, "expected sweep alone, got other keys beside it")
            choices = []
        elif not isinstance(choices, list) or not choices:
            report((*path, "sweep"), f"expected a list of values, got {choices!r}")
            choices = []
        yield path, choices
        return
    for key, inner in value.items():
        yield from _find_sweeps(inner, (*path, key), report)


def _choose(values: dict[str, Any], places: list[Path], numbers: tuple[int, ...]) -> Variant:
    made = _copy(values)
    origins: dict[Path, Path] = {}
    for path, number in zip(places, numbers, strict=True):
        inside = made
        for part in path[:-1]:
            inside = inside[part]
        inside[path[-1]] = inside[path[-1]]["sweep"][number]
        origins[path] = (*path, "sweep", number)
    return Variant(made, origins)


def _remove(values: dict[str, Any], paths: list[Path]) -> dict[str, Any]:
    made: dict[str, Any] = _copy(values)
    for path in paths:
        inside: Any = made
        for part in path[:-1]:
            inside = inside[part]
        del inside[path[-1]]
    return made


def _copy(value: Any) -> Any:
    return {key: _copy(inner) for key, inner in value.items()} if isinstance(value, dict) else value
