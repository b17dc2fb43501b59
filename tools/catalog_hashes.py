"""State hashes of all scenes of the catalog after some steps: what a change of method changed, and what it left alone.

python tools/catalog_hashes.py --out before.json
python tools/catalog_hashes.py --against before.json    # exit 1 where any differs
python tools/catalog_hashes.py --keep                   # where that is meant: those that the tests compare with

Who keeps others says in the change log why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tumble.scenarios.registry import load, names
from tumble.sim import Scene, World
from tumble.sim.recording.provenance import versions

KEPT = Path(__file__).resolve().parents[1] / "tests" / "data" / "hashes.json"
LARGE, FEW, MANY = 60, 60, 480  # bodies of a large scene; steps of large ones, and of all others
EARLY = 30  # steps after which poses are kept too, for machines whose maths library rounds in other ways
SOME = 4  # bodies of each scene whose poses are kept: the last ones


def steps_of(scene: Scene) -> int:
    return FEW if len(scene) > LARGE else MANY


def maths() -> str:
    """A digest of what this machine's maths and linear algebra give: with another, hashes may be others."""
    rng = np.random.default_rng(1)
    values = rng.uniform(-1.0, 1.0, 2000).tolist()
    functions = (math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.exp, math.cbrt, math.cosh, math.tanh)
    told = [function(x) for function in functions for x in values]
    told += [f(a, b) for f in (math.atan2, math.hypot) for a, b in zip(values, values[1:], strict=False)]
    told += [f(abs(x) + 1e-3) for f in (math.log, math.sqrt) for x in values] + [(abs(x) + 0.1) ** 1.7 for x in values]
    digest = hashlib.sha256(np.array(told).tobytes())
    for matrix in rng.normal(size=(50, 3, 3)):
        whole = matrix @ matrix.T + np.eye(3)
        for part in (*np.linalg.eigh(whole), np.linalg.inv(whole), np.linalg.cholesky(whole), *np.linalg.svd(matrix)):
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]


def poses(world: World) -> list[list[float]]:
    """Positions and orientations of the last bodies."""
    return np.hstack([world.positions, world.orientations])[-SOME:].tolist()


def outcome(name: str, steps: int | None = None) -> dict[str, Any]:
    """Of a scene: poses of some bodies early on, the hash after ``steps``, and how many bodies were part of a crowd then."""
    scene = load(name)()
    steps = steps or steps_of(scene)
    world = scene.build()
    world.step(min(EARLY, steps))
    early = poses(world)
    world.step(steps - world.step_count) if steps > EARLY else None
    crowd = int((world.model.bodies.crowd > 0).sum())
    return {"steps": steps, "hash": world.state_hash(), "crowd": crowd, "poses": early}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="scenes; all of the catalog where none is given")
    parser.add_argument("--steps", type=int, help="60 for large scenes, 480 for others")
    parser.add_argument("--out", type=Path, help="file to write to")
    parser.add_argument("--against", type=Path, help="file of an earlier run to compare with")
    parser.add_argument("--keep", action="store_true", help=f"compare with {KEPT.name} of the tests, and write it anew")
    asked = parser.parse_args()
    found = {}
    for name in asked.names or names():
        found[name] = outcome(name, asked.steps)
        print(f"{name:24} {found[name]['hash'][:16]}  {found[name]['crowd'] or ''}", flush=True)
    against, out = (KEPT, KEPT) if asked.keep else (asked.against, asked.out)
    before = json.loads(against.read_text(encoding="utf-8"))["scenes"] if against and against.exists() else {}
    if out:
        whole = {**before, **found} if asked.keep and asked.names else found
        made = {"maths": maths(), "machine": f"{platform.system()} {platform.machine()}", "versions": versions(), "scenes": whole}
        out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    if not against:
        return 0
    other = [name for name in found if name in before and before[name]["hash"] != found[name]["hash"]]
    print(f"{len(found) - len(other)} of {len(found)} are the same" + (f"; not {', '.join(other)}" if other else ""))
    return 1 if other and not asked.keep else 0


if __name__ == "__main__":
    sys.exit(main())
