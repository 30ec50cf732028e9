"""Collects the results of the tests marked `proof`, and writes them to docs/explanation/proofs.md."""

from pathlib import Path

import pytest

HEAD = """# Proofs

On this page you can look up the results of simulations and exhaustive counts that take too long for `make test`. They
show that properties of arena hold. `make proofs` runs them with fixed seeds and writes this page. `make test` runs a
small version of each.

| proof | result | test |
|---|---|---|
"""


class ProofPage:
    """A plugin for the pytest process that gets all reports. It writes one row for each proof that has passed, sorted by name."""

    def __init__(self, page: Path) -> None:
        self._page = page
        self._rows: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the row of a proof that has passed."""
        if report.when == "call" and report.passed and "proof" in report.keywords:
            file, _, name = report.nodeid.partition("::")
            found = "; ".join([f"{what}: {value}" for what, value in report.user_properties])
            test, _, case = name.partition("[")
            words = test.removeprefix("test_").replace("_", " ") + (f": `{case[:-1]}`" if case else "")
            self._rows[report.nodeid] = f"| {words} | {found or 'holds'} | `{file}` |\n".replace("`|", "`\\|")

    def pytest_sessionfinish(self) -> None:
        """Write the page."""
        self._page.write_text(HEAD + "".join([self._rows[name] for name in sorted(self._rows)]), "utf-8")
