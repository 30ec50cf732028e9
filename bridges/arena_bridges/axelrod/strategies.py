"""The strategies of the library that can play here, and the reasons why the others cannot."""

from difflib import get_close_matches
from typing import Any

from arena_bridges.extras import library

REFUSALS = {
    "inspects_source": "it reads the source or the mind of the other",
    "manipulates_source": "it changes the source of the other",
    "manipulates_state": "it changes the state of the other",
    "long_run_time": "a match takes it long",
}
"""The reason why a strategy is refused, by its trait in the library."""


def all_strategies() -> dict[str, Any]:
    """Return all strategies of the library, by the names of their classes; MissingExtra without it."""
    return {kind.__name__: kind for kind in library("axelrod", "axelrod").all_strategies}


def refusal(kind: Any) -> str | None:
    """Return why a strategy cannot play here; None if it can."""
    asked = library("axelrod", "axelrod").Classifiers
    player = kind()
    return next((reason for trait, reason in REFUSALS.items() if asked[trait](player)), None)


def find_strategy(name: str) -> Any:
    """Return the class of a strategy; raises ValueError with the nearest names, or with the reason why it cannot play."""
    known = all_strategies()
    if name not in known:
        written = {one.lower(): one for one in known}
        near = [written[one] for one in get_close_matches(name.lower(), written, n=3, cutoff=0.6)]
        near = [written[name.lower()]] if name.lower() in written else near
        hint = f"did you mean {' or '.join(near)}?" if near else "`python -m arena_bridges.axelrod` lists them"
        raise ValueError(f"strategy: unknown {name!r}; {hint}")
    reason = refusal(known[name])
    if reason is not None:
        raise ValueError(f"strategy: {name} cannot play here: {reason}")
    return known[name]


def table() -> str:
    """Return the strategies that can play and those that cannot, with the reason, as a table of the manual."""
    known = all_strategies()
    reasons = {name: reason for name, kind in known.items() if (reason := refusal(kind)) is not None}
    by_reason = {reason: sorted(name for name, why in reasons.items() if why == reason) for reason in REFUSALS.values()}
    version = library("axelrod", "axelrod").__version__
    lines = [
        f"Of {len(known)} strategies of Axelrod {version} {len(known) - len(reasons)} can play.",
        "",
        "| | strategies |",
        "|---|---|",
        f"| can play | {', '.join(f'`{name}`' for name in sorted(known.keys() - reasons.keys()))} |",
        *[f"| {reason} | {', '.join(f'`{name}`' for name in names)} |" for reason, names in by_reason.items() if names],
    ]
    return "\n".join(lines)
