"""Coordinates of mechanisms with loops: where some are set, the others follow."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble import Box, Hinge, World
from tumble.collision.errors import InputError
from tumble.scenarios.registry import load
from tumble.sim.joints.mechanism import mechanism as view
from tumble.sim.state import GEAR

CRANK, COUPLER, ROCKER, GROUND = 0.3, math.hypot(1.1, 0.5), math.hypot(0.1, 0.8), 1.0


def coupler_angle(crank: float) -> float:
    """Of four bars, by the law of cosines: the angle from the crank to the coupler, in the plane x z, about y."""
    end = CRANK * np.array([math.sin(crank), math.cos(crank)])
    way = np.array([GROUND, 0.0]) - end
    far = float(np.linalg.norm(way))
    inner = math.acos((far**2 + COUPLER**2 - ROCKER**2) / (2 * far * COUPLER))
    return math.atan2(way[0], way[1]) - inner - crank


@pytest.mark.parametrize("crank", [0.3, 1.0, 2.5, 4.0, -1.0])
def test_the_other_bars_follow_the_crank(crank, monkeypatch):
    """Twin: without loops the last hinge stays open until the world begins, and then the crank is moved to close it."""
    world = load("four_bar")().build()
    arm = world.mechanism()
    start = coupler_angle(0.0)
    arm.qpos = [crank, *arm.qpos[1:]]
    assert arm.qpos[0] == pytest.approx(crank, abs=1e-14)
    assert arm.closed() < 1e-12
    turned = arm.qpos[1] - (coupler_angle(crank) - start)
    assert math.remainder(turned, 2 * math.pi) == pytest.approx(0.0, abs=1e-12)
    monkeypatch.setattr(view, "loops_of", lambda *_: None)
    twin = load("four_bar")().build()
    twin.mechanism().qpos = [crank, 0.0, 0.0]
    assert twin.mechanism().closed() > 0.1


def test_rates_follow_too():
    """As those of a crank that goes on a little."""
    world = load("four_bar")().build()
    arm = world.mechanism()
    arm.set([0.7, *arm.qpos[1:]], [1.5, 0.0, 0.0])
    rates, h, near = arm.qvel, 1e-6, []
    for crank in (0.7 - h, 0.7 + h):
        arm.qpos = [crank, *arm.qpos[1:]]
        near.append(arm.qpos)
    assert rates == pytest.approx(1.5 * (near[1] - near[0]) / (2 * h), rel=1e-7)


def test_six_legs_carry_a_platform():
    """Their lengths are set, and the rest follows; balls too, whose coordinates are quaternions."""
    world = load("stewart_platform")().build()
    platform = world.mechanism()
    rates = [platform.names.index(f"drive_{k}") for k in range(1, 7)]
    places = [k if k < platform.names.index("head_1.turn_x") else k + 1 for k in rates]
    q = platform.qpos
    wanted = q[places] + 0.02 * np.array([1.0, -0.5, 0.3, 0.8, -0.2, 0.6])
    q[places] = wanted
    platform.qpos = q
    assert platform.qpos[places] == pytest.approx(wanted, abs=1e-12)
    assert platform.closed() < 1e-11
    world.step()
    assert world.ledger.closes


def test_wheels_follow_the_one_that_is_set():
    world = load("gear_train")().build()
    train = world.mechanism()
    q = train.qpos
    assert (world.model.joints.kind == GEAR).any()
    q[0] += 0.4
    train.qpos = q
    assert train.closed() < 1e-12
    assert (np.abs(train.qpos - q) > 0.05).any()
    world.step()


def test_what_is_all_but_closed_is_as_given():
    """As from a file of few digits: the world closes it when it begins."""
    world = load("four_bar")().build()
    arm = world.mechanism()
    arm.qpos = [0.3, *arm.qpos[1:]]
    given = arm.qpos.round(3)
    arm.qpos = given
    assert arm.qpos == pytest.approx(given, abs=1e-14)
    assert 1e-6 < arm.closed() < 1e-3
    world.step()
    assert arm.closed() < 1e-12
    assert arm.qpos == pytest.approx(given, abs=5e-3)


def test_what_can_not_be_closed_is_refused():
    """Of a crank of 1 m with a coupler of 1.9 m to a pivot 2.9 m away, which has one pose; and where bars are set against each
    other. Nothing moves."""
    world = World(gravity=(0, 0, 0))
    world.add(Box((0.5, 0.05, 0.05)), name="a", position=(0.5, 0, 0))
    world.add(Box((0.95, 0.05, 0.05)), name="b", position=(1.95, 0, 0))
    for name, a, b, x in (("crank", None, "a", 0.0), ("knee", "a", "b", 1.0), ("pin", None, "b", 2.9)):
        world.add_joint(Hinge(a, b, anchor=(x, 0, 0), axis=(0, 1, 0), name=name))
    stretched = world.mechanism()
    why = r"qpos = \[2.5, 0.0\]: leaves joint pin open by 5.22, and no pose near closes it: of pin, knee, crank set what leads"
    with pytest.raises(InputError, match=why):
        stretched.qpos = [2.5, 0.0]
    assert (stretched.qpos == 0.0).all()
    arm = load("four_bar")().build().mechanism()
    with pytest.raises(InputError, match="leaves joint hinge_3 open by 0.598"):
        arm.qpos = [0.3, 0.5, 0.7]
    assert arm.qpos == pytest.approx([0.0, 0.0, 0.0], abs=1e-14)
