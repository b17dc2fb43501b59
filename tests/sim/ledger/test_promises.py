"""A world says what it missed of what is promised, and says nothing where it missed nothing."""

from __future__ import annotations

import pytest

from tumble.collision import Box, Capsule, Compound, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Pose, Sphere
from tumble.scenarios.showing.report import table
from tumble.sim import Scene, World
from tumble.sim.ledger.entries import CONTACT
from tumble.sim.ledger.promises import thickness


def ball(**more) -> World:
    world = World(**more)
    world.add(HalfSpace(), kind="static")
    world.add(Sphere(0.1), position=(0, 0, 0.5), restitution=1.0)
    return world


def test_a_bouncing_ball_keeps_all():
    world = ball()
    world.step(480)
    assert world.promises().missed == []
    assert str(world.promises()) == "all kept"


def test_a_coarse_tolerance_is_not_hidden():
    """Unsolved is against the tolerance that was asked for: what nothing can reach is missed in every solve that bears load."""
    world = World(tolerance=1e-30)
    world.add(HalfSpace(), kind="static")
    world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1), angular_velocity=(0, 0, 1), velocity=(1, 0, 0))
    world.step(20)
    found = world.promises()
    assert found.unsolved > 0
    assert found.missed == [f"{found.unsolved} of {found.solves} solves unsolved, off by up to {found.residual:.1e} m/s"]


def test_an_overlap_is_told_as_a_part_of_the_body():
    scene = Scene(allow_overlap=True)
    scene.add(HalfSpace(), kind="static")
    scene.add(Cylinder(0.1, 0.01), position=(0, 0, 0.009))
    world = scene.build()
    world.step()
    assert world.promises().part == pytest.approx(0.05)
    assert "overlap up to 1.0e-03 m, 5 % of the smallest body" in world.promises().missed


@pytest.mark.parametrize(
    ("spoil", "word"), [("contact", "contacts gave"), ("gain", "an impact gained"), ("books", "do not close")]
)
def test_what_is_spoiled_is_said(spoil, word):
    world = ball()
    world.step(100)
    if spoil == "contact":  # a hidden entry of both signs, so that the books go on to close
        world.model.books.energy[CONTACT] += 1e-3
        world._start -= 1e-3
    elif spoil == "gain":
        world.model.books.worst[2] = 0.02
    else:
        world.model.books.energy[CONTACT] += 1e-7
    assert [what for what in world.promises().missed if word in what]


def test_a_run_says_it_in_its_summary_and_below_the_table():
    scene = Scene(name="sunk", allow_overlap=True)
    scene.add(HalfSpace(), kind="static")
    scene.add(Sphere(0.1), position=(0, 0, 0.09))
    summary = scene.build().run(0.1).summary()
    assert summary["missed"][0] == "overlap up to 1.0e-02 m, 5 % of the smallest body"
    assert "overlap up to" in table([{**summary, "scenario": "sunk"}])
    kept = ball().run(0.5).summary()
    assert kept["missed"] == []
    assert "overlap up to" not in table([kept])


@pytest.mark.parametrize(
    ("shape", "least"),
    [
        (Sphere(0.1), 0.2),
        (Box((0.1, 0.2, 0.05)), 0.1),
        (Capsule(0.1, 0.01), 0.2),
        (Cylinder(0.1, 0.01), 0.02),
        (Cone(0.1, 0.3), 0.2),
        (Ellipsoid((0.3, 0.2, 0.1)), 0.2),
        (ConvexHull([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)]), 1.0),
        (ConvexHull([(0, 0, 0), (1, 0, 0), (0, 2, 0)]), 1.0),
        (ConvexHull([(0, 0, 0)]), float("inf")),
        (Compound([(Box((1, 1, 1)), Pose()), (Sphere(0.1), Pose((2, 0, 0)))]), 0.2),
        (HalfSpace(), float("inf")),
    ],
)
def test_thickness(shape, least):
    assert thickness(shape) == pytest.approx(least)
