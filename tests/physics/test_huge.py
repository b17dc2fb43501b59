"""Numbers at the ends of a double, wherever a world takes one: it goes on, or there is one error; NumPy warns of nothing."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator

import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.collision.errors import InputError
from tumble.sim import CentralGravity, ConstantForce, Drag, Hinge, MutualGravity, Recorder, SimulationError, Spring, World
from tumble.sim.checks import LEAST_MASS, MOST_MASS

Act = Callable[[World, float], object]


def hinge(**named: object) -> Act:
    return lambda w, v: w.add_joint(Hinge("a", "b", **{key: v if value is None else value for key, value in named.items()}))


BODY = {
    "mass": lambda v: {"mass": v},
    "density": lambda v: {"density": v},
    "inertia": lambda v: {"inertia": (v, v, v)},
    "velocity": lambda v: {"velocity": (v, 0, -v)},
    "angular_velocity": lambda v: {"angular_velocity": (v, 0, -v)},
    "position": lambda v: {"position": (v, 0, -v)},
    "center_of_mass": lambda v: {"center_of_mass": (v, 0, 0), "inertia": (1, 1, 1)},
    "friction": lambda v: {"friction": v},
    "rolling_friction": lambda v: {"rolling_friction": v},
}
ACTS: dict[str, Act] = {
    "spring": lambda w, v: w.add_force(Spring("a", "b", stiffness=v)),
    "damper": lambda w, v: w.add_force(Spring("a", "b", stiffness=1.0, damping=v)),
    "length": lambda w, v: w.add_force(Spring("a", "b", stiffness=1.0, length=v)),
    "force": lambda w, v: w.add_force(ConstantForce((v, 0, v))),
    "torque": lambda w, v: w.add_force(ConstantForce(torque=(v, 0, v))),
    "point": lambda w, v: w.add_force(ConstantForce((1, 0, 0), point=(v, v, 0))),
    "drag": lambda w, v: w.add_force(Drag(v)),
    "quadratic": lambda w, v: w.add_force(Drag(quadratic=v)),
    "wind": lambda w, v: w.add_force(Drag(1.0, wind=(v, 0, 0))),
    "gm": lambda w, v: w.add_force(CentralGravity(v, (0, 0, -5), gradient=True)),
    "center": lambda w, v: w.add_force(CentralGravity(1.0, (v, 0, -5), gradient=True)),
    "mutual": lambda w, v: w.add_force(MutualGravity(v)),
    "impulse": lambda w, v: w.apply_impulse(w.bodies[1], (v, 0, 0), point=(v, 0, 0)),
    "set velocity": lambda w, v: setattr(w.bodies[1], "velocity", (v, 0, 0)),
    "set position": lambda w, v: setattr(w.bodies[1], "position", (v, 0, 0)),
    "rest": hinge(rest=None, stiffness=1.0),
    "stiffness": hinge(stiffness=None),
    "damping": hinge(damping=None),
    "motor": hinge(motor_speed=None, motor_torque=1.0),
    "torque of a motor": hinge(motor_speed=1.0, motor_torque=None),
    "armature": hinge(armature=None),
}
LARGEST = 1.7e308
HUGE = (1e160, LARGEST)
ALL = (5e-324, 1e-200, 1e-130, 1e130, 1e160, 1e200, LARGEST)
NAMED = ("gravity", "velocity", "position", "impulse", "spring")  # with the largest the first step ends in an error


@pytest.fixture
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings(action="error", category=RuntimeWarning):
        yield


def world(what: str, value: float) -> World:
    """A box on a floor and a ball above it, with the value in its place."""
    out = World(gravity=(0, 0, -value) if what == "gravity" else (0, 0, -9.81))
    out.add(HalfSpace(), kind="static", name="floor")
    given = {"position": (0, 0, 0.31)} | (BODY[what](value) if what in BODY else {})
    out.add(Box((0.1, 0.2, 0.3)), name="a", **given)
    out.add(Sphere(0.1), name="b", position=(0, 0, 0.9))
    ACTS.get(what, lambda *_: None)(out, value)
    return out


def tried(what: str, value: float) -> None:
    """What does not go well is one error, or the ledger and the promises tell it."""
    with contextlib.suppress(InputError, SimulationError):  # a force is asked for its energy when it is added
        one = world(what, value)
        try:
            str(one.run(3 * one.dt, [Recorder(contacts=True, impacts=True)]).summary())
        except SimulationError as told:
            named = re.match("step 1 .* is not finite", str(told)) and "a" in told.names and told.step == 1
        else:
            named = False
        assert named or what not in NAMED or value < LARGEST, "the error that names the body"
        one.contacts(), one.momentum(), one.angular_momentum()
        assert one.ledger.closes or one.promises().missed, str(one.promises())


@pytest.mark.parametrize("what", [*BODY, "gravity", *ACTS])
@pytest.mark.usefixtures("no_warning")
def test_huge_numbers(what):
    for value in HUGE:
        tried(what, value)


@pytest.mark.validate
@pytest.mark.parametrize("what", [*BODY, "gravity", *ACTS])
@pytest.mark.usefixtures("no_warning")
def test_huge_and_tiny_numbers(what):
    for value in ALL:
        tried(what, value), tried(what, -value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mass": 2e140}, r"mass = 2e\+140: must lie between 1e-140 and 1e\+140 kg$"),
        ({"mass": 1e-320}, "mass = 1e-320: must lie between"),
        ({"mass": 1.7e308, "inertia": (1, 1, 1)}, "must lie between 1e-140"),
        ({"density": 1e300}, r"density = 1e\+300: makes a mass of 4.8e\+298 kg, which must lie between"),
        ({"inertia": (2e140,) * 3}, r"inertia = .*: must be at most 1e\+140 kg m\^2"),
        ({"inertia": (1e-150,) * 3}, r"inertia = .*: makes a principal moment of 1e-150 kg m\^2, which must lie between"),
    ],
)
def test_masses_that_can_not_be_reckoned_with(given, message):
    """Squares of their momenta overflowed: eigenvalues that did not converge, and books that were open for no cause."""
    with pytest.raises(InputError, match=message):
        World().add(Box((0.1, 0.2, 0.3)), **given)


@pytest.mark.parametrize("mass", [LEAST_MASS, 1e-100, 1e100, 1e-2 * MOST_MASS])
@pytest.mark.usefixtures("no_warning")
def test_the_least_and_the_largest_masses_fall_as_others(mass):
    out = World(dt=1 / 60)
    out.add(Box((0.1, 0.2, 0.3)), mass=mass, inertia=(max(mass, LEAST_MASS),) * 3, velocity=(1, 2, 3))
    out.step(60)
    assert out.ledger.closes
    assert out.positions[0, 0] == pytest.approx(1.0)
    assert out.energy().kinetic_linear == pytest.approx(0.5 * mass * (1 + 4 + (3 - 9.81) ** 2))
