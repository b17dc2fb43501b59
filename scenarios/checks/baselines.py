"""Baselines: the numbers of a run in a small JSON file, each with the tolerance that another machine deserves.

Other processors and libraries round elsewhere, and a run amplifies what they round: hardly where bodies slide, beyond all
bounds where they tumble over each other. How much it amplifies is measured when the baseline is made. The scene runs again with
its bodies moved by some 1e-13 m and m/s, and a hundred times what then differs is added to the tolerance of each number.
"""

from __future__ import annotations

import copy
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np

from tumble.scenarios.checks.assertions import Mismatch, rounding, scale
from tumble.scenarios.runs.scene_run import nudge
from tumble.sim.recording.provenance import versions
from tumble.sim.recording.recorder import Recorder
from tumble.sim.recording.run import Run

NUDGE = 1e-13  # m and m/s
AMPLIFIED = 100.0
RTOL = 1e-9
NUDGED_RUNS = 2


class Baselines:
    """Compares runs with the files that begin with ``stem``; with ``update`` it writes them.

    ``baselines(run)``, or ``baselines(run, "name")`` for more than one in a test. ``rtol`` is relative to the scale of each
    quantity. Raises Mismatch, an AssertionError, that names each number that is off.
    """

    def __init__(self, stem: Path, update: bool = False):
        self.stem, self.update = stem, update

    def __call__(self, run: Run, name: str = "", rtol: float = RTOL) -> None:
        __tracebackhide__ = True
        path = self.stem.with_name(f"{self.stem.name}{'.' if name else ''}{name}.json")
        if self.update:
            write(path, run, rtol)
            return
        if not path.is_file():
            raise Mismatch(f"there is no baseline {path}: make it with pytest --tumble-update, look at it, and commit it", None)
        wrong = differences(json.loads(path.read_text(encoding="utf-8")), run)
        if wrong:
            raise Mismatch(f"not as in {path} (pytest --tumble-update writes it anew):\n  " + "\n  ".join(wrong), wrong)


def write(path: Path, run: Run, rtol: float = RTOL) -> None:
    """Write the baseline of a run. The scene runs again, to learn how much it amplifies."""
    values, sizes = numbers(run), scales(run)
    spread = dict.fromkeys(values, 0.0)
    for seed in range(NUDGED_RUNS):
        for key, value in numbers(nudged(run, seed)).items():
            spread[key] = max(spread[key], abs(value - values[key]))
    quantities = {
        key: {"value": value, "tolerance": float(f"{rtol * sizes[key] + AMPLIFIED * spread[key] + rounded(run, key):.2g}")}
        for key, value in values.items()
    }
    out = {
        "scenario": run.attributes["scenario"],
        "what": identity(run),
        "quantities": quantities,
        "state_hash": run.attributes.get("state_hash"),
        "made": {"platform": platform.platform(), "machine": platform.machine(), **versions()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(out, indent=2) + "\n", encoding="utf-8")


def differences(baseline: dict[str, Any], run: Run) -> list[str]:
    """What is not as the baseline says, one line each."""
    then, now = baseline["what"], identity(run)
    if then != now:
        return [
            f"{key}: {now.get(key)}, not {then.get(key)}: another run" for key in {**then, **now} if then.get(key) != now.get(key)
        ]
    got = numbers(run)
    out = []
    for key, said in baseline["quantities"].items():
        off = abs(got[key] - said["value"])
        if not off <= said["tolerance"]:
            out.append(f"{key}: {got[key]:.12g}, not {said['value']:.12g}: off by {off:.3g}, tolerance {said['tolerance']:.3g}")
    return out


def identity(run: Run) -> dict[str, Any]:
    """What must be the same before numbers are compared."""
    parameters = json.loads(run.attributes["parameters"])
    return {"parameters": parameters, "dt": run.attributes["dt"], "steps": int(run.steps[-1]), "bodies": len(run.names)}


def numbers(run: Run) -> dict[str, float]:
    """The numbers of a run that a baseline keeps: energies at the quarters, losses, the middle of the bodies at the end."""
    last = len(run) - 1
    out = {f"energy at {k}/4 of the time [J]": float(run.energy[last * k // 4]) for k in range(5)}
    out["kinetic energy at the end [J]"] = float(run.kinetic_linear[-1] + run.kinetic_angular[-1])
    for entry in ("external", "friction", "restitution"):
        out[f"{entry} [J]"] = float(run.ledger[entry][-1])
    middle = np.nanmean(run.positions[-1][_dynamic(run)], axis=0) if _dynamic(run) else np.zeros(3)
    return out | {f"mean {axis} of the bodies at the end [m]": float(x) for axis, x in zip("xyz", middle, strict=True)}


def scales(run: Run) -> dict[str, float]:
    """How large each number is: of energies as in assert_conserved, of places the way of the bodies that went farthest."""
    energy = scale(run, "energy") + rounding(run) / RTOL
    way = float(np.nanmax(np.abs(run.positions - run.positions[0]))) if len(run.names) else 0.0
    size = float(np.nanmax(np.abs(run.positions))) if len(run.names) else 0.0
    return {key: energy if "[J]" in key else way + 1e-3 * size + 1e-3 for key in numbers(run)}


def rounded(run: Run, key: str) -> float:
    """What the last bit of single precision may do to the mean of places [m]."""
    size = np.nanmax(np.abs(run.positions)) if run.names and run.precision == "single" and key.startswith("mean ") else 0.0
    return float(size) * float(np.finfo(np.float32).eps)


def nudged(run: Run, seed: int) -> Run:
    """The run again, its dynamic bodies moved a little at the start."""
    scene = copy.copy(run.scene)
    nudge(scene, NUDGE, np.random.default_rng(seed))
    scene.allow_overlap = True
    how = {"bodies": None if run.whole else run.names, "precision": run.precision}
    return scene.build().run(run.duration, [Recorder(every=_every(run), **how)])


def _dynamic(run: Run) -> list[int]:
    """Rows of the dynamic bodies among those that were recorded."""
    return [i for i, body in enumerate(run.bodies) if body.kind == "dynamic"]


def _every(run: Run) -> int:
    return int(run.steps[1] - run.steps[0]) if len(run) > 1 else 1
