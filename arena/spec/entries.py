"""Reads the agents of a spec: it expands sweeps, looks up names, checks options, and creates each agent once as a test."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path as FilePath
from typing import Any
from unicodedata import normalize

from pydantic import TypeAdapter

from arena.agent import Agent, Hints
from arena.errors import listing
from arena.heuristics import NO_HEURISTIC
from arena.limits import Limits
from arena.match.match import IN_PROCESS
from arena.plugins.registry import Registry
from arena.spec.choices import Choices, read_choices
from arena.spec.document import Path
from arena.spec.games import Rules
from arena.spec.isolation import KEY as ISOLATION, check_name, choose_isolation, is_closed, isolation_names
from arena.spec.labels import Features
from arena.spec.model import DecisionLimits, EntryKeys
from arena.spec.parameters import Parameters, Report, add_hints, check_value, locate_options, make_adapter
from arena.spec.reader import SpecReader, drop_keys
from arena.spec.source import EntryAgent, GivenEntry, take_entry
from arena.spec.sweep import Variant, list_variants

MAX_ENTRIES = 2000
"""The most entries of a spec. Each is created once when the spec is read, and a round robin has two million pairs of them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent with its options; sweeps have been expanded."""

    path: Path
    source: EntryAgent
    """The object that makes its agent."""
    agent: type[Agent]
    options: Mapping[str, Any]
    changed: Mapping[str, Any]
    """The options that differ from their defaults, as JSON values."""
    label: str | None
    limits: Limits
    choices: Choices
    isolation: str = IN_PROCESS
    files: Mapping[str, str] = field(default_factory=dict)
    """The options that name files, each with its full path."""
    waits: bool = False
    """Whether the agent may be temporarily unavailable; see `Seat.waits`."""

    def make(self) -> Agent:
        """Make its agent. Exceptions of the constructor are passed on."""
        return self.agent(**self.located(FilePath.cwd()))

    def located(self, folder: FilePath) -> Mapping[str, Any]:
        """Return the options for a process whose working directory is `folder`."""
        return locate_options(self.options, self.files, folder) if self.files else self.options

    def is_foreign(self, registry: Registry) -> bool:
        """Return whether its code may come from a stranger: it is a program, or has code of its own in a sandbox."""
        return not self.source.here and (self.source.code is None or is_closed(registry, self.isolation))

    @property
    def name(self) -> str:
        """The name that is shown if the entry has no label and no other entry has the same name."""
        return self.source.name(self.agent)


def read_entries(reading: SpecReader, rules: Sequence[Rules]) -> list[Entry]:
    """Return all entries of a spec that have no faults, in the order of the file. Faults are noted.

    Each entry and each heuristic must fit the only game of the spec or, if the spec has several games, at least one of them.
    """
    given = reading.values.get("agents")
    if not isinstance(given, list):
        return []
    if not given:
        reading.faults.add(("agents",), "the list of agents is empty; add some from `arena list agents`")
    variants = (
        entry for number, value in enumerate(given) for entry in _read_variants(reading, rules, ("agents", number), value)
    )
    read = list(islice(variants, MAX_ENTRIES + 1)) if len(given) <= MAX_ENTRIES else []
    if max(len(given), len(read)) > MAX_ENTRIES:
        message = f"expected at most {MAX_ENTRIES:,} entries, with sweeps expanded; split the spec"
        reading.faults.add(("agents",), message)
        return []
    entries = [entry for entry in read if entry is not None]
    if reading.values.get("max_cost") is not None and not any("max_cost" in entry.options for entry in entries):
        reading.faults.add(("max_cost",), "no agent of the spec has a cost; remove max_cost")
    if entries and all(entry.isolation == IN_PROCESS for entry in entries):
        _remark_start(reading, reading.values.get("limits"), ("limits",))
        if reading.values.get("pondering"):
            reading.remark(
                ("pondering",), f"only agents in their own processes ponder, so this key has no effect; {_apart(reading)}"
            )
    for agent in dict.fromkeys([entry.agent for entry in entries if hasattr(entry.agent, "check_entries")]):
        own = [entry for entry in entries if entry.agent is agent]
        for number, option, message in agent.check_entries([entry.options for entry in own]):
            reading.faults.add((*own[number].path, option), message)
    return entries


def common_limits(reading: SpecReader) -> Limits:
    """Return the limits at the top level of a spec."""
    return Limits(**(reading.values.get("limits") or {}))


def list_features(reading: SpecReader, entry: Entry, default: str | None) -> Features:
    """Return the features that can distinguish entries of the same agent. `default` is the heuristic if an entry names none."""
    settings = dict(entry.options)
    common = common_limits(reading)
    for name in DecisionLimits.model_fields:
        if getattr(entry.limits, name) != getattr(common, name):
            settings[f"limits.{name}" if name in settings else name] = getattr(entry.limits, name)
    word = " ".join(map(str, entry.choices.values())) or default or "default"
    return Features(entry.name, entry.label, word, settings, entry.source.code_label)


def _read_variants(reading: SpecReader, rules: Sequence[Rules], path: Path, value: Any) -> Iterator[Entry | None]:
    """Yield the entry for each combination of the sweeps in a value; None for one with a fault."""
    value = {"agent": value} if isinstance(value, str) else value
    if not isinstance(value, dict):
        return
    if "agent" not in value:
        reading.faults.add(path, "agent is missing, as in {agent: greedy}")
        return
    before = reading.faults.noted
    written_out = list_variants(value, reading.below(path))
    unswept = reading.faults.noted > before
    for variant in written_out:
        entry = _read_entry(reading, rules, path, variant)
        yield None if unswept else entry


def _read_entry(reading: SpecReader, rules: Sequence[Rules], path: Path, variant: Variant) -> Entry | None:
    values = variant.values
    report = reading.below(path, variant)
    before = reading.faults.noted
    for key in ("agent", "label", "heuristic", "waits"):
        if key in values:
            check_value(_key_adapter(key), values[key], (key,), report)
    check_name(reading.registry, values.get(ISOLATION), (ISOLATION,), report)
    label = values.get("label")
    if isinstance(label, str):
        label = normalize("NFC", label)  # labels that look the same are the same
    if isinstance(label, str) and (not label.isprintable() or label != label.strip()):
        report(("label",), f"expected printable text without surrounding spaces, got {label!r}")
    limits = _read_limits(reading, values.get("limits"), report)
    choices = read_choices(reading, values.get("heuristic"), path, variant)
    source = take_entry(GivenEntry(reading, path, variant))
    isolation = choose_isolation(reading, values.get(ISOLATION), limits, source, report)
    agent, options, changed = source.read(isolation)
    if agent is not None and options is not None:
        source.check_limits(agent, options, limits)
    sound = reading.faults.noted == before
    if reading.games:
        source.check_heuristics(choices)
    if agent is None:
        return None
    reasons = [source.refusal(agent, rule.game) for rule in (*rules, *reading.stand_ins)]
    if all(reasons) or not reading.several:
        for reason in filter(None, reasons):
            reading.faults.add(path, reason)
    if not sound or options is None:
        return None
    if is_closed(reading.registry, isolation):
        source.note_trust(agent.name)
    if isolation == IN_PROCESS:
        _remark_start(reading, values.get("limits"), (*path, *variant.origin(("limits",))))
    _remark_heuristics(reading, agent, choices, (*path, *variant.origin(("heuristic",))))
    files = Parameters(agent).find_files(options, reading.document.folder)
    declared = values.get("waits")
    waits = agent.waits is True and source.code is None and source.here if declared is None else declared
    return Entry(path, source, agent, options, changed, label, limits, choices, isolation, files, waits)


def _remark_heuristics(reading: SpecReader, agent: type[Agent], choices: Choices, path: Path) -> None:
    """Add a note that heuristics have no effect, because the agent declares that it uses none."""
    named = [choice.name for choice in choices.values() if choice.name != NO_HEURISTIC]
    if named and not (agent.wants_heuristic or Hints.of(agent).uses_heuristic):
        reading.remark(path, f"{agent.name} uses no heuristic, so {listing(named)} has no effect; remove it")


def _remark_start(reading: SpecReader, limits: Any, path: Path) -> None:
    """Add a note that a limit for the start of agents has no effect, because they are in arena's own processes."""
    if isinstance(limits, dict) and "start_seconds" in limits:
        message = f"only agents in their own processes need to start, so this key has no effect; {_apart(reading)}"
        reading.remark((*path, "start_seconds"), message)


def _apart(reading: SpecReader) -> str:
    """Say what to write instead of a key that has no effect in arena's own processes."""
    return f"remove it, or write isolation: {listing(isolation_names(reading.registry)[1:], 'or')}"


@cache
def _key_adapter(key: str) -> TypeAdapter[Any]:
    """Return the validator of a key of entries. It is cached, because making one takes longer than reading an entry."""
    return make_adapter(EntryKeys.model_fields[key].rebuild_annotation())


def _read_limits(reading: SpecReader, given: Any, report: Report) -> Limits:
    common = common_limits(reading)
    if given is None:
        return common
    if isinstance(given, dict) and "moves" in given:
        report(("limits", "moves"), "`moves` limits the whole match: set it under `limits` at the top level")
        given = drop_keys(given, "moves")
    before = reading.faults.noted
    check_value(_LIMITS, given, ("limits",), add_hints(report, DecisionLimits.model_fields))
    return common if reading.faults.noted > before else replace(common, **given)


_LIMITS = make_adapter(DecisionLimits)
