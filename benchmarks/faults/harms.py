"""Harm done to recordings: files cut, emptied, deleted, doubled, exchanged, a bit flipped, two arrays exchanged.

Each harm is done to a whole run. What is read of it afterwards is what was written, or is named; what was not struck can be
read; and ``tumble check --repair``, or where nothing opens the run once more, brings all of it back, to the last bit.
"""

from __future__ import annotations

import contextlib
import io
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tumble.scenarios import cli
from tumble.sim import Run
from tumble.sim.errors import RecordingError
from tumble.sim.recording.storage.checksums import CHECKSUM_TABLE

KINDS = ("cut", "flip", "delete", "swap", "double", "empty", "rows")
WORDS = ("run", "bouncing_ball", "--seconds", "3", "--contacts", "--out")  # three chunks of samples, with contacts and impacts
STORE, ROOT = "trajectory.zarr", "zarr.json"
Chunk = tuple[str, int]


def harm(store: Path, kind: str, rng: random.Random) -> tuple[str, set[str]]:
    """Do harm to one file of a store, or to two; what was done, and the first names of what was struck."""
    files = sorted(file for file in store.rglob("*") if file.is_file())
    one = rng.choice(files)
    alike = [file for file in files if file != one and (file.name == ROOT) == (one.name == ROOT)]
    other = rng.choice(alike)
    data = one.read_bytes()
    struck = [one]
    if kind == "cut":
        one.write_bytes(data[: rng.randrange(len(data))])
    elif kind == "flip":
        at = rng.randrange(len(data))
        one.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
    elif kind == "delete":
        one.unlink()
    elif kind == "swap":
        one.write_bytes(other.read_bytes())
        other.write_bytes(data)
        struck = [one, other]
    elif kind == "double":
        other.write_bytes(data)
        struck = [other]
    elif kind == "empty":
        one.write_bytes(b"")
    else:
        arrays = sorted(folder for folder in store.iterdir() if folder.is_dir())
        one, other = struck = rng.sample(arrays, 2)
        for a, b in ((one, store / "aside"), (other, one), (store / "aside", other)):
            a.rename(b)
    return f"{kind} {one.relative_to(store)} {other.relative_to(store)}", {path.relative_to(store).parts[0] for path in struck}


def chunks(run: Run) -> dict[Chunk, np.ndarray | None]:
    """All that a recording holds, by array and chunk; None where it is told to be damaged."""
    out: dict[Chunk, np.ndarray | None] = {}
    for name in run._arrays:
        if not name.startswith(CHECKSUM_TABLE):
            array = run._arrays[name]
            for start in range(0, max(array.shape[0], 1), array.chunks[0]):
                try:
                    out[name, start] = run.part(name, slice(start, start + array.chunks[0]))
                except RecordingError:
                    out[name, start] = None
    return out


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def verb(*words: str) -> tuple[int, str]:
    """The exit code of a verb, and what it says."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = cli.main(words)
        except SystemExit as stop:
            code = stop.code
    return code, said.getvalue()


def looked_at(store: Path, expected: dict[Chunk, np.ndarray], struck: set[str]) -> tuple[str, list[str]]:
    """("root", "chunks", or "harmless", what is wrong with what is read): whether nothing opens, or how much does."""
    try:
        found = chunks(Run.open(store))
    except RecordingError as error:
        named = "is damaged" in str(error) or "is not a recording" in str(error)
        return "root", [] if named and ROOT in struck | {str(error)} else [f"it does not open: {error}"]
    wrong = [f"{key}: other numbers" for key, values in found.items() if values is not None and not same(values, expected[key])]
    wrong += [f"{key}: is missed" for key in expected.keys() - found.keys()]
    lost = {name for (name, _), values in found.items() if values is None}
    tables = any(
        name.startswith(CHECKSUM_TABLE) for name in struck
    )  # without sums, what has none cannot be told from what is damaged
    wrong += [f"{name} can not be read, and was not struck" for name in lost - struck if not tables]
    return "chunks" if lost else "harmless", wrong


def harmed(count: int, seed: int, folder: Path, show: Callable[..., None] = print) -> list[str]:
    """So many harms, and what came of them; what was wrong, a sentence each."""
    whole, place, told, found = folder / "whole", folder / "harmed", Counter(), []
    code, said = verb(*WORDS, str(whole))
    if code:
        raise RuntimeError(said)
    expected = chunks(Run.open(whole))
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        shutil.copytree(whole, place)
        try:
            done, struck = harm(place / STORE, KINDS[number % len(KINDS)], rng)
            level, wrong = looked_at(place / STORE, expected, struck)
            for mended, words in (
                ("by check --repair", ("check", str(place), "--repair")),
                ("by run --resume", (*WORDS, str(place), "--resume")),
                ("by run", (*WORDS, str(place))),
            ):
                code, said = verb(*words)
                if not code:
                    break
                wrong += [] if said.count("tumble:") == 1 else [f"{mended}: exit code {code}: {said[-300:]}"]
            wrong += [f"{mended}: exit code {code}: {said[-300:]}"] if code else []
            again = {} if code else chunks(Run.open(place))
            if again.keys() != expected.keys() or not all(v is not None and same(v, expected[key]) for key, v in again.items()):
                wrong.append(f"{mended}: not what it was")
        except Exception as error:  # a traceback, were it not caught here
            level, mended, wrong = "crash", "not", [f"{type(error).__name__}: {error}"]
        told[level] += 1
        told[mended] += 1
        if wrong:
            found.append(f"harm {number} of seed {seed}, {done}: {'; '.join(wrong)}")
            show(found[-1])
        shutil.rmtree(place)
    show(f"{count} harms by seed {seed}: {dict(told)}, {len(found)} wrong")
    return found
