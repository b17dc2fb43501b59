"""Stations of a flight, spoiled: run by tests/sim/test_uncompiled.py, as the others of this name."""

from __future__ import annotations

import numpy as np
import pytest

from tests.physics.grounds import whirled_past
from tumble.collision import Box
from tumble.sim import Hinge, World
from tumble.sim.flight import clusters, stations
from tumble.sim.flight.motion import start_flight
from tumble.sim.forces.path_rows import read_state
from tumble.sim.state import END

H = 1 / 240


PLACES = (0.2, 0.5, 0.83)  # of a flight


def off_the_path(places: tuple[float, ...]) -> tuple[float, float]:
    """By how much [rad, rad/s] a link that turns by a radian in a step is off where its flight is interpolated, at the worst of
    these places, against flights that are integrated up to there."""
    spin, arm, axis = np.array((3.0, 1.0, 0.0)), np.array((0.12, 0.03, 0.0)), np.array((0.6, 0.0, 0.8))
    turning = spin + 250.0 * axis
    world = World(gravity=(0, 0, 0), dt=H)
    world.add(Box((0.1, 0.1, 0.1)), mass=1.0, name="arm", angular_velocity=spin)
    velocity = np.cross(spin, arm) + np.cross(turning, (0, 0.05, 0))
    at = {"position": arm + (0, 0.05, 0), "velocity": velocity, "angular_velocity": turning}
    world.add(Box((0.02, 0.1, 0.01)), mass=0.01, name="link", **at)
    world.add_joint(Hinge("arm", "link", anchor=tuple(arm), axis=tuple(axis)))
    world.step(2)
    bodies, forces, joints = world.model.bodies, world.model.forces, world.model.joints
    angles, rates = [], []
    for part in places:
        for i in range(2):
            start_flight(bodies, i, 0.0)
        clusters.launch(bodies, forces, joints, 0, 0.0)
        _, q, _, l, _, _ = clusters.along(bodies, forces, 1, part * H)
        clusters.cut_short(bodies, forces, joints, 0, part * H)
        _, q1, _, l1 = read_state(forces, END, 1)
        angles.append(2.0 * np.abs(np.subtract(q, q1)).max())
        rates.append(np.linalg.norm(bodies.inv_inertia[1] @ np.subtract(l, l1)))
    return max(angles), max(rates)


def test_a_path_goes_through_the_steps_of_the_integrator(monkeypatch):
    """In the middle between the ends of the flight it would be off by 7 of 250 rad/s: as a search for impacts sees it."""
    angle, rate = off_the_path(PLACES)
    assert angle < 1e-8
    assert rate < 1e-2
    monkeypatch.setattr(stations, "_stride", lambda steps: steps)
    angle, rate = off_the_path((0.5,))
    assert angle > 1e-6
    assert rate > 5.0


def test_tries_that_run_away_bound_nothing(monkeypatch):
    """With what they saw among them the bound on how forces pull was a thousand times what they do, or infinite, and the post
    is missed."""
    assert whirled_past(100.0).model.bodies.pull[1] == pytest.approx(2.0 * 0.08 * 100.0**2, rel=5e-3)
    monkeypatch.setattr(clusters, "_bound_by_start", lambda bodies, forces, c: None)
    assert whirled_past(100.0).model.bodies.pull[1] > 1e6
    assert whirled_past(400.0).statistics()["impacts"] == 0
