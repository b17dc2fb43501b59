"""The table over many worlds: what it holds, how it is printed and kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.worlds.families import EXTRAS
from benchmarks.worlds.measure import BARS, Found

KEPT = Path(__file__).parents[1] / "results" / "worlds.json"
WHAT = {name: what for name, (_, what) in BARS.items()} | EXTRAS


def summary(found: dict[int, Found], dt: float) -> dict[str, Any]:
    """Median, ninth decile, worst with its seed, and the seeds that miss, for each promise; sums of the counters."""
    some = list(found)
    any_of = next(iter(found.values()))
    promises = {}
    for name, bar in any_of.bars.items():
        values = np.array([found[s].values[name] for s in some])
        worst = int(np.argmax(values))
        promises[name] = {
            "bar": bar,
            "median": _short(np.quantile(values, 0.5, method="lower")),
            "ninth": _short(np.quantile(values, 0.9, method="lower")),
            "worst": _short(values[worst]),
            "seed": some[worst],
            "missed": [s for s in some if name in found[s].missed],
        }
    counts = {name: sum(f.counts[name] for f in found.values()) for name in any_of.counts}
    seconds = sum(f.seconds for f in found.values())
    return {"worlds": len(some), "first": some[0], "dt": dt, "seconds": round(seconds, 1), "counts": counts, "promises": promises}


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def show(family: str, table: dict[str, Any], earlier: dict[str, Any] | None = None) -> None:
    """Print a table; ``earlier``, if it is of the same worlds, beside it."""
    if earlier and any(earlier[key] != table[key] for key in ("worlds", "first", "dt")):
        earlier = None
    print(f"\n{family}: {table['worlds']} worlds from seed {table['first']}, dt {table['dt']:.6g} s, {table['seconds']} s")
    print(", ".join(f"{n} {name}" for name, n in table["counts"].items()))
    print(f"{'':10} {'bar':>8} {'median':>9} {'ninth':>9} {'worst':>9} {'seed':>5} {'missed':>7}   ", end="")
    print(f"{'earlier: median, ninth, worst, missed':45}" if earlier else "")
    for name, row in table["promises"].items():
        line = f"{name:10} {row['bar']:8.0e} {row['median']:9.2e} {row['ninth']:9.2e} {row['worst']:9.2e} "
        line += f"{row['seed']:5} {len(row['missed']):7}   "
        old = (earlier or {}).get("promises", {}).get(name)
        if old:
            line += f"{old['median']:9.2e} {old['ninth']:9.2e} {old['worst']:9.2e} {len(old['missed']):5}      "
        print(line + WHAT[name])
    for name, row in table["promises"].items():
        if row["missed"]:
            print(f"  {name} is missed by {' '.join(map(str, row['missed'][:60]))}{' ...' if len(row['missed']) > 60 else ''}")


def page(kept: dict[str, Any]) -> str:
    """Kept tables for a page of the docs: of each family the promises that are missed, of the random worlds all."""
    lines = []
    for family in sorted(kept, key=lambda name: name != "random"):
        table = kept[family]
        rows = {name: row for name, row in table["promises"].items() if family == "random" or row["missed"]}
        lines += [f"### {family.replace('_', ' ')}: {table['worlds']} worlds", ""]
        lines += ["| promise | bar | median | ninth decile | worst | missed by |", "|---|---|---|---|---|---|"]
        for name, row in rows.items():
            cells = [WHAT[name], *(f"{row[key]:.1e}" for key in ("bar", "median", "ninth", "worst")), str(len(row["missed"]))]
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines[:-1])


def write(path: Path, family: str, table: dict[str, Any]) -> None:
    """Put the table of a family into a file, which keeps those of the others."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    kept[family] = table
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_json(kept))


def _json(kept: dict[str, Any]) -> str:
    """One line a promise."""
    out = []
    for family, table in sorted(kept.items()):
        head = ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in table.items() if k != "promises")
        rows = ",\n".join(f"      {json.dumps(k)}: {json.dumps(v)}" for k, v in table["promises"].items())
        out.append(f'  {json.dumps(family)}: {{\n    {head},\n    "promises": {{\n{rows}\n    }}\n  }}')
    return "{\n" + ",\n".join(out) + "\n}\n"
