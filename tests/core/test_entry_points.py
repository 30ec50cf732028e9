"""Entry points are read without `importlib.metadata`, which takes long to import, and are the same."""

import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from arena.lazy import find_entry_points

OLD = {
    "old_1-1.0.dist-info/METADATA": "Name: Old.1\nVersion: 1.0\n\nName: of a recipe\n",
    "OLD.1-2.0.egg-info/PKG-INFO": "Name: old-1\nVersion: 2.0\n",
}
POINTS = "# of the package\n[arena]\n one = json : JSONDecoder.decode [speed]\ntwo=json\n\n[console_scripts]\nold = old:main\n"


def test_entry_points_equal_the_result_of_importlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (file, text) in enumerate(OLD.items()):
        metadata = (tmp_path / str(number) / file).parent
        metadata.mkdir(parents=True)
        (tmp_path / str(number) / file).write_text(text)
        (metadata / "entry_points.txt").write_text(POINTS.replace("two", f"two-{number}"))
        monkeypatch.syspath_prepend(tmp_path / str(number))
    sys.path.append(str(tmp_path / "nothing"))
    groups = entry_points().groups
    theirs = {(point.name, point.value, point.group) for group in groups for point in entry_points(group=group)}
    ours = [point for group in groups for point in find_entry_points(group)]
    assert {(point.name, point.value, point.group) for point in ours} == theirs
    assert {"arena", "arena.commands", "console_scripts"} < groups
    owners = {(point.name, point.value): point.dist for point in entry_points(group="arena")}
    for point in find_entry_points("arena"):
        dist = owners[point.name, point.value]
        assert dist is not None
        assert point.owner == (dist.metadata["Name"], dist.metadata["Version"])
        assert point.load() is next(one.load() for one in entry_points(group="arena") if one.name == point.name)
