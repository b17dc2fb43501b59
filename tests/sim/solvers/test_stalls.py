"""Problems out of a heap that Newton's method is slow at, or never done with, without two of its rules.

``contradiction``: two bodies on three points that all stick, but for targets that contradict each other by 4e-11 m/s; one of them
slides, at that speed. ``turning``: three bodies on five points; one sticks, and seems to slide now one way, now the other.

And two out of machines. ``humanoid.json``, which rolls on its floor: eight contacts, of which four slide at 1e-9 to 1e-6 m/s, and
joints, some at their stops; what slides so slowly yields less than the compliance, and each iteration takes off a third.
``quadruped.json``, which lies on trunk and legs: twelve contacts, of which eight slide so, where each takes off a tenth.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.sim.solvers.kept import MOST, ON_ONE_LEG, arrays, kept, on_one_leg, posed, rubbed, step_of_contact
from tumble.sim.solvers.block_laws import coulomb
from tumble.sim.solvers.newton import BEYOND_CONE, SAME_STEP, newton_single
from tumble.sim.solvers.problem import COMPLIANCE

TOLERANCE = 1e-11  # m/s
STALLED = 40  # iterations of a problem of contacts alone
COULOMB, STEP = getattr(coulomb, "py_func", coulomb), step_of_contact


def problem(name: str) -> dict[str, np.ndarray]:
    return arrays(kept("stalls")[name])


def plain_step(p: np.ndarray, w: np.ndarray, mu: float, r: float) -> tuple[np.ndarray, np.ndarray]:
    """`coulomb_step` with the derivative as it is, d d^T, not q d^T."""
    y = p - w / r
    slip = np.hypot(y[0], y[1])
    if y[2] <= 0.0 or slip <= mu * y[2]:
        s, g = STEP(tuple(p), tuple(w), mu, r, COMPLIANCE)
        return np.array(s), np.reshape(g, (3, 3))
    d, slope = y[:2] / slip, np.zeros((3, 3))
    slope[:2, :2] = mu * y[2] / slip * (np.eye(2) - np.outer(d, d))
    slope[:2, 2], slope[2, 2] = mu * d, 1.0
    a = np.linalg.inv(np.eye(3) - (1.0 - COMPLIANCE) * slope)
    return a @ (np.append(mu * y[2] * d, y[2]) - p), a @ slope / r


def way_out(p: np.ndarray, step: np.ndarray, mu: np.ndarray) -> float:
    """How far along ``step`` the first of the contacts leaves its cone: by looking."""
    for way in np.geomspace(1.0, 1e12, 20_000):
        q = p + way * step
        inside = (np.hypot(p[:, 0], p[:, 1]) < mu * p[:, 2]) & (p[:, 2] > 0.0)
        if np.any(inside & (np.hypot(q[:, 0], q[:, 1]) > mu * q[:, 2])):
            return way if way > 1.0 else 1.0 / BEYOND_CONE
    return 1.0 / BEYOND_CONE


def iterations(name: str, agrees: bool = True, goes_on: bool = True) -> int:
    """Newton's iterations, dense and in NumPy; STALLED where they do not end."""
    x = problem(name)
    n, m = len(x["mass"]), len(x["mu"])
    mass, jacobian = np.zeros((6 * n, 6 * n)), np.zeros((3 * m, 6 * n))
    for i in range(n):
        at = 6 * i
        mass[at : at + 3, at : at + 3], mass[at + 3 : at + 6, at + 3 : at + 6] = x["mass"][i] * np.eye(3), x["inertia"][i]
    for k in range(m):
        for body, rows in ((x["a"][k], x["ja"][k]), (x["b"][k], x["jb"][k])):
            if body >= 0:
                jacobian[3 * k : 3 * k + 3, 6 * body : 6 * body + 6] = rows
    k_nn = np.einsum("ki,ij,kj->k", jacobian[2::3], np.linalg.inv(mass), jacobian[2::3])
    p, last, before = x["p"].copy(), np.full((m, 3), np.inf), np.inf
    for done in range(STALLED):
        v = x["vstar"].ravel() + np.linalg.solve(mass, jacobian.T @ p.ravel())
        w = (jacobian @ v).reshape(-1, 3) + x["u0"] - x["c"]
        asked = np.array([COULOMB(tuple(p[k] - w[k] / k_nn[k]), x["mu"][k]) for k in range(m)])
        now = (k_nn[:, None] * np.abs(asked - p)).max()
        if now <= TOLERANCE:
            return done
        steps = [
            STEP(tuple(p[k]), tuple(w[k]), x["mu"][k], k_nn[k], COMPLIANCE)
            if agrees
            else plain_step(p[k], w[k], x["mu"][k], k_nn[k])
            for k in range(m)
        ]
        s, g = np.array([s for s, _ in steps]), np.zeros((3 * m, 3 * m))
        for k, (_, block) in enumerate(steps):
            g[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = np.reshape(block, (3, 3))
        dv = np.linalg.solve(mass + jacobian.T @ g @ jacobian, jacobian.T @ s.ravel())
        step = s - (g @ jacobian @ dv).reshape(-1, 3)
        same = np.linalg.norm(step - last) < SAME_STEP * np.linalg.norm(step) and now > 0.5 * before
        p = p + (BEYOND_CONE * way_out(p, step, x["mu"]) if goes_on and same else 1.0) * step
        last, before = step, now
    return STALLED


@pytest.mark.parametrize("name", ["contradiction", "turning"])
def test_a_stall_is_solved_in_a_few_iterations(name):
    x = problem(name)
    system, laws, p, v = posed(x)
    missed, spent = newton_single(system, laws, x["vstar"], TOLERANCE, 200, p, v)
    assert missed < 1e-13  # it goes on to rounding
    assert spent <= 12
    assert iterations(name) <= 11


def test_targets_that_contradict_each_other_are_followed_to_where_something_slides():
    assert iterations("contradiction", goes_on=False) > 2 * iterations("contradiction")


@pytest.mark.parametrize(("name", "most"), [("humanoid", 80), ("quadruped", 110)])
def test_what_slides_slowly_is_solved(name, most):
    """``tests/sim/solvers/spoiled.py`` has the twins."""
    x = arrays(kept(name))
    system, laws, p, v = posed(x)
    missed, spent = newton_single(system, laws, x["vstar"], TOLERANCE, MOST, p, v)
    assert missed <= TOLERANCE
    assert spent <= most


@pytest.mark.parametrize(("seed", "pushed", "bound"), [(0, False, 1e-13), (91, False, TOLERANCE), (56, True, TOLERANCE)])
def test_what_lies_with_other_friction_is_solved(seed, pushed, bound):
    x = rubbed(seed, pushed)
    system, laws, p, v = posed(x)
    assert newton_single(system, laws, x["vstar"], TOLERANCE, MOST, p, v)[0] <= bound


@pytest.mark.parametrize("name", ON_ONE_LEG)
def test_what_lies_on_one_leg_is_solved(name):
    """Twins there too, of what is solved as it should be here alone: compiled it takes a thousandth of the time."""
    x, most = on_one_leg(name)
    system, laws, p, v = posed(x)
    assert newton_single(system, laws, x["vstar"], TOLERANCE, most, p, v)[0] <= TOLERANCE


def test_the_slope_is_that_of_the_impulse_where_velocity_and_impulse_disagree():
    assert iterations("turning", agrees=False) == STALLED
