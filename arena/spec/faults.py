"""Gathers the faults of one spec, so that all are reported at once."""

from dataclasses import dataclass, field

from arena.errors import Fault, SpecError
from arena.spec.document import Document, Path


def dotted(path: Path) -> str:
    """A path as people write it: `agents[2].depth`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = part if part.isprintable() else repr(part)
            text += f".{key}" if text else key
    return text


@dataclass(slots=True)
class Faults:
    """The faults found so far in one document."""

    document: Document
    found: dict[Fault, None] = field(default_factory=dict)
    """In the order in which they were found, each once."""

    def __post_init__(self) -> None:
        self.found.update(dict.fromkeys(self.document.faults))

    def add(self, path: Path, message: str, *, key: bool = False) -> None:
        """Note a fault at the value of a path, or with `key` at the key itself."""
        line, column = self.document.place(path, key=key)
        self.found.setdefault(Fault(self.document.name, line, column, dotted(path), message))

    def add_at(self, file: str, line: int, where: Path, message: str) -> None:
        """Note a fault in another file that the spec names."""
        self.found.setdefault(Fault(file, line, 1 if line else 0, dotted(where), message))

    def stop_if_any(self) -> None:
        """Raise SpecError with all faults, if there are any."""
        if self.found:
            raise SpecError(self.found)
