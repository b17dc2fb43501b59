"""Problems of the solvers that are kept as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.kernels.jit import kernel
from tumble.sim.solvers.block_laws import coulomb_step
from tumble.sim.solvers.problem import Laws, System

MOST = 130  # iterations; each problem here that test_stalls.py solves takes fewer
LEG = (0, 5, 6, 11)  # bodies of the quadruped: its trunk, and one leg from the hip down
# what solves a problem of that leg: (its seed, whether it is pushed, iterations that are enough). Twins in spoiled.py go on to
# there; an iteration on one leg takes a third of one on four.
ON_ONE_LEG = {
    "joints yield": (1836, True, 20),  # takes 9
    "patience inside": (353, True, 55),  # 45
    "yielding less": (327, False, 120),  # 107
    "sums": (2401, False, 90),  # 75
    "sweeps": (2440, True, 110),  # 97
}


def arrays(kept: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.array(value) for name, value in kept.items()}


def kept(name: str) -> dict[str, Any]:
    return json.loads((Path(__file__).parents[2] / "data" / f"{name}.json").read_text(encoding="utf-8"))


def posed(x: dict[str, np.ndarray]) -> tuple[System, Laws, np.ndarray, np.ndarray]:
    """(System, laws, impulses to begin with, room for velocities) of contacts, and of joints where there are laws of these, that
    were kept with these numbers."""
    none = np.zeros((len(x["mu"]), 3))
    law, low, high = x.get("law", np.zeros(len(none), dtype=np.int64)), x.get("lo", none), x.get("hi", none)
    system = System(x["mass"], 1.0 / x["mass"], x["inertia"], np.linalg.inv(x["inertia"]), x["a"], x["b"], x["ja"], x["jb"])
    laws = Laws(law, x["mu"], low, high, x.get("load", np.full(len(none), -1)), x["c"], x["u0"])
    return system, laws, x["p"].copy(), np.zeros((len(x["mass"]), 6))


def rubbed(seed: int, pushed: bool) -> dict[str, np.ndarray]:
    """The problem of the quadruped that lies on trunk and legs, with other coefficients of friction; ``pushed``: and with other
    velocities and targets, by up to 0.1 m/s. That of seed 91 is solved only by yielding less, that of 56, pushed, by sweeps."""
    random, x = np.random.default_rng(seed), arrays(kept("quadruped"))
    size = 10.0 ** -random.uniform(1, 6)
    for name in ("c", "vstar") if pushed else ():
        x[name] = x[name] + size * random.normal(size=x[name].shape)
    x["mu"] = x["mu"] * random.uniform(0.3, 3, size=x["mu"].shape)
    return x


def on_one_leg(name: str) -> tuple[dict[str, np.ndarray], int]:
    """(The problem of ON_ONE_LEG, iterations that are enough): that of `rubbed`, without the other legs."""
    seed, pushed, most = ON_ONE_LEG[name]
    x = rubbed(seed, pushed)
    rows, numbers = np.isin(x["a"], LEG) & np.isin(x["b"], (*LEG, -1)), np.full(len(x["mass"]) + 1, -1)
    numbers[list(LEG)] = range(len(LEG))  # and the last one is that of the floor
    part = {key: value[list(LEG)] if key in ("mass", "inertia", "vstar") else value[rows] for key, value in x.items()}
    return part | {side: numbers[part[side]] for side in "ab"}, most


def gripped(seed: int) -> dict[str, np.ndarray]:
    """The problem ``turning`` with up to a hundred times the friction, and other velocities and targets. That of seed 32 is
    solved only from where friction holds whatever comes."""
    random, x = np.random.default_rng(seed), arrays(kept("stalls")["turning"])
    for name in ("c", "vstar"):
        x[name] = x[name] + 0.1 * random.normal(size=x[name].shape)
    x["mu"] = x["mu"] * 10.0 ** random.uniform(0, 2, size=x["mu"].shape)
    return x


@kernel
def step_of_contact(p, w, mu, r, eps):
    """`coulomb_step`, for Python."""
    return coulomb_step(p, w, mu, r, eps)
