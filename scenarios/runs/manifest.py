"""SHA256SUMS of a folder: what the files beside a recording hashed to when they were written, in the format of sha256sum.

A recording has checksums of its own. A summary, a figure, a film and a page have none, so damage to them would not show.
``sha256sum -c SHA256SUMS`` reads the file as well as ``tumble check`` does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tumble.sim.files import read_recorded, whole

TRAJECTORY = "trajectory.zarr"
MANIFEST = "SHA256SUMS"


@contextmanager
def listed(*paths: Path) -> Iterator[None]:
    """While files of one folder are written: they are off its list before, and on it afterwards.

    So that whoever is killed in between leaves files that nothing is said of, and not ones that seem damaged. Folders without
    a recording have no list.
    """
    folder = paths[0].parent
    if not (folder / TRAJECTORY).is_dir():
        yield
        return
    names = [path.name for path in paths]
    _write(folder, {name: sum for name, sum in _read(folder).items() if name not in names})
    yield
    _write(folder, _read(folder) | {name: _sum(folder / name) for name in names if (folder / name).is_file()})


def harms(folder: Path) -> list[str]:
    """Files of a folder that are not what was written, a sentence each; one that is gone does no harm."""
    there = {name: sum for name, sum in _read(folder).items() if (folder / name).is_file()}
    return [f"{name} is not what was written" for name, sum in there.items() if _sum(folder / name) != sum]


def _sum(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(folder: Path) -> dict[str, str]:
    """name -> hash; lines that can not be read are none."""
    try:
        lines = read_recorded(folder / MANIFEST).decode("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return {}
    pairs = (line.split("  ", 1) for line in lines)
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2 and Path(pair[1]).name == pair[1]}


def _write(folder: Path, sums: dict[str, str]) -> None:
    if sums or (folder / MANIFEST).exists():
        lines = (f"{sum}  {name}\n" for name, sum in sorted(sums.items()) if name.isprintable() and "\\" not in name)
        with whole(folder / MANIFEST) as part:
            part.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
