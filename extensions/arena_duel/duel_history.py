"""Reads past duels of an agent from their stores: the date, the versions, the bounds of the test, and the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from arena.api.errors import StoreError
from arena.api.results import Leaderboard, figures
from arena.api.store import Store
from arena_duel.best_duel import PastContest
from arena_duel.decision_limits import describe_drawn, describe_plies
from arena_duel.version_folder import KeptVersion, VersionFolder
from arena_isolation.versions import MARK
from arena_pairings.sprt_state import SprtState

HEADINGS = ("#", "When", "Version", "Old", "Game", "Plies", "Bounds", "Pairs", "Elo", "Verdict")


@dataclass(frozen=True, slots=True)
class PastDuel:
    """One duel, read from its store."""

    number: int
    store: str
    started: str
    ended: str | None
    new: KeptVersion
    old: KeptVersion
    game: dict[str, Any]
    limits: dict[str, Any]
    plies: int
    """The number of random moves before each game."""
    test: dict[str, Any]
    state: SprtState | None
    """The state of the test; None before the first complete pair of games."""
    games: int
    most: int
    """Maximum number of games."""
    failures: dict[str, int]
    """The number of matches that each version lost by a fault."""
    drawn: dict[str, float]
    """The share of the moves of each version that were random, because a limit ended the decision before the version had reported
    an action. Versions without such moves are left out.
    """

    @property
    def verdict(self) -> str:
        """Return the result in one word."""
        if self.state is not None and self.state.verdict is not None:
            known = {1: "better", -1: "worse", 0: "passed" if self.state.verdict == "H1" else "not better"}
            return known[self.state.better]  # it passed if it is only shown not to be much worse, as `--elo -10 0` asks
        return "undecided" if self.ended is not None else "unfinished"

    def as_dict(self) -> dict[str, Any]:
        """Return the duel as plain values that can be written as JSON."""
        state, lead = self.state, None if self.state is None else self.state.lead
        return {
            "number": self.number,
            "store": self.store,
            "started": self.started,
            "ended": self.ended,
            "version": _version(self.new),
            "against": _version(self.old),
            "game": self.game,
            "limits": self.limits,
            "plies": self.plies,
            **{key: self.test[key] for key in ("elo0", "elo1", "alpha", "beta", "model")},
            "pairs": [0] * 5 if state is None else list(state.counts),
            "llr": None if state is None else state.llr,
            "lower": None if state is None else state.test.lower,
            "upper": None if state is None else state.test.upper,
            "elo": None if lead is None else lead.elo,
            "elo_low": None if lead is None else lead.elo_low,
            "elo_high": None if lead is None else lead.elo_high,
            "hypothesis": None if state is None else state.verdict,
            "verdict": self.verdict,
            "failures": self.failures,
            "random_moves": self.drawn,
        }


def past_duels(folder: VersionFolder) -> list[PastDuel]:
    """Return every duel in a folder, the oldest first.

    Stores without a run are left out, and so are stores of versions that the folder no longer has.
    """
    versions = {one.number: one for one in folder.versions()}
    found = []
    for number, new, old, place in folder.stores():
        if new not in versions or old not in versions:
            continue
        try:
            with Store.open(place) as store:
                run = store.last()
        except StoreError:
            continue
        sheet, board = run.boards[0], Leaderboard.load(place)[0]
        failures = {str(row["agent"]): int(row["failures"]) for row in board.rows if row["failures"]}
        drawn = {str(row["agent"]): float(row["fallback_share"]) for row in board.rows if row["fallback_share"]}
        limits, openings = [dict(run.spec["values"].get(key) or {}) for key in ("limits", "openings")]
        found.append(
            PastDuel(
                number, str(place), run.started, run.ended, versions[new], versions[old], sheet.game, limits,
                int(openings.get("plies", 0)), dict(sheet.test or {}), board.test, board.games, sheet.size, failures, drawn,
            )
        )  # fmt: skip
    return found


def history_table(duels: Sequence[PastDuel], style: str) -> str:
    """Return the duels as a table of at most 80 columns. A game that all duels share is named above the table."""
    from tabulate import tabulate

    rows = [_row(one) for one in duels]
    games = {str(one.game["name"]) for one in duels}
    shared = {"Game"} if len(games) == 1 else set()
    shared |= {"Plies"} if len({one.plies for one in duels}) == 1 else set()
    kept = [place for place, name in enumerate(HEADINGS) if name not in shared]
    align = ["right", "left", "left", "left", "left", "right", "left", "right", "right", "left"]
    table = tabulate(
        [[row[place] for place in kept] for row in rows],
        [HEADINGS[place] for place in kept],
        tablefmt=style,
        disable_numparse=True,
        colalign=[align[place] for place in kept],
    )
    notes = [f"{one.number}: {note}" for one in duels if (note := describe_drawn(one.limits, one.drawn))]
    table = "\n".join([table, "", *notes] if notes else [table])
    shown = [f"at {next(iter(games))}"] if "Game" in shared else []
    shown += [describe_plies(duels[0].plies)] if "Plies" in shared else []
    return f"Duels {', '.join(shown)}\n\n{table}" if shown else table


def contest_table(contests: Sequence[PastContest], style: str) -> str:
    """Return the contests of several variants as a table, followed by a sentence with the result of each contest."""
    from tabulate import tabulate

    rows = [
        [str(one.number), _moment(one.started), str(one.game["name"]), f"{one.margin:g}", f"{one.games:,}", one.verdict]
        for one in contests
    ]
    headings = ["#", "When", "Game", "Margin", "Games", "First variant"]
    align = ["right", "left", "left", "right", "right", "left"]
    table = tabulate(rows, headings, tablefmt=style, disable_numparse=True, colalign=align)
    answers = [f"{one.number}: {', '.join(variant.name for variant in one.variants)}. {one.sentence}." for one in contests]
    return "\n".join(["Contests of several variants", "", table, "", *answers])


def _moment(text: str) -> str:
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")


def _row(duel: PastDuel) -> list[str]:
    state = duel.state
    elo = "-"
    if state is not None and state.lead.elo is not None:
        interval = figures.elo_interval(state.lead.elo_low, state.lead.elo_high)
        elo = f"{figures.elo(state.lead.elo)}{interval}"
    return [
        str(duel.number),
        _moment(duel.started),
        f"{duel.new.name} {duel.new.code[: MARK // 2]}",
        duel.old.name,
        str(duel.game["name"]),
        str(duel.plies),
        f"{duel.test['elo0']:g} to {duel.test['elo1']:g}",
        "0" if state is None else f"{sum(state.counts):,}",
        elo,
        duel.verdict,
    ]


def _version(version: KeptVersion) -> dict[str, Any]:
    return {"name": version.name, "code": version.code, "origin": version.origin, "file": str(version.file)}
