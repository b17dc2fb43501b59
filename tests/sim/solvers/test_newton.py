"""Newton's method on Coulomb's law: who touches and who slides is read off where load and velocity weigh alike."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sim.solvers.kept import arrays, kept, posed, step_of_contact
from tumble.collision.kernels.jit import kernel
from tumble.sim.solvers.block_laws import coulomb
from tumble.sim.solvers.newton import newton_in_far, newton_single, no_room
from tumble.sim.solvers.problem import COMPLIANCE, Laws, System

TOLERANCE = 1e-11  # m/s
COULOMB, STEP = getattr(coulomb, "py_func", coulomb), step_of_contact


def landing() -> dict[str, np.ndarray]:
    """A hull that lands, sliding, on three points, with the impulses of the kick before: a problem out of a heap."""
    return arrays(kept("landing"))


def iterations(scale: float, most: int = 40) -> int:
    """Newton's iterations for `landing`, dense and in NumPy; contacts are judged at ``scale`` times their K_nn."""
    x = landing()
    mass = np.zeros((6, 6))
    mass[:3, :3], mass[3:, 3:] = x["mass"][0] * np.eye(3), x["inertia"][0]
    jacobian = np.where(x["a"][:, None, None] >= 0, x["ja"], x["jb"]).reshape(-1, 6)
    k_nn = np.einsum("ki,ij,kj->k", jacobian[2::3], np.linalg.inv(mass), jacobian[2::3])
    p = x["p"].copy()
    for done in range(most):
        v = x["vstar"][0] + np.linalg.solve(mass, jacobian.T @ p.ravel())
        w = (jacobian @ v).reshape(-1, 3) + x["u0"] - x["c"]
        asked = np.array([COULOMB(tuple(p[k] - w[k] / k_nn[k]), x["mu"][k]) for k in range(len(p))])
        if (k_nn[:, None] * np.abs(asked - p)).max() <= TOLERANCE:
            return done
        steps = [STEP(tuple(p[k]), tuple(w[k]), x["mu"][k], scale * k_nn[k], COMPLIANCE / scale) for k in range(len(p))]
        s, g = np.array([s for s, _ in steps]), np.zeros((3 * len(p), 3 * len(p)))
        for k, (_, block) in enumerate(steps):
            g[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = np.reshape(block, (3, 3))
        dv = np.linalg.solve(mass + jacobian.T @ g @ jacobian, jacobian.T @ s.ravel())
        p = p + s - (g @ jacobian @ dv).reshape(-1, 3)
        p[p[:, 2] <= 0.0] = 0.0
        across = np.linalg.norm(p[:, :2], axis=1)
        p[:, :2] *= np.minimum(1.0, x["mu"] * p[:, 2] / np.where(across > 0.0, across, 1.0))[:, None]
    return most


def test_a_landing_is_solved_in_a_few_iterations():
    """The compiled method, and a dense one in NumPy. Judged at a hundredth of K_nn, all but by velocity, the sets take turns for
    ever."""
    x = landing()
    system, laws, p, v = posed(x)
    missed, spent = newton_single(system, laws, x["vstar"], TOLERANCE, 200, p, v)
    assert missed < 1e-13  # it goes on to rounding
    assert spent <= 7
    assert iterations(1.0) <= 6
    assert iterations(0.01) == 40


@kernel
def solve_giving(system, laws, vstar, tolerance, give, most, p, v):
    return newton_in_far(system, laws, vstar, no_room(system, p), tolerance, 0.0, give, most, p, v)


def test_targets_that_no_motion_meets_are_met_as_nearly_as_a_motion_can():
    """Two points of a bar that stick are to part by 1e-9 m/s: the bar moves by half of that, and bears what it bore.

    Where nothing may give, or less than that, the same thrust along the bar is added until a point slides: by the letter of the
    law a load out of nothing, as large as friction allows. Points that slide from the first give nothing.
    """
    apart, fall = 1e-9, -0.02
    mass, inertia = np.ones(1), np.diag([0.01, 1 / 12, 1 / 12])[None]
    jacobian = np.zeros((2, 3, 6))
    for k, x in enumerate((-0.5, 0.5)):
        for r, axis in enumerate(np.eye(3)):
            jacobian[k, r, :3], jacobian[k, r, 3:] = axis, np.cross((x, 0, -0.1), axis)
    ground, bar, none = np.full(2, -1), np.zeros(2, dtype=np.int64), np.zeros((2, 3))
    system = System(mass, 1 / mass, inertia, np.linalg.inv(inertia), ground, bar, np.zeros_like(jacobian), jacobian)
    vstar = np.array([[0, 0, fall, 0, 0, 0]])

    def solve(give: float, mu: float = 0.5) -> tuple:
        c, p, v = np.array([[0, 0, 0], [apart, 0, 0]]), np.zeros((2, 3)), np.zeros((1, 6))
        laws = Laws(np.zeros(2, dtype=np.int64), np.full(2, mu), none, none, np.full(2, -1), c, none)
        return *solve_giving(system, laws, vstar, TOLERANCE, give, 200, p, v), c, p, v

    missed, given, spent, c, p, v = solve(give=2 * apart)
    assert missed < 0.01 * TOLERANCE
    assert given == pytest.approx(apart / 2, rel=1e-4)
    assert c[:, 0] == pytest.approx([apart / 2, apart / 2], rel=1e-4)
    assert v[0] == pytest.approx([apart / 2, 0, 0, 0, 0, 0], abs=1e-4 * apart)
    assert p[:, 2] == pytest.approx([-fall / 2, -fall / 2], rel=1e-7)
    assert np.abs(p[:, :2]).max() < apart
    assert spent < 20
    for give in (0.0, 0.25 * apart):
        missed, given, _, c, p, _ = solve(give)
        assert missed <= TOLERANCE
        assert given == 0.0
        assert (c == [[0, 0, 0], [apart, 0, 0]]).all()
        assert np.abs(p[:, 0]).max() == pytest.approx(-0.5 * fall / 2, rel=1e-3)
    assert solve(give=2 * apart, mu=0.0)[:2] == (pytest.approx(0.0, abs=1e-15), 0.0)


def test_moments_that_hardly_turn_are_solved_as_sliding_is():
    """A body slides on four points and tips ever so little, which three of them tell, against their rolling friction.

    All four ask for velocities that are 4e-9 m/s apart, as much as kicks let go: from nothing, no iteration is spent on loads
    that would meet them.
    """
    x = arrays(kept("rolling"))
    for start, most in ((x["p"], 10), (0.0 * x["p"], 25)):
        system, laws, p, v = posed(x | {"p": start})
        missed, _, spent = solve_giving(system, laws, x["vstar"], TOLERANCE, 1e-8, 200, p, v)
        assert missed < 1e-13
        assert spent <= most
        size = np.hypot(p[4:, 0], p[4:, 1])
        assert np.all(size <= x["hi"][4:, 0] * (1.0 + 1e-12))
        assert np.all(size >= x["hi"][4:, 0] * (1.0 - 1e-12))  # each at its bound
