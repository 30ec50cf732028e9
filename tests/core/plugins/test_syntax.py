"""The digest of a file, which ignores comments and docstrings."""

import gc
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.plugins.syntax import Import, Parsed, list_parsed, parse_file, take_over

CODE = '''
"""A module."""

from math import inf, pi as circle


class Table(dict):
    """A table."""

    limit: int = 1_000
    """The most."""

    def value(self, *keys: str, default=None, **more) -> float | None:
        """The value."""
        total = sum([self[key] ** 2 for key in keys if key in self])
        return total if total < inf else default


async def told(name):
    async with name as one, two:
        print(f"{name!r:>{Table.limit}} is {one:{two}}", rb"\\x00", -0.5j, ..., sep="é")
    match name:
        case {"a": [1, *rest], **others} | None:
            return lambda x, /, y=2: (x, y, *rest)
        case Table(limit=3):
            del others[1:2, ::3]
'''

ALIKE = [
    ("# no code\n", ""),
    ("x = 1  # one\n", "x=1\n"),
    ('"""About."""\nx = 1\n', '"""Otherwise."""\n\n\nx = 1\n'),
    ("class A:\n    pass\n", 'class A:\n    """Nothing."""\n'),
    ("async def f():\n    return 1\n", 'async def f():\n    """One."""\n    return 1\n'),
    ('x: int = 1\n"""One."""\n', "x: int = 1\n"),
    ("x = 'a'\n", 'x = """a"""\n'),
    ("x = (1 +\n     2)\n", "x = 1 + 2\n"),
    ("x = u'a'\n", "x = 'a'\n"),
    ("x = 16\n", "x = 0x10\n"),
]
DIFFERENT = [
    ("x = 1\n", "x = 2\n"),
    ("x = 1\n", "x = True\n"),
    ("x = 1\n", "x = 1.0\n"),
    ("x = 1\n", "x = '1'\n"),
    ("x = 'a'\n", "x = b'a'\n"),
    ("x = 0.0\n", "x = -0.0\n"),
    ("x = 'a', 'b'\n", "x = 'a b'\n"),
    ("x = ''\n", "x = 'a'\n"),
    ("f('')\n", "f()\n"),
    ("x = y\n", "x = 'y'\n"),
    ("x + y * z\n", "(x + y) * z\n"),
    ("f(x)\n", "f(*x)\n"),
    ("f(x=y)\n", "f(**y)\n"),
    ("def f(x, y=1): return x\n", "def f(x, *, y=1): return x\n"),
    ("def f(x=None): return x\n", "def f(x): return x\n"),
    ("def f(*, x=None, y): return x\n", "def f(*, x, y=None): return x\n"),
    ("return_ = {**x}\n", "return_ = {None: x}\n"),
    ("x: int\n", "x: float\n"),
    ("if x:\n    f()\ng()\n", "if x:\n    f()\n    g()\n"),
    ("if x:\n    f()\n", "if x:\n    pass\nelse:\n    f()\n"),
    ("for x in y: f()\n", "while x in y: f()\n"),
    ("import a\n", "import a as b\n"),
    ("from . import a\n", "from .. import a\n"),
    ("global x, y\n", "global y, x\n"),
    ("x = f'{a}'\n", "x = f'{a!r}'\n"),
    ("x = f'{a}b'\n", "x = f'{a:b}'\n"),
    ("@a\ndef f(): f()\n", "def f(): f()\n"),
]


def digest(folder: Path, content: str | bytes, name: str = "file.py") -> bytes:
    place = folder / name
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(place, ns=(0, hash(content) & 0xFFFFFFFF))  # as of another moment, however quick the test is
    return parse_file(place).digest


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_comments_and_formatting_do_not_change_a_digest(tmp_path: Path, one: str, other: str) -> None:
    assert digest(tmp_path, one) == digest(tmp_path, other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_every_change_of_code_changes_the_digest(tmp_path: Path, one: str, other: str) -> None:
    assert digest(tmp_path, one) != digest(tmp_path, other)


def test_the_digest_is_the_same_in_every_python_version(tmp_path: Path) -> None:
    """The expected digest was computed by Python 3.11, 3.12 and 3.13."""
    assert digest(tmp_path, CODE).hex() == "a08c9b44adba159ece97febf457928b1"


@pytest.mark.parametrize(
    "content",
    [
        b"def broken(:\n",
        b"x = '\xff\xfe'\n",
        b"# -*- coding: nonsense -*-\n",
        b"x = 1\x00\n",
        b"x = " + b"(" * 5000 + b")" * 5000,
        pytest.param(b"x = " + b"-" * 100_000 + b"1", marks=pytest.mark.process),  # large files are parsed in another process
        b"\x7fELF",
    ],
)
def test_files_that_are_not_python_are_hashed_by_bytes(tmp_path: Path, content: bytes) -> None:
    assert digest(tmp_path, content) != digest(tmp_path, content + b" ")
    assert parse_file(tmp_path / "file.py").imports == frozenset()


def test_files_with_large_numbers_and_long_sums_can_be_parsed(tmp_path: Path) -> None:
    large = "x = 0x" + "f" * 10_000 + "\n"
    assert digest(tmp_path, large) == digest(tmp_path, large + "# that was large\n")
    long = "x = " + " + ".join(["y"] * 500) + "\n"
    assert digest(tmp_path, long) == digest(tmp_path, long + "# that was long\n")


def test_files_in_other_languages_are_hashed_by_bytes(tmp_path: Path) -> None:
    assert digest(tmp_path, "x=1", "run.sh") != digest(tmp_path, "x=1 # one", "run.sh")


def test_files_that_cannot_be_read_have_the_digest_of_an_empty_file(tmp_path: Path) -> None:
    assert parse_file(tmp_path) == parse_file(tmp_path / "nothing.py") == Parsed(digest(tmp_path, "", "empty.txt"), frozenset())


def test_imports_are_found_in_all_blocks(tmp_path: Path) -> None:
    digest(
        tmp_path,
        "import a, b.c, d.e as f\nfrom g import h as i\nclass J:\n  def k():\n    from .. import l\n    from .m import *\n",
    )
    assert parse_file(tmp_path / "file.py").imports == {
        Import(0, "a", None),
        Import(0, "b.c", None),
        Import(0, "d", "e"),
        Import(0, "g", "h"),
        Import(2, "", "l"),
        Import(1, "m", "*"),
    }


def test_parsed_files_can_be_sent_to_another_process(tmp_path: Path) -> None:
    digest(tmp_path, "x = 1\n")
    place = tmp_path / "file.py"
    stamp, known = list_parsed()[place]
    take_over({place: (stamp, known._replace(digest=b"taken over"))})
    assert parse_file(place).digest == b"taken over"
    assert digest(tmp_path, "x = 2\n") not in (b"taken over", known.digest)


@pytest.mark.process
def test_two_threads_may_parse_at_the_same_time(tmp_path: Path) -> None:
    """The threads have different stack depths and switch at each garbage collection."""
    text = "x = [1, (2, {3: f(4, y=5)})]\n" * 200
    files = [tmp_path / f"{number}.py" for number in range(6)]
    for number, file in enumerate(files):
        file.write_text(f"{text}y = {number}\n")

    def parse(number: int, depth: int) -> Parsed:
        return parse(number, depth - 1) if depth else parse_file(files[number])

    def switch(_phase: str, _info: object) -> None:
        time.sleep(0.0002)

    before = gc.get_threshold()
    gc.callbacks.append(switch)
    gc.set_threshold(300)
    try:
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(parse, range(len(files)), [60 * (number % 2) for number in range(len(files))]))
    finally:
        gc.callbacks.remove(switch)
        gc.set_threshold(*before)
    assert len({one.digest for one in found}) == len(files)
