"""Hostile inputs by the hundred thousand: python -m benchmarks.inputs --count 200000 --jobs 16

Whatever is handed over: no traceback, at most 5 s of processor time and a gigabyte, nothing written elsewhere, nothing read
outside its folder, no program started, one line where it is refused. Blocks of inputs are drawn by seeds that are told, so each
finding comes again: --kind "scene files" --first BLOCK --count 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402

from benchmarks.inputs.grammars import GRAMMARS  # noqa: E402
from benchmarks.inputs.guard import limit_memory  # noqa: E402
from benchmarks.inputs.hands import Hands, hands  # noqa: E402

SHARES = {  # of the inputs, in thousandths
    "scene files": 464, "MJCF": 218, "URDF": 160, "recordings": 4, "saved worlds": 8, "sweeps": 70, "schema": 60,
    "command lines": 10,
}  # fmt: skip
BLOCKS = 10_000  # between the first blocks of programs that share the work
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
    parser.add_argument("--jobs", type=int, default=1, help="programs that share the work")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no block after so long")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--findings", type=Path, default=Path("inputs-findings.txt"), help="where findings are written")
    asked = parser.parse_args()
    if asked.findings.is_dir():
        parser.error(f"--findings {asked.findings}: is a folder; name a file")
    begun = time.perf_counter()
    kinds = asked.kind or list(GRAMMARS)
    if asked.jobs > 1:
        total, findings = shared(asked, kinds)
    else:
        total, findings = alone(asked, kinds, begun)
    print("| grammar | inputs | taken | refused in one line | tracebacks, hangs, escapes |\n|---|---|---|---|---|")
    for kind, told in total.items():
        print(f"| {kind} | {told['inputs']} | {told['taken']} | {told['refused']} | {told['faults']} |")
    print(f"{sum(told['inputs'] for told in total.values())} inputs in {time.perf_counter() - begun:.0f} s")
    return 1 if findings else 0


def shared(asked: argparse.Namespace, kinds: list[str]) -> tuple[dict[str, Counter], int]:
    """The same by several programs, each with blocks of its own; a file of findings each."""
    programs, total, findings = [], {kind: Counter() for kind in kinds}, 0
    for k in range(asked.jobs):
        count, first = -(-asked.count // asked.jobs), asked.first + k * BLOCKS
        file = asked.findings.with_stem(f"{asked.findings.stem}-{k}")
        words = ["--count", count, "--first", first, "--seconds", asked.seconds, "--findings", file, "--json"]
        words += [word for kind in kinds for word in ("--kind", kind)]
        command = [sys.executable, "-m", "benchmarks.inputs", *map(str, words)]
        programs.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    for k, program in enumerate(programs):
        lines = program.communicate()[0].splitlines()
        if program.returncode not in (0, 1):
            print(f"program {k} ended with {program.returncode}", flush=True)
            findings += 1
        for line in lines:
            if line.startswith("{"):
                rows = json.loads(line)
                findings += rows.pop("findings")
                for kind, told in rows.items():
                    total[kind] += Counter(told)
    return total, findings


def alone(asked: argparse.Namespace, kinds: list[str], begun: float) -> tuple[dict[str, Counter], int]:
    """By kind, what came of the inputs; and how many findings of different kinds there were."""
    hand = hands()
    limit_memory()
    total, found, seen = {kind: Counter() for kind in kinds}, [], set()
    goal = {kind: asked.count * SHARES[kind] / sum(SHARES[k] for k in kinds) for kind in kinds}
    number = asked.first
    late = lambda: time.perf_counter() - begun > asked.seconds  # noqa: E731
    while any(total[kind]["inputs"] < goal[kind] for kind in kinds) and not late():
        for kind in kinds:
            if total[kind]["inputs"] < goal[kind] and not late():
                total[kind] += block(hand, kind, number, DRAWS, found)
        number += 1
        for fault, what in found:
            key = fault.splitlines()[-1][:80] + fault.splitlines()[0][:60]
            if key not in seen:
                seen.add(key)
                with open(asked.findings, "a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(f"{fault}\n    {what[:4000]}\n\n")
        found.clear()
        if number % 20 == 0 and not asked.json:
            done = sum(told["inputs"] for told in total.values())
            print(f"{done} inputs, {len(seen)} findings, {time.perf_counter() - begun:.0f} s", flush=True)
    shutil.rmtree(hand.folder)
    if asked.json:
        print(json.dumps({**total, "findings": len(seen)}), flush=True)
    return total, len(seen)


if __name__ == "__main__":
    sys.exit(main())
