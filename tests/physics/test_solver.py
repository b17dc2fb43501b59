"""The solver of the kick by itself: problems set up by hand, answers from statics and from one contact's own solution."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.sim.impact.collision_law import one_contact_coulomb
from tumble.sim.solvers.block_laws import BALL_LAW, COULOMB_LAW
from tumble.sim.solvers.interior import interior
from tumble.sim.solvers.newton import newton_single
from tumble.sim.solvers.problem import Laws, System
from tumble.sim.solvers.sweeps import by_sweeps

G, DT = 9.81, 1 / 240


class Problem:
    """Bodies, given as masses and inertias (3, 3), that arrive with velocities (n, 6); contacts one by one."""

    def __init__(self, masses, inertias, arrive):
        self.masses, self.inertias = np.array(masses, dtype=float), np.array(inertias, dtype=float)
        self.arrive = np.array(arrive, dtype=float)
        self.a, self.b, self.ja, self.jb, self.mu, self.laws = [], [], [], [], [], []

    def touch(self, a, b, arm_a, arm_b, mu, frame=None, law=COULOMB_LAW):
        """A contact of bodies a and b (-1: the ground) at ``arm`` from their centres; rows of the frame: tangents, normal."""
        frame = np.eye(3) if frame is None else frame
        for body, arm, sign, bodies, jacobians in ((a, arm_a, -1, self.a, self.ja), (b, arm_b, 1, self.b, self.jb)):
            bodies.append(body)
            jacobians.append(np.hstack([sign * frame, sign * np.cross(arm, frame)]) if body >= 0 else np.zeros((3, 6)))
        self.mu.append(mu)
        self.laws.append(law)

    def solve(self, method=newton_single, tolerance=1e-11, most=200, guess=0.0):
        """(residual, iterations, impulses (k, 3), velocities (n, 6))."""
        m, n = len(self.mu), len(self.masses)
        none, p, v = np.zeros((m, 3)), np.full((m, 3), guess), np.zeros((n, 6))
        ends = np.array(self.a), np.array(self.b), np.array(self.ja), np.array(self.jb)
        system = System(self.masses, 1 / self.masses, self.inertias, np.linalg.inv(self.inertias), *ends)
        laws = Laws(np.array(self.laws), np.array(self.mu), none, none, np.full(m, -1), none, none)
        slips = (np.zeros((m, 2)), np.zeros(m, dtype=bool)) if method is by_sweeps else ()
        residual, spent = method(system, laws, self.arrive, *slips, tolerance, most, p, v)
        return residual, spent, p, v


CORNERS = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]


def stack(masses, mu=0.5) -> Problem:
    """Cubes of 1 m, one on the other, that have fallen for half a step."""
    problem = Problem(masses, [m / 6 * np.eye(3) for m in masses], [(0, 0, -G * DT / 2, 0, 0, 0)] * len(masses))
    for k in range(len(masses)):
        for x, y in CORNERS:
            problem.touch(k - 1, k, (x, y, 0.5), (x, y, -0.5), mu)
    return problem


@pytest.mark.parametrize(("boxes", "ratio"), [(20, 1.0), (20, 1e3), (20, 1e4), (50, 1.0), (50, 1e4), (200, 1.0)])
def test_each_interface_of_a_stack_bears_what_is_above(boxes, ratio):
    masses = np.array([1000.0] * (boxes - 1) + [1000.0 * ratio])
    residual, spent, p, v = stack(masses).solve()
    assert residual <= 1e-11
    assert spent < 40
    above = masses[::-1].cumsum()[::-1]
    # each corner a quarter: the middle of all splits
    assert p[:, 2].reshape(boxes, 4) == pytest.approx(np.outer(above * G * DT / 2, [0.25] * 4), rel=2e-2)
    assert p[:, 2].reshape(boxes, 4).sum(axis=1) == pytest.approx(above * G * DT / 2, rel=1e-7)
    assert np.abs(v).max() < 1e-9
    off, _, _, _ = stack(masses).solve(by_sweeps, most=640)
    assert off > 1e-5  # sweeps do not get there


@pytest.mark.parametrize("method", [newton_single, interior])
def test_one_contact_is_solved_as_by_its_own_law(method):
    rng = np.random.default_rng(7)
    kinds = set()
    for _ in range(60):
        mass, turn = rng.uniform(0.2, 5), np.linalg.qr(rng.normal(size=(3, 3)))[0]
        inertia = turn @ np.diag(mass * rng.uniform(0.02, 0.2, 3)) @ turn.T
        arm, mu, frame = 0.4 * rng.normal(size=3), rng.uniform(0, 0.6), np.linalg.qr(rng.normal(size=(3, 3)))[0]
        problem = Problem([mass], [inertia], [rng.normal(size=6)])
        problem.touch(-1, 0, (0, 0, 0), arm, mu, frame)
        j = problem.jb[0]
        free = j @ problem.arrive[0]
        k = j @ np.diag([1 / mass] * 3 + [0] * 3) @ j.T + j[:, 3:] @ np.linalg.inv(inertia) @ j[:, 3:].T
        residual, _, p, _ = problem.solve(method)
        expected = np.zeros(3) if free[2] >= 0 else np.array(one_contact_coulomb(tuple(k.ravel()), tuple(free), mu))
        if k[2, 2] < mu * np.hypot(k[2, 0], k[2, 1]):
            continue  # it may jam: more than one answer
        # on the boundary of the cone half of the digits are left to the interior method: Newton's adds the others
        near = 1e-9 if method is newton_single else 1e-4
        assert residual <= 0.1 * near
        assert p[0] == pytest.approx(expected, abs=near)
        sticks = np.hypot(p[0, 0], p[0, 1]) < mu * p[0, 2] * (1 - 1e-6)
        kinds.add("open" if p[0, 2] < near else "stick" if sticks else "slide")
    assert kinds == {"open", "stick", "slide"}


def test_what_is_not_solved_gives_no_energy():
    """Kicks of random frictional problems, stopped after one iteration: the sum of p.(u - c) is not above zero."""
    rng, unsolved = np.random.default_rng(5), 0
    for _ in range(200):
        masses = 10.0 ** rng.uniform(-1, 1, 3)
        problem = Problem(masses, [m * np.diag(rng.uniform(0.1, 1, 3)) for m in masses], rng.normal(size=(3, 6)))
        for _ in range(6):
            a, b = rng.choice([-1, 0, 1, 2], 2, replace=False)
            q, r = np.linalg.qr(rng.normal(size=(3, 3)))
            problem.touch(a, b, rng.normal(size=3), rng.normal(size=3), rng.choice([0.3, 3.0]), q * np.sign(np.diag(r)))
        residual, _, p, v = problem.solve(most=1)
        given = 0.0
        for k in range(len(problem.mu)):
            u = sum(j[k] @ v[i] for i, j in ((problem.a[k], problem.ja), (problem.b[k], problem.jb)) if i >= 0)
            given += p[k] @ u
        unsolved += residual > 1e-6
        scale = sum(0.5 * m * (w @ w) for m, w in zip(masses, problem.arrive, strict=True))
        assert given <= 1e-12 * scale
    assert unsolved > 100


@pytest.mark.parametrize("part", [0.999, 1.001])
def test_a_block_at_the_edge_of_sliding(part):
    """Pushed aside by ``part`` of what friction can hold: it sticks, or slides by what is beyond, whatever its corners bear."""
    mu, fall = 0.5, G * DT / 2
    problem = Problem([10.0], [10.0 / 6 * np.eye(3)], [(part * mu * fall, 0, -fall, 0, 0, 0)])
    for x, y in CORNERS:
        problem.touch(-1, 0, (0, 0, 0), (x, y, -0.2), mu)
    residual, _, p, v = problem.solve()
    assert residual <= 1e-11
    assert p[:, 2].sum() == pytest.approx(10 * fall, rel=1e-9)
    assert v[0] == pytest.approx((max(0.0, part - 1) * mu * fall, 0, 0, 0, 0, 0), abs=1e-10)


def test_what_is_not_a_number_is_not_solved():
    """Three rows of a joint that may give nothing, beside a contact: a guess of nan is no answer, however it compares."""
    problem = stack([1.0, 1.0])
    problem.touch(0, 1, (0, 0, 0.5), (0, 0, -0.5), 0.0, law=BALL_LAW)
    residual, spent, p, v = problem.solve(guess=np.nan)
    assert residual <= 1e-11
    assert spent > 0
    assert np.isfinite(p).all()
    assert np.isfinite(v).all()
