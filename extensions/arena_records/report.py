"""The formulas of the key `report` of a spec."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from arena import ArenaError
from arena_records.formula import Formula, FormulaFault

KEPT = "kept"
"""The key of a column. On a board, the column shows the share of the matches that `where` keeps; in a data frame, it says
for each match whether `where` keeps it.
"""


@dataclass(frozen=True, slots=True)
class Report:
    """The formulas of `report`: `where` selects matches, and each of `columns` gives a number for a match."""

    where: Formula | None = None
    columns: Mapping[str, Formula] = field(default_factory=dict)

    @classmethod
    def read(cls, values: Mapping[str, Any] | None) -> Self:
        """Return the formulas of a spec that was checked before, for example when its run began. The formulas are checked again,
        because a store may come from a stranger. The names in the formulas are not checked again.

        Raises ArenaError if a text is not a formula.
        """
        given = values or {}
        try:
            where = None if given.get("where") is None else Formula(str(given["where"]))
            return cls(where, {str(name): Formula(str(text)) for name, text in (given.get("columns") or {}).items()})
        except FormulaFault as fault:
            raise ArenaError(f"report: {fault}") from fault

    def keeps(self, row: Mapping[str, Any]) -> bool:
        """Return whether `where` is true for the numbers of a match. If `where` has no value, the match is left out."""
        return self.where is None or bool(self.where.compute(row))
