"""The errors of arena, as one tree.

    ArenaError                  every error that a caller may want to catch
    +-- SpecError               faults in a spec, all of them at once, each a SpecFault
    +-- PluginError             a plugin that does not load, with its source
    +-- UnknownName             a name that no plugin brought, with the nearest known ones
    +-- Refused                 an agent that cannot play a game, with the reason
    +-- GameError               a game that broke its own rules while it was played
    +-- CodeChanged             a plugin that was edited while a run that uses it was going on
    +-- StoreError              a store that cannot be used as it was asked to
    |   +-- StoreFull           there is no room for more records
    |   +-- StoreDamaged        something in it is not as it was written
    |   +-- StoreConflict       two stores have different records under one id
    +-- ClusterError            a cluster that cannot play what it was asked to
    |   +-- ClusterLost         a cluster that was there and is gone
    +-- Unavailable             an agent's backend that does not answer
    |   +-- BackendGone         one that is not asked again in this run
    +-- IsolationError          an agent that cannot be given the process that its entry asks for

    Errors of a single part are declared there: NoAgentProcess and SandboxError in `arena_isolation`, CannotWrite in
    `arena_check.new`, and the internal errors of pages and of nodes.

    OutOfBudget                 a decision passed a limit (BaseException: `except Exception` must not swallow it)
    Interrupted                 the user pressed Ctrl-C (KeyboardInterrupt: not an agent's fault)

Only the command line turns errors into exit codes.
"""

import re
import reprlib
import sysconfig
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from importlib import import_module
from types import ModuleType, TracebackType
from typing import TypeVar

Value = TypeVar("Value")


class ArenaError(Exception):
    """The base of every error that arena raises on purpose.

    >>> issubclass(UnknownName, ArenaError)
    True
    """


@dataclass(frozen=True, slots=True)
class SpecFault:
    """One fault in a spec: its place, and how to correct it.

    `file` is the spec. `line` and `column` count from 1; 0 means that the fault has no place in the file. `where` is the
    path of keys, such as `agents[2].depth`, or empty. `message` says what was expected, what came, and what to write.

    >>> print(SpecFault("cup.yaml", 3, 5, "agents[0].depth", "expected at least 1, got 0"))
    cup.yaml:3:5: agents[0].depth: expected at least 1, got 0
    """

    file: str
    line: int
    column: int
    where: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.where}: {self.message}" if self.where else f"{place}: {self.message}"


class SpecError(ArenaError):
    """A spec cannot be played; `faults` holds every reason, in the order of the file.

    >>> arena.run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 0})
    Traceback (most recent call last):
    arena.errors.SpecError: <spec>: rounds: expected at least 1, got 0
    """

    def __init__(self, faults: Iterable[SpecFault]) -> None:
        self.faults: tuple[SpecFault, ...] = tuple(sorted(faults, key=lambda fault: (fault.file, fault.line, fault.column)))
        super().__init__("\n".join(map(str, self.faults)))


class GameTooLarge(ArenaError):
    """A game has more states than fit into memory; the message gives an estimate of their number and an alternative."""


class ExtensionMissing(ArenaError):
    """Something needs an extension that is not installed."""


class PluginError(ArenaError):
    """A plugin cannot be used; `source` says which one, and `message` why.

    >>> arena.load_plugins(["nowhere.py"])
    Traceback (most recent call last):
    arena.errors.PluginError: plugin nowhere.py: FileNotFoundError: no such file: nowhere.py
    """

    def __init__(self, source: str, message: str) -> None:
        self.source = source
        super().__init__(f"plugin {source}: {message}")


class UnknownName(ArenaError):
    """No plugin brought a `kind` (agent, game, ...) of that `name`; the message says which of the `known` ones are near it.

    `loadable` says that a plugin could bring it, so that the message names `--plugin`.

    >>> print(UnknownName("game", "otello", ["othello", "pig"]))
    unknown game 'otello'; did you mean 'othello'?
    """

    def __init__(self, kind: str, name: object, known: Iterable[str], *, loadable: bool = False) -> None:
        more = " (--plugin FILE loads others)" if loadable else ""
        super().__init__(f"unknown {kind} {name!r}; {suggest(str(name), known)}{more}")


class Refused(ArenaError):
    """An agent cannot play a game; the message says which trait is missing.

    >>> arena.play("pig", ["minimax", "random"])
    Traceback (most recent call last):
    arena.errors.Refused: minimax cannot play pig: pig has chance
    """


class GameError(ArenaError):
    """A game contradicts itself, for example with a seat that does not exist."""


class CodeChanged(ArenaError):
    """A plugin was edited while a run that uses it was going on. Earlier records belong to the old code."""


class StoreError(ArenaError):
    """A store cannot be used: it is in use, of a newer version, not a store at all, or not where it should be."""


class StoreFull(StoreError):
    """A disk is full. Everything written before is safe."""


class StoreDamaged(StoreError):
    """A row of a store does not match its hash, so no result that depends on it can be trusted."""


class StoreConflict(StoreError):
    """Two stores have different records under one id; the message names it."""


class ClusterError(ArenaError):
    """A cluster cannot be reached, or none of its machines can play the match."""


class ClusterLost(ClusterError):
    """The scheduler of a cluster is gone in the middle of a run. All matches played before are safe."""


class IsolationError(ArenaError):
    """An agent cannot get the process or the sandbox that its entry requests, through no fault of its own."""


class Unavailable(ArenaError):
    """The backend of an agent does not answer. The match is void, no agent loses it, and the next run plays it again."""


class BackendGone(Unavailable):
    """The backend of an agent has not answered for so long that the agent does not ask it again in this run."""


class OutOfBudget(BaseException):
    """A decision has used up its nodes or its time. Raised by the game that an agent searches; let it pass."""


class Interrupted(KeyboardInterrupt):
    """The user interrupted the run. Any other KeyboardInterrupt is a fault of an agent or a plugin."""

    EXIT_CODE = 130
    """The exit code of an interrupted run."""


def suggest(name: str, known: Iterable[str]) -> str:
    """Suggest up to three `known` names that are about as near to `name` as the nearest, or all of them if none is near."""
    names, wanted = sorted(set(known)), name.lower()
    near = get_close_matches(wanted, names, n=3, cutoff=0.6)
    likeness = [SequenceMatcher(None, other, wanted).ratio() for other in near]
    best = [repr(other) for other, alike in zip(near, likeness, strict=True) if alike > likeness[0] - MAX_LIKENESS_LOSS]
    if best:
        return f"did you mean {' or '.join([', '.join(best[:-1]), best[-1]] if len(best) > 1 else best)}?"
    return f"known: {', '.join(names)}" if names else "none is known"


MAX_LIKENESS_LOSS = 0.15
"""A name is suggested only if it is less than this behind the nearest one, of 1."""


def describe(error: BaseException) -> str:
    """One line for an exception: its type, its message, and the file and line that raised it.

    It names the deepest frame that belongs neither to arena nor to an installed library, so that authors see their own line.
    """
    message = call_foreign(lambda: str(error), lambda _: "an exception that cannot be shown")
    text = ADDRESS.sub("0x...", " ".join(message.split()))
    head = f"{type(error).__name__}: {text}" if text else type(error).__name__
    place = _find_place(error)
    return f"{head} ({place})" if place else head


_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 120
_brief.maxlist = _brief.maxtuple = 12


def abbreviate(value: object) -> str:
    """A value as a message shows it, with the middle of long parts left out, whatever its `repr` does."""
    text = call_foreign(lambda: _brief.repr(value), lambda _: f"an object of type {type(value).__name__}")
    return ADDRESS.sub("0x...", text)


def cut(text: str, most: int = 60) -> str:
    """A text of at most `most` characters: the start of a longer one, and three dots."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)  # and of the direction of text


def escape_controls(text: str) -> str:
    """Return a text of several lines with terminal control characters escaped; tabs and line ends stay."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def escape_line(text: str) -> str:
    """Return a text with line ends and all characters that a terminal could interpret escaped."""
    return "".join([letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text])


def call_foreign(call: Callable[[], Value], otherwise: Callable[[BaseException], Value]) -> Value:
    """Run `call` of a plugin and return its value, or that of `otherwise` for any exception except the user's interrupt."""
    try:
        return call()
    except Interrupted:
        raise
    except BaseException as error:
        return otherwise(error)


ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
"""The address of an object in memory, which says nothing about the event itself."""


def _find_place(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    written = [frame for frame in frames if not frame.filename.startswith(_LIBRARY)]
    if not written:  # an installed plugin lies among the libraries
        written = [frame for frame in frames if "site-packages" in frame.filename]
    return f"{written[-1].filename}:{written[-1].lineno}" if written else ""


def _is_ours(filename: str) -> bool:
    return filename.startswith(("<frozen", *_HOMES))


def is_authors(filename: str) -> bool:
    """Whether code belongs neither to arena nor to Python itself."""
    library = filename.startswith(_LIBRARY) and "site-packages" not in filename
    return not (_is_ours(filename) or library or filename == "<string>")  # dataclasses write code of the last name


EXTENSIONS = ("check", "cluster", "compare", "compiled", "duel", "isolation", "ladder", "play", "solution", "web")
"""The extensions of this distribution. Tracebacks for authors leave out their frames, like the frames of the core."""
_ABOVE = __file__.removesuffix("arena/errors.py")
_HOMES = (f"{_ABOVE}arena/", *(f"{_ABOVE}{lead}arena_{name}/" for lead in ("", "extensions/") for name in EXTENSIONS))
_LIBRARY = sysconfig.get_path("stdlib")


MAX_TRACEBACK_FRAMES = 20


def author_traceback(error: BaseException) -> str:
    """Return the traceback of `error` without the frames of arena itself, cut to the last MAX_TRACEBACK_FRAMES."""
    frames: TracebackType | None = error.__traceback__
    while frames is not None and _is_ours(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    lines = call_foreign(
        lambda: traceback.format_exception(type(error), error, frames, limit=-MAX_TRACEBACK_FRAMES, chain=False),
        lambda _: traceback.format_tb(frames, limit=-MAX_TRACEBACK_FRAMES),  # the exception cannot be shown
    )
    return ADDRESS.sub("0x...", "".join(lines))


def import_extension(module: str, wanted_by: str) -> ModuleType:
    """Import a `module` of an extension. If it is not installed, ExtensionMissing names the feature `wanted_by` it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.partition(".")[0]
        if error.name != name:
            raise
        raise ExtensionMissing(f"{wanted_by} needs the extension {name}, which is not installed") from error
