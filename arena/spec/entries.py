"""Reads the agents of a spec: sweeps written out, names looked up, options checked, each made once to see that it can be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from os.path import isfile
from pathlib import Path as FilePath
from typing import Annotated, Any, get_args

from pydantic import Field, TypeAdapter

from arena.agent import Agent
from arena.errors import shown, suggestion
from arena.limits import Limits
from arena.match.match import Isolation
from arena.spec.choices import Choices, check_choices, read_choices
from arena.spec.document import Path
from arena.spec.engine_agent import KEY as PROTOCOL
from arena.spec.engine_agent import EngineAgent, engine_agent, unplayable
from arena.spec.entry_version import KEY as VERSION
from arena.spec.entry_version import PLUGIN, VersionedAgent, check_known, checked_options, code_key, read_version
from arena.spec.external import ExternalAgent, called, found
from arena.spec.games import Rules
from arena.spec.given_plugins import note_trust
from arena.spec.labels import Features
from arena.spec.model import DecisionLimits, EntryKeys
from arena.spec.option_files import located, option_files
from arena.spec.parameters import UNKNOWN_KEY, Report, adapter, checked, hinting, validated
from arena.spec.reader import SpecReader, without
from arena.spec.sweep import Variant, variants

KEYS = tuple(EntryKeys.model_fields)


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent with its options, sweeps written out."""

    path: Path
    agent: type[Agent]
    options: Mapping[str, Any]
    label: str | None
    limits: Limits
    choices: Choices
    isolation: Isolation = "none"
    command: tuple[str, ...] | None = None
    """The program that plays, where it is not a Python agent."""
    versioned: VersionedAgent | None = None
    """Its agent, where that is of another version of a plugin."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The options that name files, each with the whole path."""

    def make(self) -> Agent:
        """Return its agent; whatever that raises is passed on."""
        return self.agent(**self.located(FilePath.cwd()))

    def located(self, folder: FilePath) -> Mapping[str, Any]:
        """The options as one who stands in `folder` takes them."""
        return located(self.options, self.files, folder) if self.files else self.options

    @property
    def name(self) -> str:
        """What to call it where it has no label and no rival."""
        if self.command is None:
            return self.agent.name
        program = [*takewhile(lambda word: word[:1] != "-", self.command)] if issubclass(self.agent, EngineAgent) else []
        return called(program or self.command)  # the options of an engine are many, and no name


def read_entries(reading: SpecReader, rules: Sequence[Rules]) -> list[Entry]:
    """Every entry of a spec without faults of its own, in the order of the file; faults are noted.

    With one game an entry must be able to play it, with several one of them; so must its heuristics fit.
    """
    given = reading.values.get("agents")
    if not isinstance(given, list):
        return []
    if not given:
        reading.faults.add(("agents",), "no agents; list some of `arena list agents`")
    return [entry for number, value in enumerate(given) for entry in _variants(reading, rules, ("agents", number), value)]


def common_limits(reading: SpecReader) -> Limits:
    """The limits at the top of a spec."""
    return Limits(**(reading.values.get("limits") or {}))


def features(reading: SpecReader, entry: Entry, default: str | None) -> Features:
    """What may tell an entry from others of the same agent; `default` is the heuristic it gets where it names none."""
    settings = dict(entry.options)
    common = common_limits(reading)
    for name in DecisionLimits.model_fields:
        if getattr(entry.limits, name) != getattr(common, name):
            settings[f"limits.{name}" if name in settings else name] = getattr(entry.limits, name)
    word = " ".join(map(str, entry.choices.values())) or default or "default"
    version = None if entry.versioned is None else entry.versioned.version
    if version is not None and version.submitted:
        return Features(entry.name, entry.label, word, settings, plugin=version.short)
    return Features(entry.name, entry.label, word, settings, None if version is None else version.short)


def _variants(reading: SpecReader, rules: Sequence[Rules], path: Path, value: Any) -> Iterator[Entry]:
    value = {"agent": value} if isinstance(value, str) else value
    if not isinstance(value, dict):
        return
    if "agent" not in value:
        reading.faults.add(path, "agent is missing, as in {agent: greedy}")
        return
    before = reading.faults.noted
    written_out = variants(value, reading.below(path))
    unswept = reading.faults.noted > before
    for variant in written_out:
        entry = _entry(reading, rules, path, variant)
        if entry is not None and not unswept:
            yield entry


def _entry(reading: SpecReader, rules: Sequence[Rules], path: Path, variant: Variant) -> Entry | None:
    values = variant.values
    report = reading.below(path, variant)
    before = reading.faults.noted
    for key in ("agent", "label", "heuristic", "isolation"):
        if key in values:
            checked(_key_adapter(key), values[key], (key,), report)
    _check_words(values, report)
    limits = _limits(reading, values.get("limits"), report)
    choices = read_choices(reading, values.get("heuristic"), path, variant)
    command = _command(reading, path, variant)
    own = code_key(reading, values)
    apart = "a program" if command is not None else None if own is None else _APART[own]
    isolation = _isolation(reading, values.get("isolation"), limits, apart, report)
    if own == PLUGIN and VERSION in values:
        report((VERSION,), "an entry has a plugin of its own or another version of one; leave one of them out")
    versioned = None if own is None else read_version(reading, values, own, isolation, report)
    agent, options = _made(reading, versioned, path, variant)
    if agent is not None and options is not None and issubclass(agent, EngineAgent):
        _check_engine(agent(**options), limits, "limits" in values, report)
    sound = reading.faults.noted == before
    if reading.games and versioned is None:
        check_choices(reading, choices, reading.games)
    elif reading.games and versioned is not None:
        check_known(versioned, choices, reading, reading.games)
    if agent is None:
        return None
    _check_fits(reading, rules, agent, path)
    if not sound or options is None:
        return None
    if isolation == "sandbox" and command is None:
        note_trust(reading, agent.name, versioned)
    files = option_files(agent, options, reading.document.folder)
    return Entry(path, agent, options, values.get("label"), limits, choices, isolation, command, versioned, files)


@cache
def _key_adapter(key: str) -> TypeAdapter[Any]:
    """The validator of a key of entries, made once: to make it takes longer than all else about an entry."""
    return adapter(EntryKeys.model_fields[key].rebuild_annotation())


def _made(
    reading: SpecReader, versioned: VersionedAgent | None, path: Path, variant: Variant
) -> tuple[type[Agent] | None, dict[str, Any] | None]:
    """The agent of an entry and its options, with defaults; None for each that has a fault."""
    report = reading.below(path, variant)
    if versioned is not None:
        checked = checked_options(versioned, without(variant.values, *KEYS), report)
        return (versioned.agent, None) if checked is None else (versioned.claiming(checked.optimal), checked.values)
    if code_key(reading, variant.values) is not None:
        return None, None  # its fault is noted
    given = variant.values.get("agent")
    agent = engine_agent(given, report) if isinstance(given, dict) else _agent(reading, path, variant)
    return agent, None if agent is None else _options(reading, agent, path, variant)


def _options(reading: SpecReader, agent: type[Agent], path: Path, variant: Variant) -> dict[str, Any] | None:
    report = reading.below(path, variant)
    given = {key: value for key, value in variant.values.items() if key in _APART or key not in KEYS}
    if agent is ExternalAgent:
        return given
    options = validated(agent, given, (), lambda where, message: report(where, _hinted(where, message)))
    if options is None:
        return None
    files = option_files(agent, options, reading.document.folder)
    return None if reading.made(agent, located(options, files, FilePath.cwd()), path) is None else options


def _check_fits(reading: SpecReader, rules: Sequence[Rules], agent: type[Agent], path: Path) -> None:
    reasons = [unplayable(agent, rule.game) for rule in rules]
    if all(reasons) or not reading.several:
        for reason in filter(None, reasons):
            reading.faults.add(path, reason)


def _agent(reading: SpecReader, path: Path, variant: Variant) -> type[Agent] | None:
    name = variant.values.get("agent")
    where = (*path, *variant.origin(("agent",))) if reading.is_mapping(path) else path
    if not isinstance(name, str):
        return None
    found: type[Agent] | None = reading.known(reading.registry.agent, name, where)
    return found


def _command(reading: SpecReader, path: Path, variant: Variant) -> tuple[str, ...] | None:
    """The program of {command: [...]}; None where an entry names an agent, and after a fault."""
    given = variant.values.get("agent")
    if not isinstance(given, dict):
        return None
    report = reading.below(path, variant)
    for key in given:
        if key not in _OF_PROGRAMS:
            report(("agent", key), f"{UNKNOWN_KEY}; {suggestion(key, _OF_PROGRAMS)}; options stand beside agent")
    if "command" not in given:
        report(("agent",), "expected the name of an agent or {command: [program, argument, ...]}")
        return None
    words: list[str] | None = checked(_WORDS, given["command"], ("agent", "command"), report)
    if words is None:
        return None
    if not found(reading.moved.programs.get(words[0], words[0]), reading.document.folder):
        where = f"in {reading.document.folder}" if "/" in words[0] else "on PATH"
        there = isfile(reading.document.folder / words[0])  # noqa: PTH113 - takes a name that no file can have
        advice = "; it is there, but not executable: chmod +x it, or put its interpreter before it" if there else ""
        report(("agent", "command"), f"no program {shown(words[0])} {where} that can be started{advice}")
    return tuple(words)


def _check_engine(agent: EngineAgent, limits: Limits, own: bool, report: Report) -> None:
    """Note a fault where an engine cannot be told its limits; `own` tells whether its entry gives them."""
    fault = agent.limit_fault(limits)
    if fault is not None:
        report(("limits",) if own else (), fault)


def _isolation(reading: SpecReader, given: Any, limits: Limits, apart: str | None, report: Report) -> Isolation:
    """Where an entry runs: as it says, as the spec says, or in a process of its own where a limit needs one.

    `apart` is what it is where it always runs in a process of its own: a program, or code that the entry brings.
    """
    wanted: Isolation | None = given if given in _KINDS else reading.values.get("isolation")
    if wanted is None:
        return "process" if apart or limits.timed or limits.memory_mb is not None else "none"
    for limit, name in ((limits.memory_mb, "a memory limit"), (limits.cpu_seconds, "a limit of CPU seconds")):
        if wanted == "none" and limit is not None:
            report(("isolation",), f"{name} needs isolation: process or sandbox; leave out isolation: none")
    if wanted == "none" and apart and given is None and apart != "a program":
        return "process"  # the spec speaks of those that have the choice
    if wanted == "none" and apart:
        report(("isolation",), f"{apart} runs in a process of its own; expected process or sandbox, got 'none'")
    return wanted


def _hinted(path: Path, message: str) -> str:
    """An unknown option may be a misspelt key of the entry itself."""
    if len(path) == 1 and message.startswith(UNKNOWN_KEY) and "did you mean" not in message:
        near = suggestion(str(path[-1]), KEYS)
        return f"{UNKNOWN_KEY}; {near}" if near.startswith("did") else message
    return message


def _check_words(values: Mapping[str, Any], report: Report) -> None:
    label = values.get("label")
    if isinstance(label, str) and (not label.isprintable() or label != label.strip()):
        report(("label",), f"expected printable text without space around it, got {label!r}")


def _limits(reading: SpecReader, given: Any, report: Report) -> Limits:
    common = common_limits(reading)
    if given is None:
        return common
    if isinstance(given, dict) and "moves" in given:
        report(("limits", "moves"), "moves belong to the match: set them under limits at the top")
        given = without(given, "moves")
    before = reading.faults.noted
    checked(_LIMITS, given, ("limits",), hinting(report, DecisionLimits.model_fields))
    return common if reading.faults.noted > before else replace(common, **given)


_LIMITS = adapter(DecisionLimits)
_WORDS = adapter(Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)])
_KINDS = get_args(Isolation)
_OF_PROGRAMS = ("command", PROTOCOL)
_APART = {PLUGIN: "an agent with a plugin of its own", VERSION: "another version"}
"""What an entry is that brings code of its own, by the key that names it."""
