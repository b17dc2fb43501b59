from typing import Annotated

import numpy as np

from tumble import Actuator, Box, Flag, Hinge, Real, Scene, scenario

LENGTH, MASS, INERTIA = 1.0, (3.0, 2.0), (0.25, 0.1667)  # m, kg, kg m^2 about the middle: of upper arm and forearm
CENTER, G = (1.1, 0.5), 9.81  # m: x, z of the middle of the circle
SAMPLES = 400  # of a turn


@scenario
def robot_arm(
    radius: Annotated[float, Real(unit="m", above=0, high=0.6, help="of the circle")] = 0.35,
    period: Annotated[float, Real(unit="s", above=0.5, help="of a turn")] = 3.0,
    computed: Annotated[bool, Flag(help="its torques are those that the motion needs; else servos alone")] = True,
    stiffness: Annotated[float, Real(unit="N m/rad", low=0, help="of the servos")] = 400.0,
) -> Scene:
    """An arm of two links draws a circle with its tip, by computed torque.

    What the motors must give at each instant is worked out beforehand from the equations of motion (the textbook's double
    pendulum, solved backwards), and played by the actuators; servos correct what is left. So the tip is on the circle to 1e-5 m.
    With servos alone, of the same stiffness, the arm sags by 15 cm.
    """
    scene = Scene(dt=1 / 500, duration=2 * period)
    t = np.linspace(0, 2 * period, 2 * SAMPLES + 1)
    q, v, a = angles(t, radius, period)
    torques = needed(q, v, a)
    ends = np.zeros(3)
    spin, motion = 0.0, np.zeros(3)
    for k, name in enumerate(("upper_arm", "forearm")):
        angle = q[0, : k + 1].sum()
        along = np.array([np.cos(angle), 0, -np.sin(angle)])  # a turn about y takes x down
        spin += v[0, k]
        half = 0.5 * LENGTH * along
        speed = np.cross((0, spin, 0), half)
        scene.add(
            Box((LENGTH / 2, 0.04, 0.04)), name=name, position=tuple(ends + half), mass=MASS[k], mask=0,
            inertia=(0.01, INERTIA[k], INERTIA[k]), orientation=(np.cos(angle / 2), 0, np.sin(angle / 2), 0),
            velocity=tuple(motion + speed), angular_velocity=(0, spin, 0), color=("#c8862b", "#3f6d8e")[k],
        )  # fmt: skip
        joint = ("shoulder", "elbow")[k]
        scene.add_joint(
            Hinge((None, "upper_arm")[k], name, anchor=tuple(ends), axis=(0, 1, 0), name=joint, reference=float(q[0, k]))
        )
        ends, motion = ends + 2 * half, motion + 2 * speed
        times = tuple(map(float, t))
        servo = {"gain": stiffness, "bias": (0.0, -stiffness, -0.1 * stiffness)}
        # against its damper the servo is told to be ahead: by what the damper takes
        wanted = q[:, k] + 0.1 * v[:, k]
        scene.add_actuator(Actuator(f"{joint}_servo", joint, times=times, controls=tuple(map(float, wanted)), **servo))
        if computed:
            scene.add_actuator(Actuator(f"{joint}_torque", joint, times=times, controls=tuple(map(float, torques[:, k]))))
    return scene


def angles(t: np.ndarray, radius: float, period: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(k, 2) each: angles of both joints, their rates and accelerations, for the tip on its circle; elbow down."""
    w = 2 * np.pi / period
    c, s = np.cos(w * t), np.sin(w * t)
    x, z = CENTER[0] + radius * c, CENTER[1] + radius * s
    bend = np.arccos((x**2 + z**2) / (2 * LENGTH**2) - 1)
    q = np.column_stack([np.arctan2(-z, x) - bend / 2, bend])  # for links of one length the tip is half way between
    tip = np.stack([-w * radius * s, w * radius * c], axis=1)
    turn = -(w**2) * radius * np.stack([c, s], axis=1)
    J, dJ = _jacobian(q, None)
    v = np.linalg.solve(J, tip[..., None])[..., 0]
    _, dJ = _jacobian(q, v)
    a = np.linalg.solve(J, (turn - np.einsum("kij,kj->ki", dJ, v))[..., None])[..., 0]
    return q, v, a


def _jacobian(q: np.ndarray, v: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """(k, 2, 2) of the tip x, z by both angles, and its rate."""
    one, two = q[:, 0], q.sum(axis=1)
    rates = (np.zeros(len(q)),) * 2 if v is None else (v[:, 0], v.sum(axis=1))
    parts = [np.stack([-np.sin(p), -np.cos(p)], axis=1) * LENGTH for p in (one, two)]
    slopes = [np.stack([-np.cos(p), np.sin(p)], axis=1) * LENGTH * r[:, None] for p, r in zip((one, two), rates, strict=True)]
    join = lambda p: np.stack([p[0] + p[1], p[1]], axis=2)  # noqa: E731
    return join(parts), join(slopes)


def needed(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """(k, 2) [N m] torques of the motion: M a + c, those of the double pendulum."""
    (m1, m2), (i1, i2), h = MASS, INERTIA, LENGTH / 2
    cos, sin = np.cos(q[:, 1]), np.sin(q[:, 1])
    coupled = m2 * LENGTH * h
    m22 = i2 + m2 * h**2 + 0 * cos
    m12 = m22 + coupled * cos
    m11 = i1 + m1 * h**2 + m2 * LENGTH**2 + m12 + coupled * cos
    one, two = q[:, 0], q.sum(axis=1)
    weight2 = -m2 * h * G * np.cos(two)
    weight1 = -(m1 * h + m2 * LENGTH) * G * np.cos(one) + weight2
    whirl = coupled * sin
    first = m11 * a[:, 0] + m12 * a[:, 1] - whirl * (2 * v[:, 0] * v[:, 1] + v[:, 1] ** 2) + weight1
    second = m12 * a[:, 0] + m22 * a[:, 1] + whirl * v[:, 0] ** 2 + weight2
    return np.column_stack([first, second])
