"""Speed of distance queries beside other libraries, in one run on one core: ``make bench-collision``.

Needs the extra ``peers``; what can not be imported is left out. Time is processor time of the thread, the best of many rounds
in which all take turns. Of the peers it includes one Python call a pair, as their users pay it; so the time of a trivial
call, the library's own query of two spheres, is given too. --write puts the tables into docs/collision-speed.md.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import time
from pathlib import Path

import numpy as np

from benchmarks.peers.families import FAMILIES, GAPS, moving, random_pairs
from benchmarks.peers.ours import OneCall, Ours
from benchmarks.peers.page import processor, write_measured

PAGE = Path(__file__).resolve().parents[2] / "docs" / "collision-speed.md"
PEERS = {
    "with_coal": "Coal",
    "with_mujoco": "MuJoCo",
    "with_fcl": "Fcl",
    "with_distance3d": "Distance3d",
    "with_pybullet": "PyBullet",
}
PAIRS, FRAMES = 1000, 8
SLOW = {"distance3d": 10}  # pairs, where a call takes milliseconds
ROUND = "cylinder", "cone", "ellipsoid"
OURS = Ours.name, OneCall.name
OFF = 1e-5  # m: a difference that is more than a tolerance


def peers() -> list:
    """The classes of the libraries that are there."""
    found = []
    for module, name in PEERS.items():
        try:
            found.append(getattr(importlib.import_module(f"benchmarks.peers.{module}"), name))
        except ImportError as error:
            print(f"without {name}: {error}")
    return found


def best_times(questions: dict, seconds: float) -> dict:
    """Least processor time of each question [s]; they take turns."""
    best = dict.fromkeys(questions, np.inf)
    end = time.monotonic() + seconds
    while True:
        for name, ask in questions.items():
            for _ in range(5):
                begun = time.thread_time()
                ask()
                spent = time.thread_time() - begun
                best[name] = min(best[name], spent)
                if spent > 0.02:
                    break
        if time.monotonic() > end:
            return best


def few(pairs, count: int):
    """The first ``count`` pairs."""
    cut = {name: getattr(pairs, name)[:count] for name in ("a", "b", "x", "q", "y", "p")}
    return type(pairs)(pairs.shapes, **cut)


def measure(family: str, regime: str, gap: float, libraries: list, seconds: float) -> dict:
    """One row: times [ns a query] and worst differences [m] of all libraries."""
    pairs = random_pairs(family, gap, PAIRS)
    frames = moving(pairs, FRAMES)
    questions, count, row = {}, {}, {"family": family, "regime": regime, "off": {}, "worst": {}}
    truth = Ours(pairs.shapes.shapes).question(pairs)()
    for library in (Ours, OneCall, *libraries):
        name = library.name
        n = SLOW.get(name, PAIRS)
        try:
            peer = library(pairs.shapes.shapes)
            ask = peer.question(few(pairs, n))
            found = np.array(ask(), float)
        except Exception as error:  # some fail on overlapping bodies
            print(f"{family} {regime}: {name} fails ({error!r})")
            continue
        questions[name], count[name] = ask, n
        off = np.abs(found - truth[:n])
        row["off"][name] = float(np.mean(~(off <= OFF)))
        row["worst"][name] = float(np.nanmax(off))
        if peer.coherent is not None:
            key = f"{name}, coherent"
            questions[key], count[key] = peer.coherent(frames), 2 * FRAMES * PAIRS
            questions[key]()
    row["ns"] = {name: 1e9 * t / count[name] for name, t in best_times(questions, seconds).items()}
    return row


def trivial(libraries: list, seconds: float) -> dict:
    """ns of each library's own query of two spheres."""
    pairs = random_pairs("sphere", 0.5, 200)
    questions = {library.name: library(pairs.shapes.shapes).question(pairs) for library in libraries}
    return {name: 1e9 * t / 200 for name, t in best_times(questions, seconds).items()}


def without(row: dict) -> str:
    """What stands in a table where a library gave no answer; of round shapes coal alone is asked."""
    return "–" if row["family"] in ROUND else "fails"


def tables(rows: list[dict], calls: dict) -> str:
    """The measured figures as Markdown."""
    names = list(calls)
    lines = [f"Processor: {processor()}. Python {platform.python_version()}. One thread. ns a query; 1000 pairs a family.", ""]
    lines += ["| pairs | " + " | ".join([*OURS, *names]) + " |", "|---" * (len(names) + 3) + "|"]
    for row in rows:
        cells = [f"{row['ns'][name]:.0f}" if name in row["ns"] else without(row) for name in (*OURS, *names)]
        lines.append(f"| {row['family']}, {row['regime']} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "A call from Python alone, by the trivial query: " + ", ".join(f"{n} {t:.0f} ns" for n, t in calls.items()) + ".",
    ]
    if "coal" in calls:
        lines += ["", "Times as fast as coal, and with coal's trivial call taken off; coherent pairs cold and warm:", ""]
        lines += [
            "| pairs | batch | less the call | moving: tumble | moving: coal | times as fast |",
            "|---|---|---|---|---|---|",
        ]
        for row in rows:
            ns = row["ns"]
            ours, coal, warm, guess = (ns[k] for k in ("tumble", "coal", "tumble, coherent", "coal, coherent"))
            again = min(coal, guess)
            cells = (
                f"{coal / ours:.1f}",
                f"{(coal - calls['coal']) / ours:.1f}",
                f"{warm:.0f}",
                f"{again:.0f}",
                f"{again / warm:.1f}",
            )
            lines.append(f"| {row['family']}, {row['regime']} | " + " | ".join(cells) + " |")
    lines += ["", f"Worst difference from tumble [m], and share of pairs that differ by more than {OFF:g} m:", ""]
    lines += ["| pairs | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for row in rows:
        cells = [f"{row['worst'][n]:.0e}, {row['off'][n]:.1%}" if n in row["worst"] else without(row) for n in names]
        lines.append(f"| {row['family']}, {row['regime']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", help=f"of {', '.join(FAMILIES)}; all where none is named")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each row")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/collision-speed.md")
    options = parser.parse_args()
    libraries = peers()
    calls = trivial(libraries, 3.0)
    rows = []
    for family in options.families or FAMILIES:
        for regime, gap in GAPS.items():
            rows.append(measure(family, regime, gap, libraries, options.seconds))
            print(family, regime, {name: round(t) for name, t in rows[-1]["ns"].items()}, flush=True)
    text = tables(rows, calls)
    if "coal" in calls:
        text += "\n" + "\n".join(importlib.import_module("benchmarks.peers.built").table())
    print("\n" + text)
    if options.write:
        write_measured(PAGE, "measured", text)


if __name__ == "__main__":
    main()
