"""Machines in their own coordinates: against closed forms, and the recording of the world itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tumble.collision import Box, Cylinder, Sphere
from tumble.collision.errors import InputError
from tumble.scenarios.files.scene_files import load_scene, save_scene
from tumble.sim import (
    Actuator,
    Distance,
    Drive,
    Fixed,
    Gear,
    General,
    Hinge,
    Point,
    Scene,
    Screw,
    Slider,
    Universal,
    Wheel,
    World,
    Worlds,
)
from tumble.sim.joints.mechanism.actuators import Controls

ROD = dict(mass=1.0, inertia=(0.01, 0.09, 0.09))


def arm(dt: float = 1 / 500, **more) -> World:
    """Two rods of 1 m and 1 kg in a vertical plane, hanging level on hinges."""
    world = World(dt=dt)
    for k in range(2):
        world.add(Box((0.5, 0.05, 0.05)), name=f"rod{k}", position=(0.5 + k, 0, 0), **ROD)
    world.add_joint(Hinge(None, "rod0", anchor=(0, 0, 0), axis=(0, 1, 0), name="shoulder", **more))
    world.add_joint(Hinge("rod0", "rod1", anchor=(1, 0, 0), axis=(0, 1, 0), name="elbow", limits=(-2, 2)))
    return world


def test_double_pendulum():
    """Mass matrix and bias forces of the textbook, as functions of the angles."""
    m = arm(armature=0.3).mechanism()
    assert (m.names, m.nq, m.nv) == (("shoulder", "elbow"), 2, 2)
    assert m.limits.tolist() == [[-math.inf, math.inf], [-2, 2]]
    q, v = np.array([0.4, -0.9]), np.array([1.3, -0.7])
    c, i = math.cos(q[1]), 0.09
    h = 0.5 * math.sin(q[1])
    expected = [[0.25 + i + 1 + 0.25 + c + i + 0.3, 0.25 + 0.5 * c + i], [0.25 + 0.5 * c + i, 0.25 + i]]
    assert m.mass_matrix(q) == pytest.approx(np.array(expected), rel=1e-14)
    lean = [-9.81 * (1.5 * math.cos(q[0]) + 0.5 * math.cos(q.sum())), -9.81 * 0.5 * math.cos(q.sum())]
    bias = np.array([-h * (2 * v[0] * v[1] + v[1] ** 2), h * v[0] ** 2]) + lean
    assert m.bias_forces(q, v) == pytest.approx(bias, rel=1e-13)
    a = np.array([0.3, 2.0])
    assert m.accelerations(m.inverse_dynamics(a, q, v), q, v) == pytest.approx(a, rel=1e-12)


def test_setting_and_reaching():
    world = arm()
    m = world.mechanism("rod1")
    m.set([7.0, -0.5], [1.0, 2.0])
    assert m.qpos == pytest.approx([7.0, -0.5], abs=1e-14)  # more than a turn is counted
    assert m.qvel == pytest.approx([1, 2], abs=1e-14)
    tip = m.point("rod1", (0.5, 0, 0))
    world.step(1)
    moved = (m.point("rod1", (0.5, 0, 0)) - tip) * 500
    assert moved == pytest.approx((m.jacobian("rod1", (0.5, 0, 0)) @ m.qvel)[:3], abs=0.05)
    found = m.inverse_kinematics("rod1", (1.2, 0, 0.7), (0.5, 0, 0), start=[0.1, 1.0])
    assert m.point("rod1", (0.5, 0, 0), found) == pytest.approx((1.2, 0, 0.7), abs=1e-9)
    assert -2 <= found[1] <= 2
    with pytest.raises(InputError, match="is out of reach: rod1 comes within 1"):
        m.inverse_kinematics("rod1", (3, 0, 0), (0.5, 0, 0))
    with pytest.raises(InputError, match="must be 2 finite numbers"):
        m.qpos = [1, 2, 3]
    with pytest.raises(InputError, match="is no link"):
        m.point("rod3")


def test_rotor():
    """A pendulum with a rotor swings as one of so much larger moment of inertia, to 1e-11; without it, not."""

    def swung(dt: float, armature: float) -> float:
        world = World(dt=dt)
        world.add(Box((0.5, 0.05, 0.05)), name="rod", position=(0.5, 0, 0), **ROD)
        joint = world.add_joint(Hinge(None, "rod", axis=(0, 1, 0), armature=armature))
        world.step(round(1 / dt))
        assert world.ledger.closes
        return joint.angle

    exact = solve_ivp(
        lambda t, y: (y[1], 9.81 * 0.5 * math.cos(y[0]) / (0.25 + 0.09 + 0.5)), (0, 1), (0, 0), rtol=1e-12, atol=1e-12
    ).y[0, -1]
    assert swung(1 / 20, 0.5) == pytest.approx(exact, abs=1e-7)
    assert swung(1 / 250, 0.5) == pytest.approx(exact, abs=2e-11)
    assert abs(swung(1 / 500, 0.0) - exact) > 0.1


def wheels(world: World, teeth: tuple[int, int], centers, axes, carrier: str | None = None) -> None:
    for side, center, axis in zip("ab", centers, axes, strict=True):
        turn = (1, 0, 0, 0) if axis[2] else (math.sqrt(0.5), 0, math.sqrt(0.5), 0)
        world.add(Cylinder(0.1, 0.02), name=side, position=center, orientation=turn, mass=1.0)
        world.add_joint(Hinge(carrier, side, anchor=center, axis=axis, name=f"axle_{side}"))
    a, b = teeth
    world.add_joint(
        Gear("a", "b", center_a=centers[0], center_b=centers[1], axis_a=axes[0], axis_b=axes[1], teeth_a=a, teeth_b=b)
    )


Z, X = (0, 0, 1), (1, 0, 0)


@pytest.mark.parametrize(
    ("teeth", "centers", "axes", "ratio"),
    [
        ((20, 50), [(0, 0, 0), (0.7, 0, 0)], (Z, Z), -20 / 50),
        ((20, -60), [(0, 0, 0), (0.4, 0, 0.1)], (Z, Z), 20 / 60),  # in a ring, whose plane is off
        ((20, 40), [(0, 0, -0.2), (0.1, 0, 0)], (Z, X), 1 / 2),  # bevel gears; both turn about axes that point at each other
    ],
)
def test_gears(teeth, centers, axes, ratio):
    """Speeds as the teeth say, angles kept over many turns to rounding, energy kept; a torque on one is felt by the other."""
    world = World(gravity=(0, 0, 0), dt=1 / 200, integrator="exact")  # RK4 turns a wheel by (w dt)^4/120 too little
    wheels(world, teeth, centers, axes)
    world["a"].angular_velocity = tuple(30.0 * np.array(axes[0]))
    a, b, gear = world.joints
    world._begin()
    start = world.energy().total
    world.step(1000)
    assert abs(b.speed / a.speed) == pytest.approx(abs(ratio), rel=1e-12)
    assert b.position == pytest.approx(math.copysign(ratio, b.position * a.position) * a.position, abs=1e-10)
    if axes[0] == axes[1]:
        assert b.speed / a.speed == pytest.approx(ratio, rel=1e-12)
    assert abs(a.position) > 20
    assert gear.error < 1e-12
    assert world.energy().total == pytest.approx(start, rel=1e-12)
    assert world.statistics()["unsolved"] == 0


def test_planetary_gear():
    """Willis: sun s, ring r held, carrier c: w_c = w_s s/(s + r). The planet's carrier moves, and takes the teeth's forces."""
    world = World(gravity=(0, 0, 0), dt=1 / 400, integrator="exact")
    for name, x, radius in (("sun", 0.0, 0.1), ("planet", 0.3, 0.2), ("carrier", 0.0, 0.05)):
        world.add(Cylinder(radius, 0.02), name=name, position=(x, 0, 0), mass=1.0, mask=0)
    for a, b, x in ((None, "sun", 0.0), (None, "carrier", 0.0), ("carrier", "planet", 0.3)):
        world.add_joint(Hinge(a, b, anchor=(x, 0, 0), axis=Z, name=b))
    world.add_joint(Gear("sun", "planet", center_b=(0.3, 0, 0), teeth_a=12, teeth_b=24))
    world.add_joint(Gear(None, "planet", center_b=(0.3, 0, 0), teeth_a=-60, teeth_b=24))
    world["sun"].angular_velocity = (0, 0, 12.0)
    world.step(800)
    sun, carrier, planet = world.joints[:3]
    assert carrier.speed == pytest.approx(sun.speed * 12 / 72, rel=1e-11)
    assert planet.position == pytest.approx(-(sun.position - carrier.position) / 2, rel=1e-10)
    assert max(joint.error for joint in world.joints) < 1e-12


@pytest.mark.parametrize("pitch", [0.05, -0.2])
def test_screw(pitch):
    """A nut that falls along a bolt spins up: a = g m / (m + I/lead^2)."""
    world = World(dt=1 / 400, integrator="exact")
    world.add(Cylinder(0.1, 0.05), name="nut", mass=2.0, inertia=(0.02, 0.02, 0.01))
    world.add_joint(General(None, "nut", axis=X, free=("z", "turn_z"), name="guide"))
    world.add_joint(Screw(None, "nut", axis=Z, pitch=pitch))
    world.step(400)
    lead = pitch / (2 * math.pi)
    fall = -9.81 * 2 / (2 + 0.01 / lead**2)
    assert world["nut"].velocity[2] == pytest.approx(fall, rel=1e-9)
    assert world["nut"].angular_velocity[2] == pytest.approx(fall / lead, rel=1e-9)
    assert world.joints[1].error < 1e-12


def test_universal():
    """Two shafts at an angle: tan(out) = cos(angle) tan(in), the law of Cardan's joint; the arm of the first shaft is along z.

    It is (0, -sin in, cos in), that of the second (-sin(bend) cos out, cos(bend) cos out, sin out); both are perpendicular.
    """
    world = World(gravity=(0, 0, 0), dt=1 / 500)
    bend = math.radians(30)
    out = (math.cos(bend), math.sin(bend), 0)
    world.add(Cylinder(0.05, 0.1), name="in", position=(-0.2, 0, 0), mass=1.0, angular_velocity=(5, 0, 0), mask=0)
    world.add(Cylinder(0.05, 0.1), name="out", position=tuple(0.2 * x for x in out), mass=1.0, mask=0)
    first = world.add_joint(Hinge(None, "in", anchor=(-0.2, 0, 0), axis=X))
    second = world.add_joint(Hinge(None, "out", anchor=tuple(0.2 * x for x in out), axis=out))
    cross = world.add_joint(Universal("in", "out", axis=Z, axis_b=(-math.sin(bend), math.cos(bend), 0)))
    for _ in range(5):
        world.step(60)
        expected = math.atan2(math.cos(bend) * math.sin(first.angle), math.cos(first.angle))
        assert math.remainder(second.angle - expected, 2 * math.pi) == pytest.approx(0, abs=1e-10)
        assert abs(math.remainder(second.angle - first.angle, 2 * math.pi)) > 1e-3  # twin: it is no rigid shaft
    assert cross.error < 1e-12
    with pytest.raises(InputError, match="must be perpendicular"):
        Universal("a", "b", axis=Z, axis_b=(0, 1, 1))


def test_wheel():
    """A suspended wheel bobs at w = sqrt(k/m); a drive on its axle spins it up.

    Beside a friction, however small, springs act at the steps: the trapezoidal rule has x[n+1] - 2 x[n] + x[n-1] =
    -(w dt)^2 (x[n+1] + 2 x[n] + x[n-1])/4, solved by sin(n a) with tan(a/2) = w dt/2; a start at rest length with the mean
    velocity v gives it the amplitude v dt/sin(a).
    """
    dt, w, turn = 1 / 1000, 20.0, 2 * math.atan(20.0 / 2000)
    smooth, stepped = math.sin(w * 0.5) / w, dt / math.sin(turn) * math.sin(500 * turn)
    assert abs(smooth - stepped) > 1e-5
    assert bobbed(0.0, dt, w) == pytest.approx(smooth, abs=1e-12)
    assert bobbed(1e-300, dt, w) == pytest.approx(stepped, abs=1e-12)


def bobbed(friction: float, dt: float, w: float) -> float:
    """Where the wheel is after 500 steps."""
    world = World(gravity=(0, 0, 0), dt=dt)
    world.add(Sphere(0.2), name="wheel", mass=2.0, velocity=(0, 0, 1.0), inertia=(0.05, 0.05, 0.05))
    spring = world.add_joint(Wheel(None, "wheel", axis=(0, 1, 0), stiffness=2 * w * w, rest=0.0, friction=friction))
    world.add_joint(Drive(None, "wheel", axis=(0, 1, 0), axis_y=Z, driven="turn_x", name="axle"))
    world.add_actuator(Actuator("throttle", "axle", control_range=(-1, 1), gain=2.0))
    world.controls["throttle"] = 5.0
    assert world.controls["throttle"] == 1.0
    world.step(500)
    assert world["wheel"].angular_velocity[1] == pytest.approx(2.0 / 0.05 * 0.5, rel=1e-9)
    assert world.ledger.closes
    with pytest.raises(InputError, match="there is no such actuator; there are throttle"):
        world.controls["brake"] = 1
    return spring.position


@pytest.mark.parametrize("flown", [True, False])
def test_servo(flown):
    """A position servo holds against gravity at k (u - q) = torque; one whose force is bounded slips; both are kept in files.

    In flight it holds exactly. At the steps, where friction keeps it, the rod falls and comes back between two, by
    T t(dt - t)/2I, T dt^2/12I in the mean: so much lower is the place that gives the torque.
    """

    def load(q: float) -> float:
        torque = 0.0 if flown else 9.81 * 0.5 * math.cos(q - 0.25)
        return -9.81 * 0.5 * math.cos(q - 0.25 - torque / (0.25 + 0.09) / 500**2 / 12)

    scene = Scene(dt=1 / 500)
    scene.add(Box((0.5, 0.05, 0.05)), name="rod", position=(0.5, 0, 0), **ROD)
    given = {"damping": 3.0, "reference": 0.25, "friction": 0.0 if flown else 1e-300}
    scene.add_joint(Hinge(None, "rod", axis=(0, 1, 0), name="elbow", **given))
    scene.add_actuator(Actuator("servo", "elbow", gain=50.0, bias=(0, -50.0, -2.0)))
    again = Scene.from_dict(scene.to_dict())
    assert again == scene
    world = again.build()
    world.controls["servo"] = 0.4
    world.step(4000)
    q = world.joints[0].position
    assert world.model.joints.sprung[0] == flown
    assert 50 * (0.4 - q) == pytest.approx(load(q), rel=1e-12 if flown else 1e-9)
    assert world.ledger.closes
    weak = scene.build()
    weak.add_actuator(Actuator("push", "elbow", gain=1e3, force_range=(-1.0, 1.0)))
    weak.controls["push"] = -1.0
    strong = weak.joints[0]
    weak.step(4000)
    assert 50 * (0 - strong.position) - 1 == pytest.approx(load(strong.position), rel=1e-12 if flown else 1e-6)


def test_actuated_joints_are_tuned():
    """What is changed of a joint keeps its ``reference`` and what its actuators do; its motor is theirs."""
    world = arm(reference=0.5, limits=(-3.0, 3.0))
    shoulder = world.joints[0]
    world.add_actuator(Actuator("servo", "shoulder", gain=50.0, bias=(0, -50.0, -9.0)))
    world.controls["servo"] = 0.8
    shoulder.limits = (-1.0, 1.0)
    assert world.mechanism().limits[0] == pytest.approx((-1, 1))
    shoulder.damping = 1.0
    joints = world.model.joints
    assert (joints.stiffness[0], joints.damping[0], joints.rest[0]) == pytest.approx((50, 10, 0.3))
    shoulder.stiffness = 50.0  # slack where it was made, at 0.5
    assert (joints.stiffness[0], joints.rest[0]) == pytest.approx((100, (0.5 + 0.8) / 2 - 0.5))
    with pytest.raises(InputError, match=r"is driven by actuators: set world\.controls"):
        shoulder.motor_torque = 1.0
    with pytest.raises(InputError, match="is not for a distance"):
        Distance(None, "a", reference=1.0)


def test_controls_in_batches():
    """Members with forces that are worked out before each step go as alone; a reset brings controls back."""
    scene = Scene(dt=1 / 500)
    scene.add(Box((0.5, 0.05, 0.05)), name="rod", position=(0.5, 0, 0), **ROD)
    scene.add_joint(Hinge(None, "rod", axis=(0, 1, 0), name="elbow"))
    scene.add_actuator(Actuator("servo", "elbow", gain=50.0, bias=(0, -50.0, -2.0), force_range=(-6.0, 6.0)))
    alone, many = scene.build(), Worlds(scene, 2)
    alone.step(1)
    many.step(1)
    for world in (alone, many[0]):
        world.controls["servo"] = -0.4
        assert world.controls.explicit
    alone.step(50)
    many.step(50)
    assert many[0].state_hash() == alone.state_hash()
    assert many[1].state_hash() != alone.state_hash()
    many.reset()
    assert many[0].controls["servo"] == 0.0
    many.step(50)
    assert many[0].state_hash() == many[1].state_hash()


def test_saved(tmp_path):
    """Controls, gears and bodies that pass through each other go on bit for bit."""
    world = arm()
    world.add(Sphere(0.1), name="ghost", position=(9, 9, 9), mass=1.0)
    world.exclude("ghost", "rod0")
    world.add_actuator(Actuator("m", "elbow"))
    world.controls["m"] = 3.0
    world.step(50)
    world.save(tmp_path / "a.npz")
    other = World.load(tmp_path / "a.npz")
    assert other.controls["m"] == 3.0
    world.step(50)
    other.step(50)
    assert other.state_hash() == world.state_hash()


def held_arm(dt: float) -> World:
    """Two links whose elbow a servo within a range of force drives, and whose joints a spring with a damper ties together."""
    world = arm(dt=dt)
    world.add_actuator(Actuator("servo", "elbow", gain=40.0, bias=(0.0, -40.0, -1.0), force_range=(-6.0, 6.0)))
    tie = {"tendon": ("elbow",), "coefficients": (1.0, -0.5), "bias": (0.5, -20.0, -0.5)}
    world.add_actuator(Actuator("tie", "shoulder", gain=0.0, **tie))
    world.controls["servo"] = 0.3
    world.mechanism().set([0.4, -0.3], [0.5, 1.0])
    return world


def test_forces_that_follow_the_state_are_of_order_two(monkeypatch, tmp_path):
    """Twin: with the force of the beginning of a step, kept for it, they are of order one. A world that is saved goes on."""

    def angles(dt: float) -> np.ndarray:
        world = held_arm(dt)
        world.step(round(0.5 / dt))
        return world.mechanism().qpos

    def order() -> float:
        a, b, c = (angles(1 / rate) for rate in (500, 1000, 2000))
        return float(np.log2(np.linalg.norm(a - b) / np.linalg.norm(b - c)))

    assert order() == pytest.approx(2.0, abs=0.25)
    world = held_arm(1 / 500)
    world.step(7)
    world.save(tmp_path / "held.npz")
    other = World.load(tmp_path / "held.npz")
    world.step(20)
    other.step(20)
    assert other.state_hash() == world.state_hash()
    monkeypatch.setattr(Controls, "_coming_force", Controls._force)
    assert order() < 1.4


def test_controls_as_arrays():
    """Set and read as one; a wrong number of them is told; forces are those that the joints then feel."""
    world = arm()
    for name, joint in (("lift", "shoulder"), ("bend", "elbow")):
        world.add_actuator(Actuator(name, joint, gain=10.0, bias=(0, -10.0, 0), gear=2.0, force_range=(-30.0, 30.0)))
    world.controls[:] = np.array([0.5, -4.0])
    assert dict(world.controls) == {"lift": 0.5, "bend": -4.0}
    assert world.controls.forces() == {"lift": pytest.approx(2 * 5.0), "bend": -60.0}
    world.controls[1:] = [0.25]
    assert list(world.controls.values()) == [0.5, 0.25]
    with pytest.raises(InputError, match="must be 2 numbers, one for each actuator"):
        world.controls[:] = [1.0, 2.0, 3.0]


def test_controls_over_time(tmp_path):
    """A torque that grows with time turns a wheel by t^3/6, of order 2 in the step; in files, worlds saved and loaded too."""

    def turned(dt: float) -> float:
        scene = Scene(gravity=(0, 0, 0), dt=dt)
        scene.add(Cylinder(0.1, 0.02), name="wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
        scene.add_joint(Hinge(None, "wheel", axis=(0, 0, 1), name="axle"))
        scene.add_actuator(Actuator("motor", "axle", times=(0.0, 1.0, 9.0), controls=(0.0, 2.0, 2.0)))
        save_scene(scene, tmp_path / "a.toml")
        assert load_scene(tmp_path / "a.toml") == scene
        world = scene.build()
        world.step(round(0.5 / dt))
        world.save(tmp_path / "a.npz")
        world = World.load(tmp_path / "a.npz")
        world.step(round(0.5 / dt))
        with pytest.raises(InputError, match="goes by its times"):
            world.controls["motor"] = 1.0
        assert world.ledger.closes
        return world.joints[0].angle

    errors = [abs(turned(dt) - 1 / 6) for dt in (1 / 100, 1 / 200)]
    assert errors[1] < 1e-5
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05)
    for wrong, says in (
        ({"times": (0, 1), "controls": (1,)}, "must be 2 numbers, one for each time"),
        ({"times": (0, 0), "controls": (1, 2)}, "must be rising"),
        ({"times": (0, 1)}, "must be a list of numbers"),
    ):
        with pytest.raises(InputError, match=says):
            Actuator("m", "axle", **wrong)


def test_scene_file(tmp_path):
    """All new joints by their keys, to a file and back."""
    body = {"shape": {"type": "sphere", "radius": 0.1}, "mass": 1.0}
    scene = Scene.from_dict(
        {
            "allow_overlap": True,
            "bodies": [{**body, "name": "a"}, {**body, "name": "b", "position": [1, 0, 0]}],
            "joints": [
                {"type": "general", "b": "a", "free": ["x", "turn_x"], "driven": "x", "limits": [-1, 1]},
                {"type": "drive", "b": "a", "driven": "turn_x", "stiffness": 2.0, "name": "d"},
                {"type": "wheel", "a": "a", "b": "b", "axis": [0, 1, 0]},
                {"type": "universal", "a": "a", "b": "b", "axis": [0, 0, 1], "axis_b": [1, 0, 0]},
                {"type": "gear", "a": "a", "b": "b", "center_b": [1, 0, 0], "teeth_a": 3, "teeth_b": 4},
                {"type": "screw", "b": "a", "pitch": 0.1},
            ],
            "actuators": [{"name": "m", "joint": "d", "gear": 2.0}],
        }
    )
    save_scene(scene, tmp_path / "a.toml")
    assert load_scene(tmp_path / "a.toml") == scene
    assert [type(j).__name__ for j in scene.joints] == ["General", "Drive", "Wheel", "Universal", "Gear", "Screw"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Gear("a", "b", center_b=(1, 0, 0), teeth_a=0, teeth_b=3), "teeth_a = 0: must be a whole number of teeth"),
        (lambda: Gear("a", "b", center_b=(0, 0, 1), teeth_a=2, teeth_b=3), "must be off the axis of a"),
        (lambda: Gear("a", "b", center_b=(1, 0, 1), axis_b=X, teeth_a=2, teeth_b=3), "does not fit 2:3 teeth"),
        (lambda: Screw("a", "b"), "pitch = 0.0: must not be zero"),
        (lambda: General("a", "b", free=("up",)), "must be a list of some of x, y, z"),
        (lambda: General("a", "b", free=("x",), driven="y"), "must be a coordinate that is free: x"),
        (lambda: General("a", "b", free=("x", "y"), stiffness=1.0), "must say which coordinate is meant"),
        (lambda: Actuator("m", "j", gear=0.0), "the joint would feel nothing"),
        (lambda: Hinge("a", "b", armature=-1.0), "armature = -1.0"),
    ],
)
def test_bad_input(make, says):
    with pytest.raises(InputError) as caught:
        make()
    assert says in str(caught.value)


def test_ball_and_slider_and_the_other_way_round():
    """A tree with a ball joint, a slider, a weld, a free root, and a hinge whose b is the parent: set and read back."""
    world = World()
    for k in range(6):
        world.add(Box((0.1, 0.05, 0.02)), name=f"n{k}", position=(0.3 * k, 0, 0), mass=1.0 + k)
    world.add_joint(Point("n0", "n1", anchor=(0.15, 0, 0)))
    world.add_joint(Slider("n1", "n2", anchor=(0.45, 0, 0), axis=(1, 1, 0)))
    world.add_joint(Fixed("n2", "n3", anchor=(0.75, 0, 0)))
    world.add_joint(Hinge("n4", "n3", anchor=(1.05, 0, 0), axis=(0, 1, 0.2)))
    world.add_joint(General("n4", "n5", anchor=(1.35, 0, 0), axis=(0, 0, 1), free=("y", "turn_x", "turn_z")))
    m = world.mechanism()
    assert (m.nv, m.nq) == (6 + 3 + 1 + 0 + 1 + 3, 7 + 4 + 1 + 1 + 3)
    rng = np.random.default_rng(5)
    q = m.qpos + 0.3 * rng.normal(size=m.nq)
    q[3:7] /= np.linalg.norm(q[3:7])
    q[7:11] /= np.linalg.norm(q[7:11])
    v = rng.normal(size=m.nv)
    m.set(q, v)
    assert m.qpos == pytest.approx(q, abs=1e-13)
    assert m.qvel == pytest.approx(v, abs=1e-12)
    assert m.closed() < 1e-12
    e = world.energy()
    assert 0.5 * v @ m.mass_matrix() @ v == pytest.approx(e.kinetic_linear + e.kinetic_angular, rel=1e-12)
    free = m.accelerations()
    h = world.dt
    world._begin()
    world.step(1)
    assert (m.qvel - v) / h == pytest.approx(free, abs=0.05 * np.abs(free).max())
