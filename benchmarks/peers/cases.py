"""Validation cases in other engines: ``make bench-engines``, or ``python -m benchmarks.peers.cases [mujoco bullet physx node]``.

Each engine runs with its defaults, but for what the case sets; without damping and sleep; MuJoCo with elliptic cones and two
integrators, Jolt with the gyroscopic torque. The numbers go to ``benchmarks/peers/results.json``; ``tumble validate --page F.md
--peers F.json`` puts them beside ours where the measure is of the same name. Rapier and Jolt run in Node, by their builds for
the web (node_engine.py): one thread, single precision.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.peers.engines import MODULES, engines

RESULTS = Path(__file__).parent / "results.json"
G, STEP = 9.81, 1 / 240
LEVEL = (0, 0, -G)


def tumbling(make: Callable) -> dict[str, float]:
    moments = 12.5 / 3 * np.array([0.05**2 + 0.125**2, 0.25**2 + 0.125**2, 0.25**2 + 0.05**2])

    def rates(_, y):
        w, r = y[:3], y[3:].reshape(3, 3)
        spin = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([np.cross(moments * w, w) / moments, (r @ spin).ravel()])

    start = np.concatenate([(1, 2, 3), np.eye(3).ravel()])
    exact = solve_ivp(rates, (0, 10), start, method="DOP853", rtol=1e-13, atol=1e-13).y[3:, -1].reshape(3, 3)
    e = make((0, 0, 0), STEP)
    e.box((0.25, 0.05, 0.125), 12.5, (0, 0, 0), w=(1, 2, 3))
    l0, t0 = moments * (1, 2, 3), float(moments @ np.array((1, 4, 9))) / 2
    e.step(2400)
    rot, w = e.rotation(), e.spin()
    body = rot.T @ w
    return {
        "attitude after 10 s": float(np.linalg.norm(rot - exact)),
        "energy, relative": abs(float(moments @ body**2) / 2 / t0 - 1),
        "angular momentum, relative": float(np.linalg.norm(rot @ (moments * body) - l0) / np.linalg.norm(l0)),
    }


def thrown(make: Callable) -> dict[str, float]:
    v = 40 * np.array((math.cos(math.radians(35)), 0, math.sin(math.radians(35))))
    e = make(LEVEL, STEP)
    e.sphere(0.037, 1.0, (0, 0, 0), v=v)
    e.step(960)
    return {"place after 4 s in a vacuum": float(np.linalg.norm(e.place() - (4 * v + (0, 0, -G * 8))))}


def bouncing(make: Callable) -> dict[str, float]:
    e = make(LEVEL, 1 / 60)
    e.floor(mu=0.0, e=1.0)
    e.sphere(0.1, 1.0, (0, 0, 1.1))
    worst = 0.0
    for _ in range(round(100 * 2 * math.sqrt(2 / G) * 60)):  # the energy as a height, in flight
        e.step(1)
        x, v = e.place(), e.velocity()
        if x[2] > 0.3:
            worst = max(worst, abs(x[2] - 0.1 + v[2] ** 2 / (2 * G) - 1))
    return {"heights of the apexes, e = 1, 100 bounces, dt 1/60 s": worst}


def slope(degrees: float) -> tuple[float, float, float]:
    a = math.radians(degrees)
    return G * math.sin(a), 0.0, -G * math.cos(a)


def cube(make: Callable, gravity: tuple, mu: float, v: tuple = (0, 0, 0), dt: float = STEP):
    e = make(gravity, dt)
    e.floor(mu=mu)
    e.box((0.1, 0.1, 0.1), 1.0, (0, 0, 0.1), v=v)
    return e


def incline(make: Callable) -> dict[str, float]:
    e = cube(make, slope(20), 0.4)
    e.step(24)
    start = e.place()
    e.step(2400)
    out = {"creep in 10 s, mu 0.4": float(np.linalg.norm(e.place() - start))}
    e = cube(make, slope(30), 0.3)
    e.step(480)
    a = math.radians(30)
    out["distance down, 30 degrees, mu 0.3, 2 s, relative"] = abs(e.place()[0] / (2 * G * (math.sin(a) - 0.3 * math.cos(a))) - 1)
    return out


def stopping(make: Callable) -> dict[str, float]:
    stops = []
    for k in range(12):
        a = math.tau * k / 12
        e = cube(make, LEVEL, 0.4, (3 * math.cos(a), 3 * math.sin(a), 0))
        e.step(240)
        stops.append(float(np.linalg.norm(e.place()[:2])))
    return {
        "distance from 3 m/s, mu 0.4, relative": max(abs(d / (9 / (0.8 * G)) - 1) for d in stops),
        "spread of the distance over 12 headings": float(np.ptp(stops)),
    }


def to_rolling(make: Callable) -> dict[str, float]:
    e = make(LEVEL, STEP)
    e.floor(mu=0.2)
    e.sphere(0.1, 1.0, (0, 0, 0.1), v=(5, 0, 0))
    gaps = []
    for _ in range(200):
        e.step(1)
        gaps.append(abs(e.place()[2] - 0.1))
    return {"plain: speed when it rolls": abs(e.velocity()[0] - 25 / 7), "plain: change of height": max(gaps)}


def rolling_down(make: Callable) -> dict[str, float]:
    e = make(slope(25), STEP)
    e.floor(mu=0.6)
    e.sphere(0.1, 1.0, (0, 0, 0.1))
    e.step(240)
    return {"sphere rolls: speed after 1 s": abs(e.velocity()[0] - 5 / 7 * G * math.sin(math.radians(25)))}


def resting(make: Callable) -> dict[str, float]:
    e = cube(make, LEVEL, 0.5)
    e.step(240)
    worst = 0.0
    for _ in range(90):
        e.step(24)
        worst = max(worst, abs(e.place()[2] - 0.1))
    return {"dt 1/240 s: change of height": worst}


CASES = {
    "V01": tumbling, "V06": thrown, "V08": bouncing, "V16": incline, "V17": stopping, "V18": to_rolling, "V19": rolling_down,
    "V31": resting,
}  # fmt: skip


def measured(engine: Callable) -> dict[str, dict[str, float]]:
    """Numbers of all cases that an engine can run."""
    found = {}
    for name, measure in CASES.items():
        try:
            found[name] = {what: float(f"{value:.3g}") for what, value in measure(engine).items()}
            print(f"  {name} {found[name]}", flush=True)
        except NotImplementedError as error:
            print(f"  {name} {error}")
    return found


def main(modules: list[str]) -> None:
    known = json.loads(RESULTS.read_text()) if modules else {}
    for name, engine in engines(modules or MODULES[1:]).items():
        print(name)
        known[name] = measured(engine)
    RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
