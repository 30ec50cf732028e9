"""Runs the steps of the Containerfile in a root that debootstrap makes, as root and without a container: `make test-root`.

Then agents play in sandboxes there, as the user of the image, and the parser of AppArmor reads the profile for Ubuntu. Nothing is
loaded into the kernel. The root is kept in build/root; delete this folder to begin again.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]
CONTAINERFILE = TOP / "deploy" / "Containerfile"
OF_MACHINE = ("/etc/resolv.conf", "/etc/ssl/certs", "/etc/pip.conf", "/etc/xdg/pip")
"""The files with which this machine reaches its package registries. Each step in the root sees
copies of them, because the installation of a package may change them."""
ENTER = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
shift
mkdir -p .outside .copies proc dev sys
mount -t tmpfs tmpfs .copies
for file in $OF_MACHINE; do
    [ -e "$file" ] || continue
    mkdir -p "./$(dirname "$file")" ".copies/$(dirname "$file")"
    if [ -d "$file" ]; then mkdir -p "./$file"; else rm -f "./$file"; touch "./$file"; fi
    if [ -d "$file" ]; then cp -a "$file" ".copies/$file"; else cp "$file" ".copies/$file"; fi
    mount --bind ".copies/$file" "./$file"
done
mount --rbind /dev dev
pivot_root . .outside
mount -t proc proc /proc
umount -l /.outside
exec "$@"
"""
"""Makes a folder the root by pivot_root. A chroot is not enough, because the kernel refuses user namespaces inside it."""
SPEC = {
    "game": "tic-tac-toe",
    "rounds": 2,
    "agents": ["random", "greedy"],
    "isolation": "sandbox",
    "limits": {"seconds": 1},
}


class Image:
    """The state that the instructions of a Containerfile change."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.user = "root"
        self.folder = "/"
        self.program: list[str] = []

    def run(self, words: list[str], text: str | None = None) -> None:
        """Run a command in the root, as the current user and in the current folder."""
        person = [] if self.user == "root" else ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups"]
        home = "/root" if self.user == "root" else f"/home/{self.user}"
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "http", "https"))}
        surroundings = {
            **kept,
            "HOME": home,
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "OF_MACHINE": " ".join(OF_MACHINE),
            "DEBIAN_FRONTEND": "noninteractive",
        }
        inside = ["sh", "-c", 'cd "$0" && exec "$@"', self.folder, *person, *words]
        enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", str(self.root), *inside]
        print("$", shlex.join(words), flush=True)
        subprocess.run(enter, env=surroundings, input=text, text=True, check=True)

    def follow(self, line: str) -> None:
        """Carry out an instruction of the Containerfile. Raises ValueError for an unknown instruction."""
        name, _, rest = line.partition(" ")
        if name == "RUN":
            self.run(["sh", "-c", rest])
        elif name == "COPY":
            *sources, target = rest.split()
            place = self.root / target.lstrip("/")
            place.mkdir(parents=True, exist_ok=True)
            found = [file for source in sources for file in TOP.glob(source)]
            if len(found) != len(sources):
                raise ValueError(f"{line}: expected one file for each word, got {len(found)}; `make wheel` builds the wheels")
            for file in found:
                shutil.copy(file, place)
        elif name == "USER":
            self.user = rest
        elif name == "WORKDIR":
            self.folder = rest
        elif name == "ENTRYPOINT":
            self.program = json.loads(rest)
        elif name not in ("FROM", "EXPOSE", "CMD"):
            raise ValueError(f"{CONTAINERFILE.name}: unknown instruction: {line}")


def main() -> None:
    """Make the root, follow the Containerfile, and try the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=TOP / "build" / "root", help="the folder of the root")
    image = Image(parser.parse_args().root.absolute())
    if os.geteuid() != 0 or sys.platform != "linux":
        sys.exit("this needs root, on Linux")
    steps = [line for line in CONTAINERFILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    suite = steps[0].rpartition(":")[2].removesuffix("-slim")
    if not (image.root / "etc" / "debian_version").exists():
        subprocess.run(["debootstrap", "--variant=minbase", suite, str(image.root)], check=True)
    for line in steps:
        image.follow(line)
    image.run([*image.program, "--version"])
    image.run(["sh", "-c", "cat > try.yaml"], json.dumps(SPEC))
    image.run([*image.program, "run", "try.yaml", "--no-store"])
    image.run([*image.program, "serve", "--help"])
    image.user, image.folder = "root", "/"
    image.run(["sh", "-c", "apt-get update -qq && apt-get install --yes -qq --no-install-recommends apparmor >/dev/null"])
    profile = (TOP / "deploy" / "apparmor-bwrap").read_text("utf-8")
    image.run(["sh", "-c", "cat > /tmp/profile && apparmor_parser --skip-kernel-load --skip-cache --debug /tmp/profile"], profile)
    print("all steps ended with 0")


if __name__ == "__main__":
    main()
