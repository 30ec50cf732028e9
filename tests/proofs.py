"""Collects the results of the tests marked `proof`, and writes them to docs/explanation/proofs.md."""

from pathlib import Path

import pytest

HEAD = """# Proofs

On this page you can look up the results of simulations and exhaustive counts that take too long for `make test`. They
show that properties of arena hold. `make proofs` runs them with fixed seeds and writes this page. `make test` runs a
small version of each.

| folder of the test | what its proofs show |
|---|---|
| `tests/games` | rules and heuristics agree with published counts, solved games and brute force |
| `tests/agents`, `tests/bridges` | searches find the values, and solve the shares of positions, that theory gives |
| `tests/core`, `tests/extensions` | intervals and tests are wrong as rarely as they say; a killed run loses no match |
| `tests/hostile` | damage in a store is noticed, whichever byte it hits |
| `tests/ladder` | marks are rarely wrong in simulated classes, and a killed server loses no data |
| `tests` | the positions and specs in `tournaments/` are what they claim |

`make proofs` takes hours, and uses all cores. A single proof may take up to two hours. To run the proofs of one file
and print what they found, write `.venv/bin/python -m pytest -m proof tests/games/test_hex.py --proofs proofs.md`.

| proof | result | test |
|---|---|---|
"""


class ProofPage:
    """A plugin for the pytest process that gets all reports. It writes one row for each proof that has passed, sorted by name."""

    def __init__(self, page: Path) -> None:
        self._page = page
        self._rows: dict[str, str] = {}
        self._seconds = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the row of a proof that has passed."""
        if report.when == "call" and report.passed and "proof" in report.keywords:
            self._seconds += report.duration
            file, _, name = report.nodeid.partition("::")
            found = "; ".join([f"{what}: {value}" for what, value in report.user_properties])
            test, _, case = name.partition("[")
            words = test.removeprefix("test_").replace("_", " ") + (f": `{case[:-1]}`" if case else "")
            self._rows[report.nodeid] = f"| {words} | {found or 'holds'} | `{file}` |\n".replace("`|", "`\\|")

    def pytest_sessionfinish(self) -> None:
        """Write the page, with the time that all proofs took one after the other at its end."""
        took = f"\nThese {len(self._rows)} proofs took {self._seconds / 3600:.1f} hours in total, counted one after the other.\n"
        self._page.write_text(HEAD + "".join([self._rows[name] for name in sorted(self._rows)]) + took, "utf-8")
