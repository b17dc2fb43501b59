"""Cost of the broad phase from 100 to 100,000 boxes: ``python -m benchmarks.broadphase [PICTURE.png]``

Four crowds, each as dense at every size: boxes floating in a cube; boxes that lie in one layer on a floor, one large box;
boxes whose sizes differ up to a thousandfold; and boxes of which nine in ten are static. Beside them the comparison of all
with all, in compiled code too. Processor time of the quickest of several calls, one thread, bounding boxes given.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from tumble.collision.broadphase.candidate_pairs import find_box_pairs
from tumble.collision.kernels.jit import kernel

COUNTS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def crowds(n: int, rng) -> dict[str, tuple]:
    """(lo, hi, mobile) by name."""
    edge = 1.3 * n ** (1 / 3)
    cube = rng.uniform(0, edge, (n, 3))
    layer = np.column_stack([rng.uniform(0, 1.5 * n**0.5, (n, 2)), rng.uniform(0, 0.3, n)])
    floor = np.array([[-10, -10, -1.0]]), np.array([[2 * n**0.5 + 10, 2 * n**0.5 + 10, 0.1]])
    size = 10 ** rng.uniform(-3, 0, (n, 1)) * rng.uniform(0.5, 1.5, (n, 3))
    every = np.ones(n, bool)
    return {
        "in a cube": (cube, cube + 1, every),
        "on a floor": (np.concatenate([floor[0], layer[1:]]), np.concatenate([floor[1], layer[1:] + 1]), np.arange(n) > 0),
        "sizes 1 to 1000": (cube, cube + size, every),
        "nine in ten static": (cube, cube + 1, rng.random(n) < 0.1),
    }


@kernel
def all_with_all(lo, hi):
    """The number of overlapping pairs, by looking at each pair."""
    count = 0
    for i in range(len(lo)):
        for j in range(i + 1, len(lo)):
            apart = False
            for k in range(3):
                apart = apart or lo[i, k] > hi[j, k] or lo[j, k] > hi[i, k]
            if not apart:
                count += 1
    return count


def best(calls) -> float:
    """Seconds of processor time of the quickest of several calls, each with numbers of its own: a loop over the same few
    boxes would be learnt by heart by the branch predictor."""
    least = np.inf
    for call in calls:
        start = time.thread_time()
        call()
        least = min(least, time.thread_time() - start)
    return least


def measure(n: int) -> dict[str, tuple[float, int]]:
    """Seconds and pairs for each crowd."""
    pairs, bodies = np.empty((20 * n, 2), np.int64), np.arange(n)
    several = [crowds(n, np.random.default_rng(seed)) for seed in range(5 if n > 10_000 else 30)]
    found = {}
    for name in several[0]:
        calls = [lambda crowd=crowd[name]: find_box_pairs(crowd[0], crowd[1], bodies, crowd[2], pairs) for crowd in several]
        found[name] = best(calls), calls[0]()
        assert found[name][1] <= len(pairs)
    if n <= 10_000:
        few = several[:3]
        calls = [lambda crowd=crowd["in a cube"]: all_with_all(crowd[0], crowd[1]) for crowd in few]
        found["all with all"] = best(calls), calls[0]()
        assert found["all with all"][1] == found["in a cube"][1]
    return found


def draw(table: dict[int, dict[str, tuple[float, int]]], path: str) -> None:
    """Time over number, both logarithmic, beside a straight line."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), dpi=150, layout="constrained")
    for name in table[COUNTS[0]]:
        points = [(n, row[name][0] * 1e3) for n, row in table.items() if name in row]
        axes.loglog(*zip(*points, strict=True), "o-", ms=4, label=name, color="0.6" if name == "all with all" else None)
    first = table[1000]["in a cube"][0] * 1e3
    axes.loglog(COUNTS, [first * n / 1000 for n in COUNTS], "k:", lw=1, label="linear")
    axes.set(xlabel="boxes", ylabel="candidate pairs [ms]")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path)


def main() -> None:
    table = {}
    measure(30)  # compiles
    for n in COUNTS:
        table[n] = measure(n)
        cells = "  ".join(f"{name} {t * 1e3:.3f} ms, {m} pairs" for name, (t, m) in table[n].items())
        print(f"{n:>7d}: {cells}", flush=True)
    for name in table[COUNTS[0]]:
        if name in table[COUNTS[-1]]:
            slope = np.log(table[100_000][name][0] / table[1000][name][0]) / np.log(100)
            print(f"{name}: {table[100_000][name][0] / 100_000 * 1e9:.0f} ns a box at 100,000; cost ~ n^{slope:.2f} from 1000")
    if len(sys.argv) > 1:
        draw(table, sys.argv[1])


if __name__ == "__main__":
    main()
