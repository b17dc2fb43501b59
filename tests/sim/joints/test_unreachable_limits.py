"""Limits that no pose meets are told where a world begins; any that one meets are taken as they are."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tumble import Box, Distance, Hinge, Slider, Sphere, World, load
from tumble.sim.errors import SimulationError
from tumble.sim.joints.velocity_solve import SURPRISE
from tumble.sim.world.parts import stepping

NOWHERE = "is {} beyond its limits {}, and there is no pose near in which all joints are within theirs"


def chain(count: int = 2) -> World:
    """Bars of 1 m one after the other from a pivot."""
    world = World()
    for k in range(count):
        world.add(Box((0.5, 0.05, 0.05)), name=f"bar_{k}", position=(k + 0.5, 0, 0))
        world.add_joint(Hinge(f"bar_{k - 1}" if k else None, f"bar_{k}", anchor=(k, 0, 0), axis=(0, 1, 0), name=f"hinge_{k}"))
    return world


def two_ropes() -> World:
    """Of 1 m, to a ball between two points 10 m apart."""
    world = World()
    world.add(Sphere(0.1), name="ball")
    for name, x in (("left", -5), ("right", 5)):
        world.add_joint(Distance(None, "ball", anchor_a=(x, 0, 0), anchor_b=(0, 0, 0), name=name, limits=(0, 1)))
    return world


def short_rope() -> World:
    world = chain()
    world.add_joint(Distance(None, "bar_1", anchor_a=(5, 0, 0), anchor_b=(2, 0, 0), limits=(0, 1), name="rope"))
    return world


def stretched() -> World:
    """Bars that a second pivot holds straight."""
    world = chain()
    world.add_joint(Hinge(None, "bar_1", anchor=(2, 0, 0), axis=(0, 1, 0), name="end", limits=(1, 2)))
    return world


def held_slider() -> World:
    """Of a body that a pivot holds too."""
    world = chain(1)
    world.add_joint(Slider(None, "bar_0", axis=(0, 0, 1), anchor=(0, 0, 0), name="slider", limits=(1, 2)))
    return world


@pytest.mark.parametrize(
    ("made", "joint", "off", "limits"),
    [(two_ropes, "left", 4, "(0.0, 1.0)"), (short_rope, "rope", 2, "(0.0, 1.0)"), (stretched, "end", 1, "(1.0, 2.0)"),
     (held_slider, "slider", 1, "(1.0, 2.0)")],
)  # fmt: skip
def test_limits_that_no_pose_meets(made, joint, off, limits, monkeypatch):
    """The twin goes without the question: it is thrown away, torn, or stays beyond its limits without a word."""
    world = made()
    with pytest.raises(SimulationError) as error:
        world.step()
    assert str(error.value) == f"joint {joint} {NOWHERE.format(off, limits)}"
    assert error.value.names == (joint,)
    monkeypatch.setattr(stepping.Stepping, "_check_stops", lambda *_: None)
    twin, told = made(), ""
    try:
        twin.step(20)
    except SimulationError as torn:
        told = str(torn)
    beyond = max(max(j.limits[0] - j.position, j.position - j.limits[1]) for j in twin.joints if j.limits)
    assert "is open by" in told or beyond > 0.5


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0.01, 3)), min_size=1, max_size=4))
def test_what_hangs_free_meets_any_limits(ranges):
    world = chain(len(ranges))
    for joint, (low, wide) in zip(world.joints, ranges, strict=True):
        joint.limits = low, low + wide
    world.step()
    # of each of the five rigid coordinates SURPRISE may be left where a joint is taken back from a stop; the error is their norm
    assert max(joint.error for joint in world.joints) < math.sqrt(5) * SURPRISE


def test_a_chain_is_led_to_its_limits_by_small_turns():
    """All at once, by a radian each, it lost its way and was refused."""
    world = chain(3)
    for joint, low, high in zip(world.joints, (1.51046, 2.99702, -2.34953), (2.96083, 4.68824, -2.20809), strict=True):
        joint.limits = low, high
    world.step()


@pytest.mark.parametrize(("low", "high", "reached"), [(0.3, 0.6, True), (0.1, 2.0, True), (3.0, 3.1, False)])
def test_bars_in_a_loop_meet_what_the_loop_allows(low, high, reached):
    world = load("four_bar")().build()
    world.joints[2].limits = low, high
    if reached:
        world.step(300)
        assert low - 1e-9 <= world.joints[2].position <= high + 1e-9
    else:
        with pytest.raises(SimulationError, match="joint hinge_2 is 3 beyond its limits"):
            world.step()


def test_it_is_asked_where_a_turn_is_far():
    """Half a turn and more, whose tangent goes another way."""
    world = chain()
    world.joints[0].limits = -math.pi, -0.9 * math.pi
    world.step(120)
    assert world.joints[0].position == pytest.approx(-0.9 * math.pi, abs=1e-6) or world.joints[0].position < -0.9 * math.pi
