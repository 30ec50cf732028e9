"""The ranking of a board by its format: computed by the format, checked, and stored as plain values.

A run asks the format when the schedule is over, and keeps the ranking of a plugin's format in the store. Reading a store loads no
plugin: a format of the core or of the entry-point group `arena.formats` is asked again. For other formats the stored ranking
counts, and a board without one is ranked by its score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from math import isfinite
from typing import Any, Self

from arena.columns import Column
from arena.configured import name_of
from arena.errors import Interrupted, PluginError, describe
from arena.format import Format, Outcomes, Placing, own_columns
from arena.formats import arena_formats
from arena.plugins.contract import locate

GROUP = "arena.formats"
"""The group of entry points of formats that rank the boards of a store, each under its name."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The columns of a format and, once they are known, the placings of the entries by their numbers."""

    columns: tuple[Column, ...] = ()
    placings: tuple[Placing, ...] | None = None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return a ranking from its plain values."""
        placings = values["placings"]
        return cls(
            tuple([Column(**column) for column in values["columns"]]),
            None if placings is None else tuple([Placing(tuple(one["merit"]), one["values"]) for one in placings]),
        )


def find_format(name: str) -> Format | None:
    """Return the format of that name with its default options, if it is available without plugins: of the core, or of GROUP."""
    kinds = [kind for kind in arena_formats() if kind.name == name]
    kinds += [point.load() for point in entry_points(group=GROUP, name=name)]
    return kinds[0]() if kinds else None


def ask_ranking(format_: Format, entries: int, outcomes: Outcomes) -> Ranking:
    """Return the ranking of a board by a format; PluginError if the format raises, or returns an invalid ranking."""
    try:
        placings = _check_placings(format_, entries, format_.ranking(entries, outcomes))
    except (Interrupted, PluginError):
        raise
    except Exception as error:
        raise _wrong(format_, describe(error)) from error
    return Ranking(own_columns(format_), placings)


def _check_placings(format_: Format, entries: int, placings: Sequence[Placing]) -> tuple[Placing, ...]:
    """Return the placings as plain values: one for every entry, each with every key; PluginError if they are invalid."""
    if len(placings) != entries or not all(isinstance(placing, Placing) for placing in placings):
        raise _wrong(format_, f"expected a Placing for each of {entries} entries, got {placings!r:.200}")
    keys = [column.key for column in own_columns(format_)]
    for placing in placings:
        if len(placing.merit) != len(placings[0].merit) or not all(map(isfinite, placing.merit)):
            raise _wrong(format_, f"merit: expected as many finite numbers for every entry, got {placing.merit!r:.200}")
        if unknown := sorted(set(placing.values) - set(keys)):
            raise _wrong(format_, f"values: no column of the format has the key {unknown[0]!r}")
        for key, value in placing.values.items():
            if not (value is None or isinstance(value, str) or isfinite(value)):
                raise _wrong(format_, f"values: {key}: expected a finite number, a text or None, got {value!r:.200}")
    return tuple([Placing(tuple(placing.merit), {key: placing.values.get(key) for key in keys}) for placing in placings])


def _wrong(format_: Format, what: str) -> PluginError:
    return PluginError(locate(type(format_)), f"format {name_of(format_)}: ranking: {what}")
