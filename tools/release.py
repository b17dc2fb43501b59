"""Make a release, and try it: wheel, source distribution and bill of materials in dist/.

python tools/release.py python3.11 python3.12 python3.13

For each Python named, the wheel is installed in an empty environment, runs a scene (uncompiled: it is the packaging that is
tried), and is uninstalled; whatever stays behind is told. Then the source distribution in its place. The bill of materials
(CycloneDX) lists what the environment of the wheel holds. Build tools are installed in an environment of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"


def main(pythons: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tools = environment(sys.executable, work / "tools")
        run(tools, "-m", "pip", "install", "-q", "build", "cyclonedx-bom")
        shutil.rmtree(DIST, ignore_errors=True)
        subprocess.run([str(tools), "-m", "build", "--outdir", str(DIST), str(ROOT)], check=True, stdout=subprocess.DEVNULL)
        wrong = 0
        for python in pythons or [sys.executable]:
            own = environment(python, work / "tried")
            for made in sorted(DIST.glob("tumble-*")):  # the wheel first
                left = tried(own, made, work / "tried", None if made.suffix != ".whl" else work / "bill.json", tools)
                print(f"{python} {made.name}: {'clean' if not left else f'left behind: {left}'}", flush=True)
                wrong += bool(left)
            shutil.rmtree(work / "tried")
        shutil.copy(work / "bill.json", DIST / "sbom.json")
        print(*sorted(path.name for path in DIST.iterdir()), sep="\n")
    return 1 if wrong else 0


def tried(own: Path, made: Path, place: Path, bill: Path | None, tools: Path) -> list[str]:
    """Install, run, uninstall; the files that stay behind."""
    run(own, "-m", "pip", "install", "-q", "--no-compile", str(made), "-c", str(ROOT / "constraints.txt"))
    if bill is not None:
        run(tools.parent / "cyclonedx-py", "environment", str(own), "-o", str(bill), "--of", "JSON")
    run(own, "-m", "pip", "check")
    scene = ["run", "bouncing_ball", "--seconds", "0.05", "--out", str(place / "runs")]
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ""}
    subprocess.run([str(own.parent / "tumble"), *scene], check=True, cwd=place, env=plain, stdout=subprocess.DEVNULL)
    run(own, "-m", "pip", "uninstall", "-q", "-y", "tumble")
    ours = {"collision", "sim", "render", "scenarios", "tumble"}  # and the four packages stand nowhere else
    sites = [path for site in place.glob("lib/python*/site-packages") for path in site.iterdir()]
    return [path.name for path in (*sites, *own.parent.iterdir()) if path.name in ours or "tumble" in path.name]


def environment(python: str, place: Path) -> Path:
    """An empty environment; its interpreter."""
    subprocess.run([python, "-m", "venv", str(place)], check=True)
    return place / "bin" / "python"


def run(python: Path, *words: str) -> None:
    subprocess.run([str(python), *words], check=True, env={**os.environ, "PYTHONPATH": ""})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
