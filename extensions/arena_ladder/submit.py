"""The command `submit`: submit an agent to a ladder."""

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

from arena import ArenaError
from arena.api.errors import cut, escape_controls

ENVIRONMENT_VARIABLE = "ARENA_TOKEN"
ANSWER_SECONDS = 60.0
SUBMISSIONS = "/api/submissions"


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
    token = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not token and sys.stdin.isatty():
        token = click.prompt("Token", hide_input=True, err=True)
    if not token:
        raise ArenaError(f"no token: set {ENVIRONMENT_VARIABLE} to the one that the host of the ladder gave you")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ArenaError(
            f"{ENVIRONMENT_VARIABLE} is no token: expected one word of letters and digits, as the host of the ladder gave it"
        )
    told = _post(url.rstrip("/") + SUBMISSIONS, token, file.name, content, name)
    print(escape_controls(told["id"]))
    return 0


def _post(address: str, token: str, file: str, content: bytes, name: str | None) -> dict[str, str]:
    """Send the form and return the answer. Raises ArenaError with the ladder's message if the ladder refuses it."""
    boundary = token_hex(16)
    plain = file.encode("ascii", "replace").decode().replace('"', "_")
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="name"\r\n\r\n{name}\r\n'.encode()] if name else []
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{plain}"\r\n'
    parts += [f"{head}Content-Type: application/octet-stream\r\n\r\n".encode(), content, f"\r\n--{boundary}--\r\n".encode()]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": f"multipart/form-data; boundary={boundary}"}
    request = urllib.request.Request(address, b"".join(parts), headers)  # noqa: S310 - http or https, as checked
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=ANSWER_SECONDS) as answer:
            told: dict[str, str] = json.load(answer)
            return {"id": str(told["id"])}
    except urllib.error.HTTPError as error:
        raise ArenaError(escape_controls(_explain_refusal(error, address))) from error
    except (urllib.error.URLError, OSError, HTTPException) as error:
        raise ArenaError(_explain_silence(error, address)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ArenaError(f"{address} does not answer as a ladder does; see that the address is right") from error


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirects, because the token is for one address only."""

    def redirect_request(self, *_: object) -> None:
        """Leave a redirect to the caller."""


def _explain_refusal(error: urllib.error.HTTPError, address: str) -> str:
    """Return the ladder's own message. If a proxy answers with a page, explain its status instead."""
    try:
        told = json.loads(error.read(1 << 16))
        return f"not taken ({error.code}): {told['error']}; {told['hint']}"
    except (ValueError, KeyError, TypeError, OSError):
        pass
    asked = address.removesuffix(SUBMISSIONS)
    if error.code == 413:
        return f"not taken (413): the file is too large for the server before the ladder at {asked}; hand in less"
    if error.code in (502, 503, 504):
        return f"not taken ({error.code}): the ladder behind {asked} does not answer; try again in a minute"
    if to := error.headers.get("location"):
        return f"not taken ({error.code}): {asked} leads on to {cut(to.removesuffix(SUBMISSIONS), 200)}; give that to --to"
    return f"not taken: the address answers with {error.code}; see that it is that of a ladder"


def _explain_silence(error: Exception, address: str) -> str:
    reason = getattr(error, "reason", None) or error
    if untrusted := getattr(reason, "verify_message", None):  # from ssl.SSLCertVerificationError
        hint = "where you know who signed it, set SSL_CERT_FILE to the certificate of that authority"
        return f"{address}: its certificate is not trusted: {untrusted}; {hint}"
    return f"{address} does not answer: {reason}; see that the address is right and the ladder runs"
