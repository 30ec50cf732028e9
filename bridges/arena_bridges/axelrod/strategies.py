"""The strategies of the library that can play here, and the reasons why the others cannot."""

from difflib import get_close_matches
from typing import Any

from arena_bridges.extras import library

REFUSALS = {
    "inspects_source": "it reads the source code or the memory of its opponent",
    "manipulates_source": "it changes the source code of its opponent",
    "manipulates_state": "it changes the state of its opponent",
    "long_run_time": "its matches take too long",
}
"""The traits of strategies that are refused, as the library names them, each with the reason."""


def all_strategies() -> dict[str, Any]:
    """Return all strategies of the library; the keys are the names of their classes.

    Raises MissingExtra if the library is not installed.
    """
    return {kind.__name__: kind for kind in library("axelrod", "axelrod").all_strategies}


def refusal(kind: Any) -> str | None:
    """Return why a strategy cannot play here; None if it can."""
    asked = library("axelrod", "axelrod").Classifiers
    player = kind()
    return next((reason for trait, reason in REFUSALS.items() if asked[trait](player)), None)


def find_strategy(name: str) -> Any:
    """Return the class of a strategy.

    Raises ValueError for an unknown name, with similar names if there are any, and for a strategy that cannot play, with the
    reason.
    """
    known = all_strategies()
    if name not in known:
        written = {one.lower(): one for one in known}
        near = [written[one] for one in get_close_matches(name.lower(), written, n=3, cutoff=0.6)]
        near = [written[name.lower()]] if name.lower() in written else near
        hint = f"did you mean {' or '.join(near)}?" if near else "use `python -m arena_bridges.axelrod` to list them"
        raise ValueError(f"strategy: unknown {name!r}; {hint}")
    reason = refusal(known[name])
    if reason is not None:
        raise ValueError(f"strategy: {name} cannot play in arena: {reason}")
    return known[name]


def table() -> str:
    """Return the strategies that can play, and the others with the reason, as a table for the manual."""
    known = all_strategies()
    reasons = {name: reason for name, kind in known.items() if (reason := refusal(kind)) is not None}
    by_reason = {reason: sorted(name for name, why in reasons.items() if why == reason) for reason in REFUSALS.values()}
    version = library("axelrod", "axelrod").__version__
    lines = [
        f"{len(known) - len(reasons)} of the {len(known)} strategies in Axelrod {version} can play.",
        "",
        "| | strategies |",
        "|---|---|",
        f"| can play | {', '.join(f'`{name}`' for name in sorted(known.keys() - reasons.keys()))} |",
        *[
            f"| refused, because {why} | {', '.join(f'`{name}`' for name in names)} |"
            for why, names in by_reason.items()
            if names
        ],
    ]
    return "\n".join(lines)
