"""Hostile inputs by the hundred thousand: python -m benchmarks.inputs --count 200000

Whatever is handed over: no traceback, at most 5 s of processor time and a gigabyte, nothing written elsewhere, nothing read
outside its folder, no program started, one line where it is refused. Blocks of inputs are drawn by seeds that are told, so each
finding comes again: --kind "scene files" --first BLOCK --count 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402

from benchmarks.inputs.grammars import GRAMMARS  # noqa: E402
from benchmarks.inputs.hands import Hands, hands  # noqa: E402

SHARES = {  # of the inputs, in thousandths
    "scene files": 470, "MJCF": 220, "URDF": 160, "recordings": 4, "saved worlds": 8, "sweeps": 70, "schema": 60,
    "command lines": 2,
}  # fmt: skip
DRAWS = 20  # of a block: files that are drawn, most with twenty variants


def block(hand: Hands, kind: str, number: int, draws: int, found: list[tuple[str, str]]) -> Counter:
    """Hand over the inputs of one block; how many there were, by what came of them. ``found``: what went wrong, and with what."""
    told: Counter = Counter()

    @seed(number)
    @settings(max_examples=draws, database=None, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(GRAMMARS[kind])
    def every(cases):
        for case in cases:
            faults = hand(case)
            told["inputs"] += 1
            told[{0: "taken", None: "no answer"}.get(hand.code, "refused")] += 1
            told["faults"] += bool(faults)
            found.extend((fault, f"{kind}, block {number}: {case}") for fault in faults)

    every()
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="of inputs, of all kinds together (10000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first block of each kind")
    parser.add_argument("--kind", choices=GRAMMARS, action="append", help="these alone")
    parser.add_argument("--findings", type=Path, default=Path("inputs-findings.txt"), help="where findings are written")
    asked = parser.parse_args()
    hand, begun = hands(), time.perf_counter()
    kinds = asked.kind or list(GRAMMARS)
    total, found, seen = {kind: Counter() for kind in kinds}, [], set()
    goal = {kind: asked.count * SHARES[kind] / sum(SHARES[k] for k in kinds) for kind in kinds}
    number = asked.first
    while any(total[kind]["inputs"] < goal[kind] for kind in kinds):
        for kind in kinds:
            if total[kind]["inputs"] < goal[kind]:
                total[kind] += block(hand, kind, number, DRAWS, found)
        number += 1
        for fault, what in found:
            key = fault.splitlines()[-1][:80] + fault.splitlines()[0][:60]
            if key not in seen:
                seen.add(key)
                with open(asked.findings, "a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(f"{fault}\n    {what[:4000]}\n\n")
        found.clear()
        if number % 20 == 0:
            done = sum(told["inputs"] for told in total.values())
            print(f"{done} inputs, {len(seen)} findings, {time.perf_counter() - begun:.0f} s", flush=True)
    shutil.rmtree(hand.folder)
    print("| grammar | inputs | taken | refused in one line | tracebacks, hangs, escapes |\n|---|---|---|---|---|")
    for kind, told in total.items():
        print(f"| {kind} | {told['inputs']} | {told['taken']} | {told['refused']} | {told['faults']} |")
    print(f"{sum(told['inputs'] for told in total.values())} inputs in {time.perf_counter() - begun:.0f} s")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
