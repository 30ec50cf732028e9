"""Gathers the faults of one spec, so that all are reported at once."""

from dataclasses import dataclass, field

from arena.errors import SpecError, SpecFault
from arena.spec.document import Document, Path


def dotted(path: Path) -> str:
    """A path as people write it: `agents[2].depth`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return one_line(text)


def one_line(text: str) -> str:
    """Text with escapes for line ends and for whatever else a terminal should not get as it is."""
    return "".join([letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text])


@dataclass(slots=True)
class Faults:
    """The faults found so far in one document."""

    document: Document
    found: dict[SpecFault, None] = field(default_factory=dict)
    """In the order in which they were found, each once."""
    noted: int = 0
    """How often a fault was noted, those that were known already too: so a reader knows whether its part is sound."""

    cause: BaseException | None = None
    """The first of the exceptions of an author's code, for whoever asks for tracebacks."""

    def __post_init__(self) -> None:
        self.found.update(dict.fromkeys(self.document.faults))

    def add(self, path: Path, message: str, *, key: bool = False, cause: BaseException | None = None) -> None:
        """Note a fault at the value of a path, or with `key` at the key itself, and what an author's code has raised there."""
        self.cause = self.cause or cause
        line, column = self.document.place(path, key=key)
        self._note(SpecFault(self.document.name, line, column, dotted(path), one_line(message)))

    def add_at(self, file: str, line: int, where: Path, message: str) -> None:
        """Note a fault in another file that the spec names."""
        self._note(SpecFault(one_line(file), line, 1 if line else 0, dotted(where), one_line(message)))

    def _note(self, fault: SpecFault) -> None:
        self.found.setdefault(fault)
        self.noted += 1

    def stop_if_any(self) -> None:
        """Raise SpecError with all faults, if there are any."""
        if self.found:
            raise SpecError(self.found) from self.cause
