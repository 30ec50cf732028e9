"""The errors of arena.

    ArenaError                  every error that a caller may want to catch
    +-- SpecError               a spec with faults; it lists all of them, each as a SpecFault
    +-- PluginError             a plugin that cannot be loaded, with its source
    +-- CodeTooComplex          a Python file whose syntax takes too much time or memory to read
    +-- UnknownName             a name that no plugin defines; the message suggests similar names
    +-- Refused                 an agent that cannot play a game; the message gives the reason
    +-- GameError               a game that broke its own rules while it was played
    +-- CodeChanged             a plugin that was edited during a run that uses it
    +-- StoreError              a store that cannot be used as requested
    |   +-- StoreFull           there is no room for more records
    |   +-- StoreDamaged        a row differs from the one that was written
    +-- PlayersLost             the connection to a cluster, or to other players, was lost during a run
    +-- Unavailable             the backend of an agent does not answer
    |   +-- BackendGone         this run does not ask the backend again
    +-- IsolationError          an agent cannot get the process that its entry asks for

    Errors that only one part of arena raises are declared in that part: ClusterError in `arena_cluster.engine`, StoreConflict in
    `arena_records.merger`, NoAgentProcess and SandboxError in `arena_isolation`, CannotWrite in `arena_check.new`, and the
    internal errors of web pages and cluster nodes.

    OutOfBudget                 a decision exceeded a limit (a BaseException, so that `except Exception` does not catch it)
    Interrupted                 the user pressed Ctrl-C (a KeyboardInterrupt, which is not a fault of an agent)

Only the command line turns errors into exit codes.
"""

import os
import re
import reprlib
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from numbers import Integral
from types import CodeType, TracebackType
from typing import Any, TypeVar

Value = TypeVar("Value")


class ArenaError(Exception):
    """The base of every error that arena raises on purpose.

    >>> issubclass(UnknownName, ArenaError)
    True
    """

    EXIT_CODE = 2
    """The exit code of a command that fails with this error: 2 for a fault in the spec or the call, 1 for anything else."""


@dataclass(frozen=True, slots=True)
class SpecFault:
    """One fault in a spec: where it is, and how to correct it.

    `file` is the spec. `line` and `column` count from 1; 0 means that the line or column is unknown. `where` is the path of the
    key, such as `agents[2].depth`, or empty. `message` says what was expected, what was found, and what to write.

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
    """A spec cannot be played; `faults` lists all its faults, in the order of the file.

    >>> arena.run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 0})
    Traceback (most recent call last):
    arena.errors.SpecError: <spec>: rounds: expected at least 1, got 0
    """

    def __init__(self, faults: Iterable[SpecFault]) -> None:
        self.faults: tuple[SpecFault, ...] = tuple(sorted(faults, key=lambda fault: (fault.file, fault.line, fault.column)))
        super().__init__("\n".join(map(str, self.faults)))


class GameTooLarge(ArenaError):
    """A game has more states than fit into memory; the message gives an estimate of their number and an alternative."""


class PluginError(ArenaError):
    """A plugin cannot be used; `source` names the plugin, and `message` says why.

    >>> arena.load_plugins(["nowhere.py"])
    Traceback (most recent call last):
    arena.errors.PluginError: plugin nowhere.py: FileNotFoundError: no such file: nowhere.py
    """

    def __init__(self, source: str, message: str) -> None:
        self.source = source
        super().__init__(f"plugin {source}: {message}")


class CodeTooComplex(ArenaError):
    """A Python file whose syntax takes too much time or memory to read; the message names the file and the limits."""


class UnknownName(ArenaError):
    """No plugin defines a `kind` (agent, game, ...) with this `name`. The message suggests similar names from `known`.

    `loadable` says that a plugin could define it; then the message mentions `--plugin`. `hint` replaces the suggestion.

    >>> print(UnknownName("game", "otello", ["othello", "pig"]))
    unknown game 'otello'; did you mean 'othello'?
    """

    def __init__(self, kind: str, name: object, known: Iterable[str], *, loadable: bool = False, hint: str | None = None) -> None:
        more = " (use --plugin FILE to load others)" if loadable and hint is None else ""
        super().__init__(f"unknown {kind} {name!r}; {hint or suggest(str(name), known)}{more}")


class Refused(ArenaError):
    """An agent cannot play a game; the message says which trait is missing.

    >>> arena.play("pig", ["minimax", "random"])
    Traceback (most recent call last):
    arena.errors.Refused: minimax cannot play pig: pig has chance
    """


class GameError(ArenaError):
    """The rules of a game contradict themselves; for example, `to_move` returns a seat that does not exist."""

    place = ""
    """The file and line of the function that is at fault, if it has returned before the error is raised; otherwise empty."""


class CodeChanged(ArenaError):
    """A plugin was edited during a run that uses it. Earlier records belong to the old code."""


class StoreError(ArenaError):
    """A store cannot be used: it is in use, has a newer format, is not a store at all, or is not at its path."""


class StoreFull(StoreError):
    """The disk is full. Everything that was written before is safe."""

    EXIT_CODE = 1


class StoreDamaged(StoreError):
    """A row of a store does not match its hash, so no result that depends on it can be trusted."""

    EXIT_CODE = 1


class PlayersLost(ArenaError):
    """A plugin that plays a run, such as the cluster, has lost its players. All matches that had finished before are safe."""

    EXIT_CODE = 1


class IsolationError(ArenaError):
    """An agent cannot get the process or the sandbox that its entry requests. This is not a fault of the agent."""


class Unavailable(ArenaError):
    """The backend of an agent does not answer. The match is void, no agent loses it, and the next run repeats it."""

    MARK = "an agent was unavailable: "
    """How the message of such a void match begins."""


class BackendGone(Unavailable):
    """The backend of an agent has not answered for a long time, so the agent does not ask it again in this run."""


class OutOfBudget(BaseException):
    """A decision has used up its nodes or its time. Methods of the game raise it in the agent. Do not catch it."""


class Interrupted(KeyboardInterrupt):
    """The user interrupted the run. Any other KeyboardInterrupt counts as a fault of an agent or a plugin."""

    EXIT_CODE = 130
    """The exit code of an interrupted run."""


def listing(names: Sequence[str], word: str = "and") -> str:
    """Return names as people list them: with commas, and with a word before the last one.

    >>> listing(["bfs"]), listing(["bfs", "dfs"]), listing(["bfs", "dfs", "greedy"], "or")
    ('bfs', 'bfs and dfs', 'bfs, dfs or greedy')
    """
    return f" {word} ".join([part for part in (", ".join(names[:-1]), *names[-1:]) if part])


def suggest(name: str, known: Iterable[str]) -> str:
    """Suggest up to three `known` names that are similar to `name`, or list all of them if none is similar."""
    names, wanted = sorted(set(known)), name.lower()
    near = get_close_matches(wanted, names, n=3, cutoff=0.6)
    likeness = [SequenceMatcher(None, other, wanted).ratio() for other in near]
    best = [repr(other) for other, alike in zip(near, likeness, strict=True) if alike > likeness[0] - MAX_LIKENESS_LOSS]
    if best:
        return f"did you mean {listing(best, 'or')}?"
    return f"known: {', '.join(names)}" if names else "none is known"


MAX_LIKENESS_LOSS = 0.15
"""Names are suggested if their similarity, from 0 to 1, is less than this number below the highest similarity of any name."""


def describe_unmade(error: BaseException) -> str:
    """Return why an object of a plugin could not be created with the parameters that a user gave."""
    if isinstance(error, (ArenaError, ValueError)) and str(error):  # a clear message, such as that a library is not installed
        return str(error)
    return f"cannot be created: {describe(error)}"


def describe(error: BaseException, *, folders: bool = True) -> str:
    """Return a line that describes an exception: its type, its message, and the file and line that raised it.

    The file and line are from the deepest frame outside arena and installed libraries, so that authors see their own code. For
    records, `folders` is false: the file has no folder, because records of a match are equal wherever it is played.
    """
    message = call_foreign(lambda: str(error), lambda _: "an exception whose message cannot be shown")
    text = ADDRESS.sub("0x...", " ".join(message.split()))
    head = f"{type(error).__name__}: {text}" if text else type(error).__name__
    place = _find_place(error)
    place = place if folders else place.rpartition(os.sep)[2]
    return f"{head} ({place})" if place else head


def blame(function: object, message: str) -> GameError:
    """Return an error whose place is the source of a `function` of an author, which has already returned a wrong value."""
    error, code = GameError(message), getattr(function, "__code__", None)
    if isinstance(code, CodeType) and is_authors(code.co_filename):
        error.place = name_place(code, None)
    return error


_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 120
_brief.maxlist = _brief.maxtuple = 12


def abbreviate(value: object) -> str:
    """Return a value as messages show it: long parts are shortened in the middle. This also works if `repr` fails."""
    text = call_foreign(lambda: _brief.repr(value), lambda _: f"an object of type {type(value).__name__}")
    return ADDRESS.sub("0x...", text)


def cut(text: str, most: int = 60) -> str:
    """Return a text, shortened to at most `most` characters; a shortened text ends with three dots."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def expect(name: str, given: object, kinds: Any, expected: str) -> None:
    """Raise TypeError if the argument `name` of a public function is of none of the types `kinds`, or is a boolean.

    >>> expect("store", 3, str, "a path")
    Traceback (most recent call last):
    TypeError: store: expected a path, got 3
    """
    if not isinstance(given, kinds) or isinstance(given, bool):
        hint = f"; write {given.__name__}() to make an instance" if isinstance(given, type) and issubclass(given, kinds) else ""
        raise TypeError(f"{name}: expected {expected}, got {abbreviate(given)}{hint}")


def expect_count(name: str, given: Any, least: int = 0) -> int:
    """Return the argument `name` as an int. Raise TypeError for other types, and ValueError for a number below `least`.

    >>> expect_count("workers", 0, 1)
    Traceback (most recent call last):
    ValueError: workers: expected a whole number of at least 1, got 0
    """
    expect(name, given, Integral, f"a whole number of at least {least}")
    if given < least:
        raise ValueError(f"{name}: expected a whole number of at least {least}, got {given!r}")
    return int(given)


def expect_list(name: str, given: Any, kinds: Any, expected: str) -> list[Any]:
    """Return the items of the argument `name`. Raise TypeError if it is a text or no collection, or if an item is of none of the
    types `kinds`.

    >>> expect_list("plugins", "mine.py", str, "a list of paths")
    Traceback (most recent call last):
    TypeError: plugins: expected a list of paths, got 'mine.py'
    """
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        listed = list(given)
        if all(isinstance(item, kinds) for item in listed):
            return listed
    raise TypeError(f"{name}: expected {expected}, got {abbreviate(given)}")


_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))  # they turn text or end a line
_CONTROLS = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *_DIRECTIONS)
_ESCAPES = {code: chr(code).encode("unicode_escape").decode() for code in _CONTROLS}


def escape_controls(text: str) -> str:
    """Return a text of several lines with terminal control characters escaped. Tabs and line ends are kept."""
    return text.translate(_ESCAPES)


def escape_line(text: str) -> str:
    """Return a text with line ends and all characters that a terminal could interpret escaped."""
    return "".join([letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text])


def call_foreign(call: Callable[[], Value], otherwise: Callable[[BaseException], Value]) -> Value:
    """Call `call`, which runs code of a plugin, and return its value. If it raises anything but Interrupted, call `otherwise`."""
    try:
        return call()
    except Interrupted:
        raise
    except BaseException as error:
        return otherwise(error)


ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
"""The memory address of an object in a text. Messages leave it out, because it differs from run to run."""


def _find_place(error: BaseException) -> str:
    if isinstance(error, GameError) and error.place:
        return error.place
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno or 1}"
    walked = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    places = [name_place(code, line) for code, line in walked if not _is_ours(code.co_filename)]
    written = [place for place in places if not place.startswith(_LIBRARY)]
    if not written:  # the code of an installed plugin is below the folder of Python's library
        written = [place for place in places if "site-packages" in place]
    return written[-1] if written else ""


def name_place(code: CodeType, line: int | None) -> str:
    """Return a place in the code of a function as `file:line`. An instruction without a line (None) is at the first line."""
    return f"{code.co_filename}:{line or code.co_firstlineno}"


def _is_ours(filename: str) -> bool:
    return filename.startswith(("<frozen", *_HOMES))


def is_authors(filename: str) -> bool:
    """Return whether code belongs neither to arena nor to Python itself."""
    library = filename.startswith(_LIBRARY) and "site-packages" not in filename
    return not (_is_ours(filename) or library or filename == "<string>")  # `<string>` is code that dataclasses generates


EXTENSIONS = (
    *("bundle", "catalog", "check", "cluster", "compare", "compiled", "duel", "isolation"),
    *("pairings", "play", "records", "review", "setup", "solution", "tune", "web"),
)
"""The extensions in this distribution. Tracebacks for authors leave out the frames of these extensions and of the core."""
_ABOVE = __file__.removesuffix("arena/errors.py")
_HOMES = (f"{_ABOVE}arena/", *(f"{_ABOVE}{lead}arena_{name}/" for lead in ("", "extensions/") for name in EXTENSIONS))
_LIBRARY = sysconfig.get_path("stdlib")
MAX_TRACEBACK_FRAMES = 20


def author_traceback(error: BaseException) -> str:
    """Return the traceback of `error` without the frames of arena itself. Only the last MAX_TRACEBACK_FRAMES frames are kept."""
    frames: TracebackType | None = error.__traceback__
    while frames is not None and _is_ours(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    lines = call_foreign(
        lambda: traceback.format_exception(type(error), error, frames, limit=-MAX_TRACEBACK_FRAMES, chain=False),
        lambda _: traceback.format_tb(frames, limit=-MAX_TRACEBACK_FRAMES),  # used if the exception has no readable text
    )
    return ADDRESS.sub("0x...", "".join(lines))
