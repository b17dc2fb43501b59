"""What must hold in any scene, with surfaces of any kind: drawn by hypothesis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tumble.collision import Box, HalfSpace, Sphere
from tumble.sim import World


@st.composite
def surface(draw) -> dict:
    mu = draw(st.floats(0, 1.5))
    return {
        "friction": mu,
        "static_friction": mu + draw(st.sampled_from([0.0, 0.3])),
        "restitution": draw(st.floats(0, 1)),
        "tangential_restitution": draw(st.sampled_from([None, -0.5, 0.7])),
        "rolling_friction": draw(st.sampled_from([0.0, 0.003])),
        "torsional_friction": draw(st.sampled_from([0.0, 0.005])),
    }


@st.composite
def heap(draw, floor: bool = True) -> World:
    """Up to three bodies thrown at each other, and at a floor."""
    world = World(gravity=(0, 0, -9.81 if floor else 0), restitution_law=draw(st.sampled_from(["stronge", "poisson"])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if floor:
        world.add(HalfSpace(), kind="static", **draw(surface()))
    for k in range(draw(st.integers(1, 3))):
        shape = Sphere(0.1) if draw(st.booleans()) else Box(tuple(rng.uniform(0.05, 0.15, 3)))
        q = rng.normal(size=4)
        velocity = rng.normal(size=3) - [0, 0, 4 * k - 2]
        world.add(
            shape, position=(0, 0, 0.3 + 0.5 * k), orientation=q / np.linalg.norm(q), velocity=velocity,
            angular_velocity=3 * rng.normal(size=3), density=draw(st.sampled_from([100.0, 1000.0, 8000.0])), **draw(surface()),
        )  # fmt: skip
    return world


def check(world: World) -> None:
    c, law = world.contacts(), world.model.contacts.law[: len(world.contacts())]
    normal, tangent = c["impulse"][:, 0], np.hypot(c["impulse"][:, 1], c["impulse"][:, 2])
    assert (normal >= 0).all()
    assert (tangent <= c["friction"] * normal * (1 + 1e-12) + 1e-15).all()
    about = np.einsum("ni,ni->n", c["moment"], c["normal"])
    across = np.linalg.norm(c["moment"] - about[:, None] * c["normal"], axis=1)
    force = normal / world.dt
    rounding = 1e-14 * (np.abs(about) + across)
    assert (np.abs(about) <= law[:, 5] * force + rounding).all()
    assert (across <= law[:, 4] * force + rounding).all()
    assert world.statistics()["impact_gain"] < 1e-11
    assert world.ledger.closes


@given(heap())
@settings(max_examples=25, deadline=None)
def test_friction_stays_in_the_cone_and_the_books_close(world):
    p0 = world.momentum()
    mass = sum(body.mass for body in world.bodies if body.kind == "dynamic")
    for _ in range(20):
        world.step(6)
        check(world)
    fallen = mass * world.gravity * world.time
    assert np.abs(world.momentum() + world.reservoir[0] - p0 - fallen).max() < 1e-11 * (mass * 10)


@given(heap(floor=False))
@settings(max_examples=25, deadline=None)
def test_free_bodies_keep_their_momenta_and_lose_energy(world):
    p, l, energy = world.momentum(), world.angular_momentum(), world.energy().total
    scale = sum(body.mass for body in world.bodies) * 10
    for _ in range(10):
        world.step(12)
        check(world)
        assert np.abs(world.momentum() - p).max() < 1e-12 * scale
        if world.statistics()["depth"] < 1e-12:  # pushing an overlap apart moves bodies, and leaves their momenta alone
            assert np.abs(world.angular_momentum() - l).max() < 1e-11 * scale
    assert world.energy().total <= energy * (1 + 1e-9) + world.ledger.correction


def test_the_checks_see_what_they_should():
    """The failing twin: an impulse outside the cone, a moment outside its bound, a hidden joule."""
    for spoil in ("impulse", "moment", "joule"):
        world = World()
        world.add(HalfSpace(), kind="static")
        world.add(Sphere(0.1), position=(0, 0, 0.1), velocity=(1, 0, 0), friction=0.3, rolling_friction=0.003)
        world.step(10)
        check(world)
        if spoil == "joule":
            world.model.books.energy[0] += 1e-3
        else:
            getattr(world.model.contacts, spoil)[0, 0] += 1.0
        with pytest.raises(AssertionError):
            check(world)


@given(st.floats(0, 2 * math.pi), st.floats(0.5, 3), surface())
@settings(max_examples=12, deadline=None)
def test_no_heading_is_preferred(heading, speed, coefficients):
    """A ball thrown along any heading of a level floor comes as far, and along it."""
    ends = []
    for turn in (0.0, heading):
        c, s = math.cos(turn), math.sin(turn)
        world = World()
        world.add(HalfSpace(), kind="static", **coefficients)
        velocity, spin = (speed * c, speed * s, -0.5), (-4 * s, 4 * c, 3.0)
        world.add(Sphere(0.1), position=(0, 0, 0.3), velocity=velocity, angular_velocity=spin, **coefficients)
        world.step(180)
        x, y, z = world.positions[1]
        ends.append((c * x + s * y, c * y - s * x, z))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
