"""Set up .venv for the Makefile: tested versions, one line of progress. Uses the standard library only.

python tools/setup_venv.py VENV EXTRA STAMP [LOCKED]

With LOCKED each package must have a hash of locked.txt, which holds those of the extra "dev".
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = "setup.log"


def main(venv: Path, extra: str, stamp: Path, locked: bool = False) -> int:
    if not (3, 11) <= sys.version_info[:2] <= (3, 14):
        return fail(f"Python {sys.version.split()[0]} will not do: 3.11 to 3.14 is needed (make PYTHON=/path/to/python3)")
    begun = time.monotonic()
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not works(python):
        say(f"Setting up: creating {venv}")
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], capture_output=True, text=True)
        if made.returncode:
            package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
            return fail(
                f"no virtual environment could be made; on Debian and Ubuntu: apt install {package}\n{made.stdout}{made.stderr}"
            )
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    steps = [["-e", target, "-c", str(ROOT / "constraints.txt")]]
    if locked:
        steps = [["--require-hashes", "-r", str(ROOT / "locked.txt")], ["--no-deps", "--no-build-isolation", "-e", str(ROOT)]]
    for step in steps:
        code = install(python, step, venv / LOG)
        if code:
            return code
    lead(venv, python)
    stamp.touch()
    clear()
    print(f"Set up {venv} with Python {sys.version.split()[0]} in {time.monotonic() - begun:.0f} s", flush=True)
    return 0


def lead(venv: Path, python: Path) -> None:
    """A path of packages with the source tree under its one name, which editors and type checkers follow; pip's own way runs code
    that they can not read. And with its short names (tumble/short_names.py). Where no link can be made, Python alone finds it."""
    ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    site = subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    folder = venv.resolve() / "src"
    folder.mkdir(exist_ok=True)
    try:
        for name in ("tumble", *packages()):
            link = folder / name
            link.unlink(missing_ok=True)
            link.symlink_to(ROOT / name, target_is_directory=True)
    except OSError:
        return
    Path(site, "tumble_tree.pth").write_text(f"{folder}\n", encoding="utf-8")


def packages() -> tuple[str, ...]:
    """Packages that programs beside the tree know by the names of their folders."""
    sys.path.insert(0, str(ROOT))
    from tumble import PACKAGES  # loads none of them

    return PACKAGES


def works(python: Path) -> bool:
    """The environment is there, of this version of Python, and not broken by a move or an upgrade."""
    try:
        answer = subprocess.run(
            [str(python), "-c", "import sys, pip; print(sys.version_info[:2])"], capture_output=True, text=True
        )
    except OSError:
        return False
    return answer.returncode == 0 and answer.stdout.strip() == str(sys.version_info[:2])


def install(python: Path, what: list[str], log: Path) -> int:
    """pip, with its many lines in a log and one line of progress here. It compiles no modules to bytecode, which is half of its
    work: Python does that for those that are imported, unless it is told to keep no bytecode."""
    packages = sum(1 for line in (ROOT / "constraints.txt").read_text().splitlines() if re.match(r"\w", line))
    quick = [] if sys.dont_write_bytecode else ["--no-compile"]
    shown = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command = [str(python), "-m", "pip", "install", *shown, *quick, *what]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    seen, lines, last = 0, [], ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as pip:
        for line in pip.stdout:
            lines.append(line)
            if match := re.match(r"\s*(?:Downloading|Using cached|Requirement already satisfied:|Collecting) ?([\w.-]+)", line):
                name = re.split(r"[-=<>!~;\[ ]", match[1])[0]
                if line.startswith(("Collecting", "Requirement")):
                    seen += name != last
                last = name
                say(f"Setting up: package {min(seen, packages)} of about {packages}, {name}")
            elif line.startswith("Installing collected"):
                say(f"Setting up: installing {line.count(',') + 1} packages")
    log.write_text("".join(lines), encoding="utf-8")
    if pip.returncode:
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-5:]
        return fail("".join(errors) + f"pip could not install what is needed; all of its output is in {log}")
    return 0


def say(text: str) -> None:
    """A line that the next one overwrites; where the output is no terminal, only the first of its kind."""
    if sys.stdout.isatty():
        print(f"\r\033[K{text[:100]}", end="", flush=True)
    elif text.split(",")[0] not in _said and "package" not in text:
        _said.add(text.split(",")[0])
        print(text, flush=True)


_said: set[str] = set()


def clear() -> None:
    if sys.stdout.isatty():
        print("\r\033[K", end="")


def fail(text: str) -> int:
    clear()
    print(text.rstrip(), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), bool(sys.argv[4:])))
