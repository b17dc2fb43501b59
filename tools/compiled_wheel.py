"""Put machine code into a wheel, so that those who install it compile nothing: python tools/compiled_wheel.py WHEEL [PYTHON ...]

For each Python named, by default this one, whose environment must have what tumble needs, both libraries are compiled on all
cores for processors of the level x86-64-v3 (AVX2, since 2013 or so), and the wheel is written anew with them. It stays a wheel
for all platforms: where processor, system or a version differs (Python 3.x, NumPy, Numba, llvmlite), an installation compiles by
itself. tools/release.py makes the wheel. Aarch64 has no level here yet: nobody has tried one.
"""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LEVEL = "x86-64-v3"
PLACE = "tumble/collision/machine_code/"


def main(wheel: Path, pythons: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        tree, made = Path(folder) / "tree", Path(folder) / "made"
        with zipfile.ZipFile(wheel) as there:
            there.extractall(tree)
        for python in pythons or [sys.executable]:
            compiled(python, tree, made)
        files = {f"{PLACE}{path.name}": path.read_bytes() for path in sorted(made.iterdir())}
        add(wheel, files)
    for name, data in files.items():
        print(f"{name}: {len(data) / 1e6:.1f} MB")
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return 0


def compiled(python: str, tree: Path, made: Path) -> None:
    """Compile the sources of the wheel, which the names of the files are hashes of."""
    with tempfile.TemporaryDirectory() as cache:
        settings = {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": "", "TUMBLE_CACHE_DIR": cache, "PYTHONPATH": str(tree)}
        plain = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        subprocess.run(
            [python, "-m", "tumble.collision.kernels.shipped", str(made), LEVEL], check=True, cwd=tree, env={**plain, **settings}
        )


def add(wheel: Path, files: dict[str, bytes]) -> None:
    """Write the wheel anew with these files, in its record too; those that it held under their place go."""
    part = wheel.with_suffix(".part")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as new:
        kept = [item for item in old.infolist() if not item.filename.startswith(PLACE)]
        for item in kept:
            data = old.read(item)
            if item.filename.endswith(".dist-info/RECORD"):
                rows = [row for row in data.decode().splitlines() if not row.startswith(PLACE)]
                data = "\n".join([*rows[:-1], *map(_row, files.items()), rows[-1], ""]).encode()
            new.writestr(item, data, zipfile.ZIP_DEFLATED)
        for name, data in files.items():
            new.writestr(name, data)
    os.replace(part, wheel)


def _row(file: tuple[str, bytes]) -> str:
    name, data = file
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
