"""Gathers the faults of one spec, so that all are reported at once."""

from dataclasses import dataclass, field

from arena.errors import Fault, SpecError
from arena.spec.document import Document, Path


def dotted(path: Path) -> str:
    """A path as people write it: `agents[2].depth`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@dataclass(slots=True)
class Faults:
    """The faults found so far in one document."""

    document: Document
    found: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.found.extend(self.document.faults)

    def add(self, path: Path, message: str, *, key: bool = False) -> None:
        """Note a fault at the value of a path, or with `key` at the key itself."""
        line, column = self.document.place(path, key=key)
        fault = Fault(self.document.name, line, column, dotted(path), message)
        if fault not in self.found:
            self.found.append(fault)

    def add_at(self, file: str, line: int, where: Path, message: str) -> None:
        """Note a fault in another file that the spec names."""
        fault = Fault(file, line, 1 if line else 0, dotted(where), message)
        if fault not in self.found:
            self.found.append(fault)

    def stop_if_any(self) -> None:
        """Raise SpecError with all faults, if there are any."""
        if self.found:
            raise SpecError(self.found)
