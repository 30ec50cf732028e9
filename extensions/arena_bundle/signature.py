"""Signs the manifest of a bundle (the list of its files with their hashes) with an SSH key, and checks such signatures.

Both are done by the program `ssh-keygen`.
"""

import shutil
import subprocess
from pathlib import Path

from arena import ArenaError
from arena.api.errors import cut
from arena.api.games import read_whole

NAMESPACE = "fairarena-bundle"
"""The purpose of the signatures. It is part of the signed data, so signatures for other purposes are not valid here."""
NO_SIGNER = "No principal matched."
"""The line that ssh-keygen prints if no signer in the file has made the signature, or if the file contains a wrong line."""
MAX_SIGNERS_BYTES = 16 << 20
MAX_REASON_CHARACTERS = 500


def sign_file(file: Path, key: Path) -> None:
    """Sign a file with a private key, and write the signature next to the file. Raises ArenaError if that fails."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise ArenaError("--sign needs ssh-keygen, which is not on PATH; install OpenSSH")
    command = [program, "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(file)]
    done = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, check=False)  # noqa: S603
    if done.returncode:
        reason = cut(done.stderr.strip(), MAX_REASON_CHARACTERS)
        raise ArenaError(f"--sign {key}: ssh-keygen could not sign: {reason}; expected a private SSH key")


def check_signature(manifest: bytes, signature: Path, signers: Path) -> str | None:
    """Return the name of the signer in the file `signers`; None if no signer in this file has signed the manifest.

    Raises ArenaError if `signers` has a wrong line, or if ssh-keygen is missing or does not work.
    """
    program = shutil.which("ssh-keygen")
    if program is None:
        raise ArenaError("--signers needs ssh-keygen, which is not on PATH; install OpenSSH")
    try:
        read_whole(signers, MAX_SIGNERS_BYTES)  # ssh-keygen reads the file twice, so it cannot be a pipe
    except ValueError as error:
        raise ArenaError(f"--signers: {error}") from error
    options = ["-n", NAMESPACE, "-s", str(signature), "-f", str(signers)]
    found = subprocess.run(  # noqa: S603
        [program, "-Y", "find-principals", *options], capture_output=True, input=manifest, check=False
    )
    lines = found.stderr.decode(errors="replace").splitlines()
    if found.returncode and NO_SIGNER not in lines:
        reason = cut("; ".join(lines), MAX_REASON_CHARACTERS)
        raise ArenaError(f"--signers needs ssh-keygen, which does not work here: {reason}")
    if found.returncode and (wrong := [line for line in lines if line.startswith(f"{signers}:")]):
        reason = cut(wrong[0], MAX_REASON_CHARACTERS)
        raise ArenaError(f"--signers: {reason}; expected a name and a key that is valid now, as in `ada ssh-ed25519 AAAA...`")
    for name in found.stdout.decode(errors="replace").splitlines() if found.returncode == 0 else ():
        command = [program, "-Y", "verify", "-I", name, *options]
        if subprocess.run(command, input=manifest, capture_output=True, check=False).returncode == 0:  # noqa: S603
            return name
    return None
