"""Bundle the replay of reports anew, render/page/viewer.min.js: ``python tools/bundle_viewer.py``. Needs npm."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "render" / "page"
BANNER = "/* The replay of tumble's reports, with three.js (MIT licence, Copyright 2010-2026 three.js authors). */"


def main() -> int:
    npm = shutil.which("npm")
    if npm is None:
        print("npm is needed: on Debian and Ubuntu apt-get install npm", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "viewer.js"):
            shutil.copy(PAGE / name, folder)
        subprocess.run([npm, "install", "--silent", "--no-audit", "--no-fund"], cwd=folder, check=True)
        esbuild = next(Path(folder, "node_modules", "@esbuild").glob("*/bin/esbuild"))
        options = ["--bundle", "--minify", "--format=iife", "--target=es2020", "--legal-comments=none", f"--banner:js={BANNER}"]
        subprocess.run([esbuild, "viewer.js", *options, f"--outfile={PAGE / 'viewer.min.js'}"], cwd=folder, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
