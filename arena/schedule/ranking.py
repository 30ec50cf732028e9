"""The ranking that a format computes for a board. It is checked and stored as plain values.

At the end of the schedule, a run asks the format for the ranking, and stores it if the format comes from a plugin. Reading a
store loads no plugin. If the format is in the core or in the entry-point group `arena.formats`, it is asked again. For other
formats, the stored ranking is used; if there is none, the board is ranked by score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import ConfigDict

from arena.columns import Column
from arena.configured import name_of
from arena.errors import Interrupted, PluginError, describe, escape_line
from arena.format import Format, Outcomes, Placing, own_columns, own_criteria
from arena.formats import arena_formats
from arena.lazy import find_entry_points
from arena.limits import is_finite
from arena.plugins.contract import locate

GROUP = "arena.formats"
"""The group of entry points with formats that rank boards of a store, by name."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The columns of a format and, once they are known, the placing of each entry, by its index."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", allow_inf_nan=False)

    columns: tuple[Column, ...] = ()
    placings: tuple[Placing, ...] | None = None
    criteria: str = ""
    """What ranks the entries, in the words of the format (`Format.ranking_criteria`); empty if it does not say."""

    def describe(self, format_: str) -> str:
        """Return the sentence about what ranks a board. `format_` is the name of the format.

        Without words of the format, its columns are named if their values are the numbers that rank the entries.
        """
        if self.placings is None:
            return f"Ranked by score for now: the format {format_} ranks the board when `arena run` ends."
        keys = [column.key for column in self.columns]
        criteria = self.criteria
        if not criteria and self.placings and (numbers := len(self.placings[0].merit)):
            values = [tuple([placing.values.get(key) for key in keys[:numbers]]) for placing in self.placings]
            if values == [placing.merit for placing in self.placings]:
                criteria = ", then by ".join([column.heading for column in self.columns[:numbers]])
        return f"Ranked by {escape_line(criteria) or f'the format {format_}'}."


def find_format_class(name: str) -> type[Format] | None:
    """Return the format with this name; None if it is neither in the core nor in GROUP."""
    kinds = [kind for kind in arena_formats() if kind.name == name]
    kinds += [point.load() for point in find_entry_points(GROUP) if point.name == name]
    return kinds[0] if kinds else None


def find_format(name: str, options: Mapping[str, Any] = MappingProxyType({})) -> Format | None:
    """Return the format with this name, made with these options; None if it is neither in the core nor in GROUP."""
    kind = find_format_class(name)
    return None if kind is None else kind(**options)


def ask_ranking(format_: Format, entries: int, outcomes: Outcomes) -> Ranking:
    """Return a format's ranking of a board. Raises PluginError if the format fails or returns an invalid ranking."""
    try:
        placings = _check_placings(format_, entries, format_.ranking(entries, outcomes))
    except (Interrupted, PluginError):
        raise
    except Exception as error:
        raise _wrong(format_, describe(error)) from error
    return Ranking(own_columns(format_), placings, own_criteria(format_))


def _check_placings(format_: Format, entries: int, placings: Sequence[Placing]) -> tuple[Placing, ...]:
    """Return the placings as plain values. Raises PluginError unless every entry has a placing with all keys."""
    if len(placings) != entries or not all(isinstance(placing, Placing) for placing in placings):
        raise _wrong(format_, f"expected a Placing for each of {entries} entries, got {placings!r:.200}")
    keys = [column.key for column in own_columns(format_)]
    for placing in placings:
        if len(placing.merit) != len(placings[0].merit) or not all(map(is_finite, placing.merit)):
            raise _wrong(format_, f"merit: expected the same number of finite values for each entry, got {placing.merit!r:.200}")
        if unknown := sorted(set(placing.values) - set(keys)):
            raise _wrong(format_, f"values: no column of the format has the key {unknown[0]!r}")
        for key, value in placing.values.items():
            if not (value is None or isinstance(value, str) or is_finite(value)):
                raise _wrong(format_, f"values: {key}: expected a finite number, a string or None, got {value!r:.200}")
    return tuple([Placing(tuple(placing.merit), {key: placing.values.get(key) for key in keys}) for placing in placings])


def _wrong(format_: Format, what: str) -> PluginError:
    return PluginError(locate(type(format_)), f"format {name_of(format_)}: ranking: {what}")
