"""The numbers that decide something in solvers: each with a case that comes out otherwise without it.

Run by tests/sim/test_uncompiled.py, since only uncompiled kernels let their numbers be replaced.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.sim.solvers.kept import MOST, arrays, gripped, kept, on_one_leg, posed
from tumble.sim.solvers import block_laws, interior, mixing, newton, problem


def left_after(rounds: int) -> float:
    """How far from its fixed point an iteration of a linear map of six numbers is after so many rounds."""
    rng = np.random.default_rng(0)
    map, offset = rng.normal(size=(6, 6)), rng.normal(size=6)
    map *= 0.95 / np.abs(np.linalg.eigvals(map)).max()
    exact = np.linalg.solve(np.eye(6) - map, offset)
    history, x = mixing.no_history(1), np.zeros((1, 6))
    for _ in range(rounds):
        mixing.mix(history, x, (map @ x[0] + offset)[None].copy())
    return float(np.abs(x[0] - exact).max())


def test_six_changes_tell_all_of_a_map_of_six_numbers(monkeypatch):
    assert left_after(7) < 1e-13
    monkeypatch.setattr(mixing, "REMEMBERED", 1)
    assert left_after(7) > 0.1


def test_changes_that_say_nothing_new_are_not_learnt_from(monkeypatch):
    """What is left of them is rounding, and dividing by it leads away."""
    assert left_after(10) < 1e-10
    monkeypatch.setattr(mixing, "DEPENDENT", 0.0)
    assert left_after(10) > 1e6


def solved(name: str, method=newton.newton_single) -> tuple[float, int]:
    """(What is missed [m/s], iterations) of a kept problem that is hard to solve."""
    x = arrays(kept("stalls")[name])
    system, laws, p, v = posed(x)
    return method(system, laws, x["vstar"], 1e-11, 200, p, v)


@pytest.mark.parametrize(
    ("name", "value", "missed", "iterations"),
    [
        ("COMPLIANCE", 1e-9, 0.0, 30),  # hardly any: the matrix is all but singular
        ("COMPLIANCE", 1e-2, 0.0, 10),  # much: each iteration leaves a hundredth
        ("SAME_STEP", 0.0, 0.0, 20),  # no two steps are the same: it creeps to where something slides
        ("STALLED_ITERATIONS", 1, 0.0, 20),  # it looks for help at once
        ("FINE", 1.0, 2e-13, 0),  # it ends at the tolerance, and not at rounding
    ],
)
def test_newton_is_done_in_six_iterations_and_right_to_rounding(monkeypatch, name, value, missed, iterations):
    left, spent = solved("contradiction")
    assert left < 1e-14
    assert spent <= 6
    for module in (newton, problem, interior):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, value)
    left, spent = solved("contradiction")
    assert left > missed
    assert spent > iterations or missed > 0.0


def test_what_hardly_turns_weighs_as_much_as_its_bound(monkeypatch):
    """A face that lies flat turns by 3e-5 rad/s less than its moments ask for: they are at their bounds."""
    assert solved("face")[0] < 1e-13
    monkeypatch.setattr(block_laws, "_weight", lambda K, size, radius: K)
    assert solved("face")[0] > 1e-6


def test_targets_further_apart_than_they_may_be_leave_the_nearest_motion(monkeypatch):
    """A ball that is wedged in: it sticks to floor and wall, which ask for velocities 9e-6 m/s apart along the line between."""

    def wedged(give: float) -> tuple[float, float, float, float]:
        """What is missed, how far targets are apart, what of the law is missed with those that were met [m/s], impulses [N s]."""
        x = arrays(kept("stalls")["wedge"])
        system, laws, p, v = posed(x)
        left, apart, _ = newton.newton_in(system, laws, x["vstar"], newton.no_room(system, p), 1e-11, 0.0, give, 200, p, v)
        R, u = np.empty_like(p), np.empty_like(p)
        problem.regularisation(system, laws.law, R)
        return left, apart, problem.missed(system, laws, x["vstar"], R, p, v, u), float(np.abs(p).max())

    left, apart, met, size = wedged(1e-6)
    assert left == apart
    assert 1e-6 < apart < 1e-5  # it is said
    assert met < 1e-13
    assert size < 0.05
    monkeypatch.setattr(newton, "_let_go", lambda *given: None)
    assert wedged(1e-6)[2] > 1e-6


def left_of(name: str) -> float:
    """What is missed of a problem of joints and contacts that slide slowly [m/s]; test_stalls.py solves it to 1e-11."""
    return left(arrays(kept(name)))


def left(x: dict[str, np.ndarray], most: int = MOST) -> float:
    system, laws, p, v = posed(x)
    return newton.newton_single(system, laws, x["vstar"], 1e-11, most, p, v)[0]


def test_what_converges_slowly_is_solved_by_yielding_less(monkeypatch):
    monkeypatch.setattr(newton, "TIGHT", 1.0)
    assert left(*on_one_leg("yielding less")) > 1e-9


@pytest.mark.parametrize("name", ["SWEEPINGS", "FEWEST_SWEEPS"])
def test_where_no_start_leads_to_an_end_sweeps_lead_on(name, monkeypatch):
    """Sets of joints that stand at their stops take turns, and each start comes back to them."""
    monkeypatch.setattr(newton, name, 0)
    assert left(*on_one_leg("sweeps")) > 1e-6


@pytest.mark.parametrize(("name", "value"), [("STICKY", 1.0), ("FIRST_SWEEPS", 0)])
def test_strong_friction_is_begun_from_what_sticks(name, value, monkeypatch):
    """Its solution is far from where all else begins, and sweeps lead near it."""
    assert left(gripped(32)) < 1e-13
    monkeypatch.setattr(newton, name, value)
    assert left(gripped(32)) > 0.1


@pytest.mark.parametrize("value", [1e-13, 1e-3])
def test_joints_yield_by_next_to_nothing(value, monkeypatch):
    """By nothing their matrix is all but singular; by a thousandth each iteration leaves a part."""
    for room in (block_laws, newton):
        monkeypatch.setattr(room, "RIGID_COMPLIANCE", value)
    assert left(*on_one_leg("joints yield")) > 1e-6


def test_steps_that_shrink_by_the_same_part_are_summed(monkeypatch):
    """Over more iterations than others may take: those that are summed miss more at first."""
    with monkeypatch.context() as impatient:
        impatient.setattr(newton, "PATIENCE", 1)
        assert left(*on_one_leg("sums")) > 1e-9
    monkeypatch.setattr(newton, "_sum_to_come", lambda *given: 1.0)
    assert left(*on_one_leg("sums")) > 1e-9


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BACK", 0.1),  # short steps: it is given up before it is there
        ("BACK", 1.0),  # all the way to the boundary, where it is stuck
        ("IDLE_STEP", 1.0),  # every step seems to lead nowhere
        ("MOST_IDLE_STEPS", 0),  # it does not begin
    ],
)
def test_the_interior_method_comes_near(monkeypatch, name, value):
    assert solved("turning", interior.interior)[0] < 1e-8
    monkeypatch.setattr(interior, name, value)
    assert solved("turning", interior.interior)[0] > 1e-6


def test_the_interior_method_has_patience_to_the_end(monkeypatch):
    """With half of it what slides slowly is left to Newton's method before that can solve it; test_stalls.py solves it."""
    monkeypatch.setattr(interior, "MOST_IDLE_STEPS", 6)
    assert left(*on_one_leg("patience inside")) > 1e-6


def test_moments_that_hardly_turn_need_the_slope_of_their_law(monkeypatch):
    """Without it, p <- P(y), each iteration goes on by |w|/K of an impulse that is thousands of times as large."""

    def plain(p, w, K, radius, growth):
        if math.dist(p, [x / K for x in w]) < radius:
            return _in_ball(p, w, K, radius, growth)
        y = np.array(p) - np.array(w) / K
        length = max(np.linalg.norm(y), 1e-300)
        slope = radius / (length * K) * (np.eye(3) - np.outer(y, y) / length**2)
        return tuple(radius * y / length), tuple(slope.ravel()), (0.0, 0.0, 0.0)

    _in_ball = block_laws._in_ball
    assert left_of("rolling") < 1e-13
    monkeypatch.setattr(block_laws, "_in_ball", plain)
    assert left_of("rolling") > 1e-10
