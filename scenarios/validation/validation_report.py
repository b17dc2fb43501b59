"""Results of validation cases as a table, as JSON and as a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tumble.scenarios.progress import Bar
from tumble.scenarios.validation.case import Case, Measure, Result
from tumble.sim.words import aligned

HEAD = ("case", "measured", "value", "limit", "")


def run_cases(cases: Sequence[Case], quiet: bool = False) -> list[Result]:
    """Run the cases in turn under a progress bar."""
    results = []
    with Bar("Validating", total=len(cases), counted=True, quiet=quiet) as bar:
        for k, case in enumerate(cases):
            bar.update(k, note=f"{case.name} {case.title}")
            results.append(case.run())
    return results


def table(results: Iterable[Result]) -> str:
    """One line for each measure."""
    rows = [HEAD]
    for result in results:
        for k, m in enumerate(result.measures):
            verdict = "ok" if m.holds else "FAILED"
            rows.append((result.case.name if k == 0 else "", m.what, _value(m), _limit(m), verdict))
    return aligned(rows, "<<>><")


def verdict(results: Sequence[Result]) -> str:
    """One line: how many cases hold, and which do not."""
    failed = [result.case.name for result in results if not result.holds]
    seconds = sum(result.seconds for result in results)
    what = f"all {len(results)} cases hold" if not failed else f"{len(failed)} of {len(results)} cases fail: {', '.join(failed)}"
    return f"{what} ({seconds:.0f} s)"


def _value(m: Measure) -> str:
    return f"{m.value:.2f}" if m.least else _number(m.value)


def _limit(m: Measure) -> str:
    unit = f" {m.unit}" if m.unit else ""
    return f">= {m.limit:g}" if m.least else f"{_number(m.limit)}{unit}"


def _number(x: float) -> str:
    return "0" if x == 0 else f"{x:.1e}" if abs(x) < 1e-2 or abs(x) >= 1e4 else f"{x:.3g}"


def write_json(results: Iterable[Result], path: str | Path) -> Path:
    path = Path(path)
    path.write_text(json.dumps([result.to_dict() for result in results], indent=1) + "\n", encoding="utf-8")
    return path


PAGE = """# Validation

How accurate is tumble? This page lists cases whose answer is known. Each table gives what was measured, and the limit that the
tests hold it to. Values are errors: how far the named quantity is from its known answer at most; *relative* ones are divided by
the answer. The step is 1/240 s unless a case says otherwise. The answers are formulas, or computed by other methods than those of
the simulator (`scenarios/validation/answers/`). The *order* of a quantity tells how fast its error shrinks with the
step: at order 4, half the step makes the error 16 times smaller.

`tumble validate` runs the cases, and `tumble validate --all --page docs/validation.md` writes this page. The tests run them
too. They also make the method worse on purpose and check that the cases then fail. Cases marked as failed are known faults;
`tests/physics/test_validation.py` says why they fail.

Some tables have columns for other engines. These were measured in one run of `make bench-engines`, with the default settings of
each engine, but without damping and sleep: MuJoCo with elliptic friction cones and two integrators, Bullet by pybullet, PhysX
by SAPIEN, and builds of Rapier and Jolt for the web (WebAssembly in Node, one thread). "f32" means single precision. With
smaller steps or stricter settings these engines are more accurate.
"""


WORLDS = re.compile(r"## Random worlds\n.*", re.S)  # the last section, which ``python -m benchmarks.worlds --page`` writes


def write_page(results: Iterable[Result], path: str | Path, peers: str | Path | None = None) -> Path:
    """The page of the docs, a section for each case. ``peers``: JSON of other engines, {engine: {case: {what: value}}}.

    What stands on the page of random worlds stays.
    """
    others = json.loads(Path(peers).read_text(encoding="utf-8")) if peers else {}
    lines = [PAGE]
    for result in results:
        beside = {name: found[result.case.name] for name, found in others.items() if result.case.name in found}
        lines += [f"## {result.case.name} {result.case.title}", "", result.case.doc, ""]
        lines += ["| " + " | ".join(("measured", "value", "limit", *beside)) + " |", "|---" * (3 + len(beside)) + "|"]
        for m in result.measures:
            mark = "" if m.holds else " **failed**"
            cells = [_number(found[m.what]) if m.what in found else "" for found in beside.values()]
            lines.append("| " + " | ".join((m.what, _value(m) + mark, _limit(m), *cells)) + " |")
        lines.append("")
    path = Path(path)
    kept = WORLDS.search(path.read_text(encoding="utf-8")) if path.exists() else None
    path.write_text("\n".join([*lines, *([kept[0].rstrip(), ""] if kept else [])]), encoding="utf-8")
    return path
