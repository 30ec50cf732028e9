"""The wheels that a ladder serves, so that authors install the version that the ladder itself runs."""

import json
import subprocess
import sys
import zipfile
from base64 import urlsafe_b64encode
from functools import cache
from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from urllib.parse import unquote, urlsplit

from arena.api.cli import say

NAMES = ("fairarena", "fairarena-ladder")
"""The distributions that authors install: the arena, and `arena submit`."""
LEFT_OUT = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""Files that an installer has written. They are not part of a wheel."""
BUILD_SECONDS = 120
_building = Lock()


@cache
def list_wheels() -> dict[str, str]:
    """Return the names of the distributions by the file names of their wheels. It is empty if the wheels cannot be made here."""
    found = {}
    for name in NAMES:
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            return {}
        if _source_of(installed) is not None and find_spec("hatchling") is None:
            return {}
        found[f"{name.replace('-', '_')}-{installed.version}-py3-none-any.whl"] = name
    return found


def read_wheel(name: str) -> bytes | None:
    """Return the wheel of a distribution, which is made once; None if it cannot be made. The reason is printed for the host."""
    with _building:
        return _make_wheel(name)


@cache
def _make_wheel(name: str) -> bytes | None:
    installed = distribution(name)
    source = _source_of(installed)
    if source is None:
        return pack_wheel(installed)
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        try:
            subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=BUILD_SECONDS)  # noqa: S603 - own code
            return next(Path(folder).glob("*.whl")).read_bytes()
        except (OSError, subprocess.SubprocessError, StopIteration) as error:
            say(f"note: the wheel of {name} for authors cannot be built: {error}")
            return None


def _source_of(installed: Distribution) -> Path | None:
    """Return the folder with the source of an editable installation; None for an ordinary one."""
    found = json.loads(installed.read_text("direct_url.json") or "{}")
    return Path(unquote(urlsplit(found["url"]).path)) if found.get("dir_info", {}).get("editable") else None


def pack_wheel(installed: Distribution) -> bytes:
    """Return a wheel with the files of an installed distribution, as the format of wheels describes it (PEP 427)."""
    out, lines, record = BytesIO(), [], ""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in installed.files or ():
            parts = file.parts
            in_info = parts[0].endswith(".dist-info")
            if ".." in parts or "__pycache__" in parts or (in_info and file.name in LEFT_OUT):
                if in_info and file.name == "RECORD":
                    record = str(file)
                continue
            content = Path(str(file.locate())).read_bytes()
            digest = urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{file},sha256={digest},{len(content)}")
            wheel.writestr(str(file), content)
        wheel.writestr(record, "\n".join([*lines, f"{record},,", ""]))
    return out.getvalue()
