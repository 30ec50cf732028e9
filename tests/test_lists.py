"""Tests of the lists that CI reads: the smoke tests, and the versions of all libraries."""

import ast
import re
import tomllib

import pytest

from tests.conftest import ROOT

SMOKE = [line for line in (ROOT / "tests/smoke.txt").read_text("utf-8").splitlines() if line and line[0] != "#"]
EXTRAS = ("dev", "browser", "report", "web", "fast", "axelrod")
"""The extras that `.ci/run` installs."""
LOCK = ROOT / ".ci/constraints.txt"


@pytest.mark.parametrize("test", SMOKE)
def test_every_listed_smoke_test_exists(test: str) -> None:
    file, _, name = test.partition("::")
    functions = {node.name for node in ast.parse((ROOT / file).read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}
    assert name.partition("[")[0] in functions


def test_each_smoke_test_is_listed_once() -> None:
    assert len({*SMOKE}) == len(SMOKE)


@pytest.mark.skipif(not LOCK.exists(), reason="the installed wheel is tested without .ci")
def test_every_library_has_exactly_one_locked_version() -> None:
    """`make lock` writes these versions. They include build backends and the tools of CI."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    asked += [line for extra in EXTRAS for line in extras[extra]]
    asked += [line for line in (ROOT / ".ci/tools.txt").read_text("utf-8").splitlines() if line[0] != "#"]
    names = {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in asked}  # type: ignore[index]
    lines = LOCK.read_text("utf-8").splitlines()
    assert names <= {line.partition("==")[0] for line in lines if re.fullmatch(r"[\w.-]+==[\w.+!-]+( ; .+)?", line)}
