"""The code of submissions on the disk: laid out from the store where processes can load it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.ladder.ledger import Ledger, Submission


class CodeFolder:
    """A folder beside the store with the code of every submission that plays or is checked; all of it can be made again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.path = ledger.path.resolve().with_name(f"{ledger.path.name}.code")

    def entries(self, playing: Sequence[Submission]) -> list[dict[str, Any]]:
        """Return the entries of a spec for submissions in play, whose code is there then."""
        return [{**self.entry(one), "label": one.label} for one in playing]

    def entry(self, one: Submission) -> dict[str, Any]:
        """Return the entry of a spec for a submission, without a label."""
        file = self.laid_out(one)
        return {"agent": one.agent, "plugin": str(file)}

    def laid_out(self, one: Submission) -> Path:
        """Lay out the code of a submission and return the file to load."""
        folder = self.path / one.id
        file = folder / f"{one.author}_{one.id}.py"
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(".part")
            part.write_bytes(self._ledger.content(one.id))
            part.replace(file)
        return file
