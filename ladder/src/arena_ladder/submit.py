"""The command `submit`: submits an agent to a ladder."""

import json
import os
import sys
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote, urlsplit

import click

from arena import ArenaError
from arena.api.cli import say
from arena.api.errors import cut, escape_controls
from arena.clock import monotonic, sleep

ENVIRONMENT_VARIABLE = "ARENA_TOKEN"
ANSWER_SECONDS = 60.0
MAX_ANSWER_BYTES = 1 << 20
LOOK_SECONDS = 1.0
"""Seconds between two requests for the status of a submission."""
AWAY_SECONDS = 60.0
"""The command gives up if the ladder has been down or too busy to answer for more than this number of seconds."""
SUBMISSIONS = "/api/submissions"
UNDECIDED = ("queued", "checking")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--to", "url", metavar="URL", required=True, help="Address of the ladder, as printed by the ladder.")
@click.option("--name", metavar="NAME", help="The name of the agent; default: its name in the code.")
@click.option("--wait", is_flag=True, help="Wait for its check, and print the result.")
def submit(file: Path, url: str, name: str | None, wait: bool) -> int:
    """Hand in the agent of FILE to the ladder at URL, and print the id of the submission.

    FILE is a Python file, a zip file, or a program. The token of the author comes from ARENA_TOKEN. If this variable is not set,
    the command asks for the token.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ArenaError(f"{file}: {error.strerror}; expected a Python file, a zip or a program") from error
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ArenaError(f"--to {url}: expected an address such as https://arena.example.org")
    token = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not token and sys.stdin.isatty():
        token = click.prompt("Token", hide_input=True, err=True)
    if not token:
        raise ArenaError(f"no token: set {ENVIRONMENT_VARIABLE} to the token that the host of the ladder gave you")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ArenaError(
            f"{ENVIRONMENT_VARIABLE} is not a token: expected the word of letters and digits that the host of the ladder gave you"
        )
    address = url.rstrip("/") + SUBMISSIONS
    key = str(_hand_in(address, token, file.name, content, name)["id"])
    _print(key)
    return _await_verdict(f"{address}/{quote(key, safe='')}", token, file.name) if wait else 0


def _await_verdict(address: str, token: str, file: str) -> int:
    """Ask for the state of a submission until its check is over, and print the result. Return 0 if it plays."""
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})  # noqa: S310 - checked above
    answered, status = monotonic(), ""
    while True:
        try:
            told = _ask(request, "not found")
            answered = monotonic()
        except Away:
            if monotonic() > answered + AWAY_SECONDS:
                raise
        else:
            if told.get("status") not in UNDECIDED:
                break
            if told["status"] != status:
                status = told["status"]
                say(status)
        sleep(LOOK_SECONDS)
    plays, found = told.get("status") == "playing", told.get("findings")
    reason = f": {told['reason']}" if told.get("reason") else ""
    _print(f"{told.get('agent') or file}: {told.get('status')}{reason}")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and not one.get("kept"):
            _print(f"{one.get('game')}, {one.get('check')}: {one.get('found')}")
    return 0 if plays else 1


def _print(text: str) -> None:
    """Print a text from a ladder. Control characters are escaped, because the text may contain anything."""
    print(escape_controls(text).encode("utf-8", "backslashreplace").decode(), flush=True)


class Away(ArenaError):
    """A ladder does not answer at the moment, or has received too many requests. It may answer later."""


def _hand_in(address: str, token: str, file: str, content: bytes, name: str | None) -> dict[str, Any]:
    """Send a submission as a form and return the answer. Raises ArenaError with the message of the ladder if it refuses."""
    boundary = token_hex(16)
    plain = file.encode("ascii", "replace").decode().replace('"', "_")
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="name"\r\n\r\n{name}\r\n'.encode()] if name else []
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{plain}"\r\n'
    parts += [f"{head}Content-Type: application/octet-stream\r\n\r\n".encode(), content, f"\r\n--{boundary}--\r\n".encode()]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": f"multipart/form-data; boundary={boundary}"}
    request = urllib.request.Request(address, b"".join(parts), headers)  # noqa: S310 - `submit` checks the scheme
    told = _ask(request, "not taken")
    if "id" not in told:
        raise ArenaError(f"{address} did not answer like a ladder; check the address")
    return told


def _ask(request: urllib.request.Request, refused: str) -> dict[str, Any]:
    """Return the answer from a ladder, which is a JSON object.

    Raises Away if the ladder does not answer, or answers that it is busy or down (429, 502, 503 or 504). Raises ArenaError if it
    refuses the request or does not answer with a JSON object.
    """
    address = request.full_url
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=ANSWER_SECONDS) as answer:
            told = json.loads(answer.read(MAX_ANSWER_BYTES))
    except urllib.error.HTTPError as error:
        later = error.code in (429, 502, 503, 504)
        raise (Away if later else ArenaError)(escape_controls(_explain_refusal(error, address, refused))) from error
    except (urllib.error.URLError, OSError, HTTPException) as error:
        raise Away(_explain_silence(error, address)) from error
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise ArenaError(f"{address} did not answer like a ladder; check the address")
    return told


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that does not follow redirects, because the token is for one address only."""

    def redirect_request(self, *_: object) -> None:
        """Return None for every redirect, so that urllib raises HTTPError."""


def _explain_refusal(error: urllib.error.HTTPError, address: str, refused: str) -> str:
    """Return the message of the ladder. If a proxy answers with a page, explain its status instead."""
    try:
        told = json.loads(error.read(1 << 16))
        return f"{refused} ({error.code}): {told['error']}; {told['hint']}"
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        pass
    asked = address.partition(SUBMISSIONS)[0]
    if error.code == 413:
        return f"{refused} (413): the file is too large for the server in front of the ladder at {asked}; submit a smaller file"
    if error.code in (502, 503, 504):
        return f"{refused} ({error.code}): the ladder behind {asked} does not answer; try again in a minute"
    if to := error.headers.get("location"):
        return (
            f"{refused} ({error.code}): {asked} redirects to {cut(to.removesuffix(SUBMISSIONS), 200)}; pass this address to --to"
        )
    return f"{refused}: the address answers with {error.code}; check that it is the address of a ladder"


def _explain_silence(error: Exception, address: str) -> str:
    reason = getattr(error, "reason", None) or error
    if untrusted := getattr(reason, "verify_message", None):  # from ssl.SSLCertVerificationError
        hint = "if you trust the authority that signed it, set SSL_CERT_FILE to the authority's certificate"
        return f"{address}: its certificate is not trusted: {untrusted}; {hint}"
    return f"{address} does not answer: {reason}; check the address, and check that the ladder is running"
