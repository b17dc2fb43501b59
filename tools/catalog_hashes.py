"""State hashes of all scenes of the catalog after some steps: what a change of method changed, and what it left alone.

python tools/catalog_hashes.py --steps 240 --out before.json
python tools/catalog_hashes.py --steps 240 --against before.json    # exit 1 where any differs
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from scenarios.registry import load, names


def hashes(steps: int, chosen: list[str]) -> dict[str, dict[str, str | int]]:
    """By name: the hash, and how many bodies were part of a crowd at the end."""
    out = {}
    for name in chosen or names():
        world = load(name)().build()
        world.step(steps)
        out[name] = {"hash": world.state_hash(), "crowd": int((world.model.bodies.crowd > 0).sum())}
        print(f"{name:24} {out[name]['hash'][:16]}  {out[name]['crowd'] or ''}", flush=True)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="scenes; all of the catalog where none is given")
    parser.add_argument("--steps", type=int, default=240)
    parser.add_argument("--out", type=Path, help="file to write to")
    parser.add_argument("--against", type=Path, help="file of an earlier run to compare with")
    asked = parser.parse_args()
    found = hashes(asked.steps, asked.names)
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if not asked.against:
        return 0
    before = json.loads(asked.against.read_text(encoding="utf-8"))
    other = [name for name in found if name in before and before[name]["hash"] != found[name]["hash"]]
    print(f"{len(found) - len(other)} of {len(found)} are the same" + (f"; not {', '.join(other)}" if other else ""))
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
