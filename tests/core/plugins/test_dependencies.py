"""The imports of a plugin."""

from pathlib import Path

import pytest

from arena.plugins.dependencies import PythonFile

FILES = {
    "plugin.py": "import helper, json, numpy.linalg, arena\nfrom package.deep import x\ndef f():\n    import later\n",
    "helper.py": "import plugin  # and round again\nfrom . import nothing\n",
    "later.py": "import nowhere_to_be_found\n",
    "package/__init__.py": "",
    "package/deep/__init__.py": "from other import y\n",
    "package/.hidden/secret.py": "",
    "package/venv/pyvenv.cfg": "",
    "package/venv/lib/some.py": "",
    "other.py": "def broken(:\n",
    "unrelated.py": "",
}
WANTED = {"helper.py", "later.py", "package/__init__.py", "package/deep/__init__.py", "other.py"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_all_imports_outside_installed_packages_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This includes indirect and circular imports, and imports in functions. No code is run."""
    monkeypatch.syspath_prepend(folder)
    assert PythonFile(folder / "plugin.py").find_imported() == {folder / name for name in WANTED}


def test_a_program_depends_only_on_files_in_its_folder(folder: Path) -> None:
    assert PythonFile(folder / "plugin.py").find_beside() == {folder / name for name in WANTED}
    (folder / "program.sh").write_text("import helper\n")
    assert PythonFile(folder / "program.sh").find_beside() == set()


def test_a_changed_file_is_read_again(folder: Path) -> None:
    assert folder / "unrelated.py" not in PythonFile(folder / "helper.py").find_beside()
    (folder / "helper.py").write_text("import unrelated\n")
    assert PythonFile(folder / "helper.py").find_beside() == {folder / "unrelated.py"}
    (folder / "helper.py").unlink()
    assert PythonFile(folder / "helper.py").find_beside() == set()


def test_packages_in_any_site_packages_folder_count_as_installed(tmp_path: Path) -> None:
    folder = tmp_path / "other" / "lib" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "library.py").write_text("")
    (tmp_path / "mine.py").write_text("")
    plugin = tmp_path / "plugin.py"
    plugin.write_text("import library, mine\n")
    assert PythonFile(plugin).find_imported([str(tmp_path), str(folder)]) == {tmp_path / "mine.py"}
