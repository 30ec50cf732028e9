"""The command submit: hand in an agent to a ladder."""

import json
import os
import sys
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit

import click

from arena.errors import ArenaError

VARIABLE = "ARENA_TOKEN"
SECONDS = 60.0


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--to", "url", metavar="URL", required=True, help="The address of the ladder, as it prints it.")
@click.option("--name", metavar="NAME", help="What to call it; by default what its code calls the agent.")
def submit(file: Path, url: str, name: str | None) -> int:
    """Hand in the agent of FILE to the ladder at URL, and print the id of the submission.

    FILE is a Python file, a zip of a package, or a program. The token of its author is in ARENA_TOKEN, or asked for.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ArenaError(f"{file}: {error.strerror}; expected a Python file, a zip or a program") from error
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ArenaError(f"--to {url}: expected an address such as https://arena.example.org")
    token = os.environ.get(VARIABLE, "").strip()
    if not token and sys.stdin.isatty():
        token = click.prompt("Token", hide_input=True, err=True)
    if not token:
        raise ArenaError(f"no token: set {VARIABLE} to the one that the host of the ladder gave you")
    told = _posted(f"{url.rstrip('/')}/api/submissions", token, file.name, content, name)
    print(told["id"])
    return 0


def _posted(address: str, token: str, file: str, content: bytes, name: str | None) -> dict[str, str]:
    """Send the form and return the answer; ArenaError with what the ladder says where it does not take it."""
    boundary = token_hex(16)
    plain = file.encode("ascii", "replace").decode().replace('"', "_")
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="name"\r\n\r\n{name}\r\n'.encode()] if name else []
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{plain}"\r\n'
    parts += [f"{head}Content-Type: application/octet-stream\r\n\r\n".encode(), content, f"\r\n--{boundary}--\r\n".encode()]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": f"multipart/form-data; boundary={boundary}"}
    request = urllib.request.Request(address, b"".join(parts), headers)  # noqa: S310 - http or https, as checked
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - likewise
            told: dict[str, str] = json.load(answer)
            return {"id": str(told["id"])}
    except urllib.error.HTTPError as error:
        raise ArenaError(_refused(error)) from error
    except (urllib.error.URLError, OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise ArenaError(f"{address} does not answer: {reason}; see that the address is right and the ladder runs") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ArenaError(f"{address} does not answer as a ladder does; see that the address is right") from error


def _refused(error: urllib.error.HTTPError) -> str:
    try:
        told = json.loads(error.read(1 << 16))
        return f"not taken ({error.code}): {told['error']}; {told['hint']}"
    except (ValueError, KeyError, TypeError, OSError):
        return f"not taken: the address answers with {error.code}; see that it is that of a ladder"
