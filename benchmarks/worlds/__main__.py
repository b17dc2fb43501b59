"""What random worlds keep of the promises: python -m benchmarks.worlds --seeds 0:200

    --family NAME        random (default), or worlds that are hard in one way: coins, cones, ellipsoids, gas_boxes,
                         gas_tetrahedra, plates, rolling, dominoes; "all"
    --dt 1/240           the step; a scene is the same at each
    --out FILE           keep the table, beside those of other families in it
    --beside FILE        print the table kept there next to this one; by default that of the repository
    --page F.md          write the tables kept in the repository on a page of the docs, and do nothing else
    --shrink SEED NAME   the smallest scene found that still misses the promise NAME, as Python

A world is a function of its seed and of the step alone. For each promise of benchmarks/worlds/measure.py the median, the
ninth decile and the worst over the worlds are printed, with the seed of the worst, and which worlds miss it.
"""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from pathlib import Path

from benchmarks.peers.page import write_measured
from benchmarks.worlds.families import FAMILIES
from benchmarks.worlds.measure import Found, measure
from benchmarks.worlds.shrink import as_python, shrink
from benchmarks.worlds.table import KEPT, page, show, summary, write


def seeds(text: str) -> range:
    """ "0:200", or "7" alone."""
    first, _, last = text.partition(":")
    return range(int(first), int(last)) if last else range(int(first), int(first) + 1)


def run(family: str, some: range, dt: float, say=print) -> dict[int, Found]:
    """Measure these worlds, saying each as it is done."""
    found = {}
    for seed in some:
        one = found[seed] = measure(FAMILIES[family](seed, dt))
        misses = "  ".join(f"{name} {one.values[name]:.2g} at {one.when[name]:.3f} s" for name in one.missed)
        say(f"{family} {seed:4}  {one.seconds:6.2f} s  {one.counts['solves']:7} solves  {misses or 'keeps all'}")
        if one.message:
            say(f"              {one.message}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds, default=range(20))
    parser.add_argument("--family", choices=[*FAMILIES, "all"], default="random")
    parser.add_argument("--dt", type=lambda text: float(Fraction(text)), default=1 / 240)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--beside", type=Path, default=KEPT)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--shrink", nargs=2, metavar=("SEED", "NAME"))
    parser.add_argument("--quiet", action="store_true", help="the table alone")
    options = parser.parse_args()
    if options.page:
        write_measured(options.page, "worlds", page(json.loads(KEPT.read_text())))
        return
    say = (lambda *a: None) if options.quiet else lambda *a: print(*a, flush=True)
    if options.shrink:
        seed, name = int(options.shrink[0]), options.shrink[1]
        print(as_python(shrink(FAMILIES[options.family](seed, options.dt), name, say)))
        return
    earlier = json.loads(options.beside.read_text()) if options.beside.exists() else {}
    for family in FAMILIES if options.family == "all" else [options.family]:
        found = run(family, options.seeds, options.dt, say)
        table = summary(found, options.dt)
        show(family, table, earlier.get(family))
        if options.out:
            write(options.out, family, table)


if __name__ == "__main__":
    main()
