"""Kill runs, films, sweeps and what fills caches at random instants; fill disks; delete folders: python -m benchmarks.faults

python -m benchmarks.faults --instants 500     # signals at random instants
python -m benchmarks.faults --disk 100         # a disk that is full at each hundredth of a run with film (needs mounts: root)
python -m benchmarks.faults --states           # a home that can not be written, files of the future, folders that go
python -m benchmarks.faults --harms 122        # files of a recording cut, flipped, deleted, exchanged, doubled; and mended
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

SHARES = {  # of the instants
    "run": 20, "run again over a run": 14, "run --video": 12, "resume": 14, "film": 10, "report": 8, "check --repair": 6,
    "sweep": 6, "two runs to one folder": 6, "a cache that is filled": 2, "a cache that two fill": 2,
}  # fmt: skip


def load() -> None:
    """What children need, once."""
    with contextlib.suppress(ImportError):  # films alone need it
        import av  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import xarray  # noqa: F401
    import zarr  # noqa: F401

    import tumble.scenarios.sweeps.sweep  # noqa: F401
    from tumble import render  # noqa: F401
    from tumble.scenarios.runs.scene_run import run_scene, scene_of
    from tumble.scenarios.showing.report import plot_run

    with tempfile.TemporaryDirectory() as folder:
        done = run_scene(scene_of("bouncing_ball"), Path(folder) / "r", seconds=0.1, quiet=True, contacts=True)
        plot_run(done.run, Path(folder) / "energy.png")


def instants(
    count: int, seed: int, folder: Path, show=print, chosen: Sequence[str] = tuple(SHARES), jobs: int = 1, by: str = ""
) -> tuple[dict[str, Counter], list[str]]:
    """Strike ``count`` times, so many at once, by one signal or all; by what was struck, the counts, and what was wrong."""
    from benchmarks.faults.trials import answers, prepared

    load()
    base = folder / "base"
    prepared(base)
    goals = {what: max(1, round(count * SHARES[what] / sum(SHARES[each] for each in chosen))) for what in chosen}

    def part(what: str) -> tuple[Counter, list[str]]:
        return strikes(what, goals[what], by, random.Random(f"{seed} {what}"), base, folder / "-".join(what.split()), show)

    results = answers(part, list(chosen), jobs)
    told = {what: Counter(row) for what, (row, _) in zip(chosen, results, strict=True)}
    return told, [text for _, texts in results for text in texts]


def strikes(
    what: str, goal: int, by: str, rng: random.Random, base: Path, folder: Path, show: Callable[..., None]
) -> tuple[Counter, list[str]]:
    """Strike one of them so many times."""
    from benchmarks.faults.trials import SIGNALS, cache_filled, child, ended, struck, trials, two_at_once

    all_trials, row, found, length = trials(base), Counter(), [], 3.0
    folder.mkdir()
    timed = all_trials.get("run" if what.startswith("two runs") else what)
    if timed is not None:
        place = folder / "measured"
        place.mkdir()
        timed.prepare(place)
        begun = time.perf_counter()
        ended(child(place, timed.words))
        length = time.perf_counter() - begun
        shutil.rmtree(place)
    elif "cache" in what:
        begun = time.perf_counter()
        cache_filled(folder / "measured", None, "two" in what)
        length = (time.perf_counter() - begun) / 2  # it, and twice with a cache
    struck_by = [sign for sign in SIGNALS if by in ("", sign.name)]
    first = rng.randrange(len(struck_by))
    for number in range(10 * goal):
        if row["instants"] >= goal:
            break
        place, sign = folder / str(number), struck_by[(first + row["instants"]) % len(struck_by)]
        if what in all_trials:
            outcome = struck(all_trials[what], place, rng.uniform(0.0, length), sign)
        elif what == "two runs to one folder":
            outcome = two_at_once(base, place, rng, length)
        else:
            outcome = cache_filled(place, rng.uniform(0.3, 1.0) * length, "two" in what)
        if not outcome.struck and not outcome.wrong:
            row["too late"] += 1
            length *= 0.9  # the first takes longest: it loads what the others find loaded
            continue
        row["instants"] += 1
        row[f"exit {outcome.code}"] += 1
        row["wrong"] += bool(outcome.wrong)
        for word, key in ((" lost", "lost"), ("is damaged", "unopenable"), ("left behind", "litter")):
            row[key] += any(text.endswith(word) or (key != "lost" and word in text) for text in outcome.wrong)
        if outcome.wrong:
            found.append(f"{what}, number {number}, signal {int(sign)}: {outcome.wrong}")
            show(found[-1])
    show(f"{what}: {dict(row)}")
    return row, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instants", type=int, default=0)
    parser.add_argument("--of", nargs="+", choices=SHARES, default=list(SHARES), metavar="WHAT", help="strike these alone")
    parser.add_argument("--disk", type=int, default=0, metavar="N", help="sizes of the disk, from none to what the run needs")
    parser.add_argument("--states", action="store_true")
    parser.add_argument("--harms", type=int, default=0, metavar="N", help="to the files of a recording")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--signal", choices=("SIGKILL", "SIGTERM", "SIGINT"), default="", help="by this alone")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4), help="what is struck at once (one a processor)")
    asked = parser.parse_args()
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="tumble-faults-", dir=memory if memory.is_dir() else None))
    found: list[str] = []
    show = lambda *words: print(*words, flush=True)  # noqa: E731
    if asked.instants:
        told, wrong = instants(asked.instants, asked.seed, folder, show, asked.of, asked.jobs, asked.signal)
        found += wrong
        show("| killed at | instants | lost samples | unopenable | litter | exit codes |\n|---|---|---|---|---|---|")
        for what, row in told.items():
            codes = ", ".join(f"{key[5:]}: {n}" for key, n in sorted(row.items()) if key.startswith("exit"))
            show(f"| {what} | {row['instants']} | {row['lost']} | {row['unopenable']} | {row['litter']} | {codes} |")
    if asked.disk:
        from benchmarks.faults.places import full_disks

        found += full_disks(asked.disk, folder, show)
    if asked.states:
        from benchmarks.faults.places import states

        found += states(folder, show)
    if asked.harms:
        from benchmarks.faults.harms import harmed

        place = folder / "harms"
        place.mkdir()
        found += harmed(asked.harms, asked.seed, place, show)
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
