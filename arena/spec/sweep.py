"""Expands sweeps. `{sweep: [...]}` stands for several values, and a mapping with sweeps stands for several mappings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from arena.spec.document import Path

MAX_COMBINATIONS = 1000
"""The largest number of mappings that one mapping may stand for."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the mappings that a mapping with sweeps stands for, and the places of its values in the file."""

    values: dict[str, Any]
    origins: dict[Path, Path]
    """For each value from a sweep: its path in `values`, and its path in the file."""

    def origin(self, path: Path) -> Path:
        """Return the path of a value in the file. Both paths are relative to the mapping."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return self.origins[path[:length]] + path[length:]
        return path


def list_variants(values: dict[str, Any], report: Callable[[Path, str], None]) -> list[Variant]:
    """Return every mapping for which `values` stands. Several sweeps give all combinations; the first varies slowest."""
    found = list(_find_sweeps(values, (), report))
    places = [(path, choices) for path, choices in found if choices]
    sound = _copy(values)
    for path, choices in found:
        if not choices:
            del _find_parent(sound, path)[path[-1]]
    if prod(len(choices) for _, choices in places) > MAX_COMBINATIONS:
        report((), f"the sweeps make more than {MAX_COMBINATIONS} combinations")
        return []
    made = []
    for numbers in product(*(range(len(choices)) for _, choices in places)):
        chosen, origins = _copy(sound), {}
        for (path, choices), number in zip(places, numbers, strict=True):
            _find_parent(chosen, path)[path[-1]] = choices[number]
            origins[path] = (*path, "sweep", number)
        made.append(Variant(chosen, origins))
    return made


def _find_sweeps(value: Any, path: Path, report: Callable[[Path, str], None]) -> Iterator[tuple[Path, list[Any]]]:
    """Yield the path of each sweep with its values. If a sweep has a fault, it is reported and the values are empty."""
    if not isinstance(value, dict):
        return
    if path and "sweep" in value:
        choices = value["sweep"]
        if len(value) > 1:
            report(path, "expected only the key sweep, got other keys too")
            choices = []
        elif not isinstance(choices, list) or not choices:
            report((*path, "sweep"), f"expected a list of values, got {choices!r}")
            choices = []
        yield path, choices
        return
    for key, inner in value.items():
        yield from _find_sweeps(inner, (*path, key), report)


def _find_parent(values: dict[str, Any], path: Path) -> Any:
    inside: Any = values
    for part in path[:-1]:
        inside = inside[part]
    return inside


def _copy(value: Any) -> Any:
    return {key: _copy(inner) for key, inner in value.items()} if isinstance(value, dict) else value
