import math
from typing import Annotated

from tumble import Box, Compound, ConvexHull, Cylinder, Hinge, Pose, Real, Scene, Shape, scenario

TEETH, RADIUS, THICK = 30, 0.06, 0.004  # of the wheel: teeth, radius of their tips [m], half its thickness
LENGTH, BOB, SPIN = 0.25, 1.0, 6e-4  # m, kg, kg m^2: pivot to the centre of mass of the pendulum, its mass, its inertia there
DAMPING = 0.004  # N m s/rad, of the pendulum: air and suspension
SPACE = 2 * math.pi * RADIUS / TEETH  # m, from tip to tip
TIP, DROP = 0.0004, 0.0006  # m: width of a tip; what the wheel falls freely in each beat
UNLOCKS, LEAVES = math.radians(1.0), math.radians(2.2)  # of the pendulum, before and behind the middle
HIGH = math.sqrt(2) * RADIUS  # m, from the wheel to the pivot: both pallets touch where lines from there are tangents
ARC, USED = math.radians(9.0), math.radians(5.0)  # of the locking faces, and of that what a swing of six degrees needs


@scenario
def clock_escapement(
    torque: Annotated[float, Real(unit="N m", low=0, high=0.012, help="of the wheel, as a weight on a drum gives it")] = 0.007,
    swing: Annotated[float, Real(unit="rad", above=0.03, high=0.12, help="from which the pendulum is let go")] = 0.09,
    friction: Annotated[float, Real(low=0, high=0.5, help="of teeth on pallets")] = 0.08,
) -> Scene:
    """Graham's dead-beat escapement: a pendulum lets a wheel pass, tooth by tooth, and is kept swinging by it.

    In each beat a tooth leaves its pallet, pushes it aside while it slides over its end, and another tooth falls on the locking
    face of the other pallet. These faces are across the line to the pivot: a tooth that rests there hardly pushes. So the wheel
    turns by one tooth in a period. Its pushes come later than in the middle of the swing, which makes the clock slow by a part
    in a thousand: as much as Airy (1830) worked out. What the wheel gives in a period, 2 pi/30 of its torque, goes to friction,
    to air, and to the drops. Without torque the pendulum dies out and the wheel stands.
    """
    scene = Scene(dt=1 / 480, duration=10.0)
    brass = {"friction": friction, "restitution": 0.0}
    scene.add(
        wheel(), name="wheel", position=(0, 0, 0), mass=0.02, inertia=(1.5e-5, 3e-5, 1.5e-5), center_of_mass=(0, 0, 0),
        color="#d9a52e", **brass,
    )  # fmt: skip
    half, bob = 0.5 * swing, (LENGTH * math.sin(swing), 0, HIGH - LENGTH * math.cos(swing))
    scene.add(
        pendulum(), name="pendulum", position=bob, orientation=(math.cos(half), 0, -math.sin(half), 0), mass=BOB,
        inertia=(SPIN, SPIN, SPIN), center_of_mass=(0, 0, 0), color="#9fb0c0", **brass,
    )  # fmt: skip
    scene.add(Box((0.11, 0.004, 0.19)), name="board", kind="static", position=(0, 0.06, -0.05), color="#5a4334")
    motor = {"motor_speed": 1e6 if torque else 0.0, "motor_torque": torque}
    scene.add_joint(Hinge(None, "wheel", name="arbor", axis=(0, 1, 0), **motor))
    scene.add_joint(Hinge(None, "pendulum", name="pivot", anchor=(0, 0, HIGH), axis=(0, 1, 0), damping=DAMPING))
    return scene


def wheel() -> Compound:
    """Teeth whose fronts lean forward, so that tips alone touch; one of them at 135 degrees. It turns clockwise, seen along y."""
    parts: list[tuple[Shape, Pose]] = [(Cylinder(0.8 * RADIUS, THICK), _flat())]
    for k in range(TEETH):
        front = math.radians(135.0) - 2 * math.pi * k / TEETH
        back = lambda degrees, front=front: front + math.radians(degrees)  # noqa: E731
        corners = ((RADIUS, front), (RADIUS, front + TIP / RADIUS), (0.78 * RADIUS, back(4.5)), (0.78 * RADIUS, back(2.0)))
        parts.append((_plate([_at(r, a) for r, a in corners], THICK), Pose()))
    return Compound(parts)


def pendulum() -> Compound:
    """Both pallets, what holds them, rod and bob, about the bob."""
    thick = 0.5 * SPACE - DROP - TIP
    parts: list[tuple[Shape, Pose]] = []
    for side, sign, middle in ((-1, 1.0, math.radians(225.0)), (1, -1.0, math.radians(315.0))):
        inner = RADIUS + min(side, 0) * thick
        far = RADIUS + side * thick
        top = -UNLOCKS - ARC
        across = [(locking(-UNLOCKS), -UNLOCKS), (far, LEAVES + sign * _beside(side, far)), (far, top), (locking(top), top)]
        parts.append((_plate([_at(r, middle + sign * a) for r, a in across], 1.5 * THICK), Pose()))
        arm = [(inner - 0.004, top), (inner + thick + 0.004, top)]
        corners = [_at(r, middle + sign * a) for r, a in arm]
        hub = [(0.006 * side, 0.006), (-0.006 * side, -0.004)]
        parts.append((_plate([*corners, *hub], 1.2 * THICK), Pose()))
    parts.append((Cylinder(0.004, 0.012), Pose((0.0, 0.008, 0.0), _flat().orientation)))
    parts.append((Box((0.003, 0.0015, 0.5 * LENGTH)), Pose((0.0, 0.018, -0.5 * LENGTH))))
    parts.append((Cylinder(0.035, 0.008), Pose((0.0, 0.018, -LENGTH), _flat().orientation)))
    return Compound([(shape, Pose((0.0, 0.0, LENGTH)) @ at) for shape, at in parts])


def locking(angle: float) -> float:
    """Radius about the pivot [m] of the locking faces: flat, and that of the tips at both ends of what is used of them."""
    return RADIUS * math.cos(0.5 * USED) / math.cos(angle + UNLOCKS + 0.5 * USED)


def _beside(side: int, distance: float) -> float:
    """How far a tip is beside the line from the pivot to where it locks, counter-clockwise [rad], at a distance from it."""
    # by the law of cosines in the triangle of pivot, wheel and tip
    at_pivot = math.acos((HIGH**2 + distance**2 - RADIUS**2) / (2 * HIGH * distance))
    return side * (at_pivot - math.radians(45.0))


def _at(radius: float, angle: float) -> tuple[float, float]:
    return radius * math.cos(angle), radius * math.sin(angle)


def _plate(corners: list[tuple[float, float]], half: float) -> ConvexHull:
    """A polygon in x and z, drawn out along y."""
    return ConvexHull([(x, y, z) for x, z in corners for y in (-half, half)])


def _flat() -> Pose:
    """An axis along y."""
    return Pose((0.0, 0.0, 0.0), (math.sqrt(0.5), math.sqrt(0.5), 0, 0))


def period(swing: float) -> float:
    """Of the free pendulum [s], by the arithmetic-geometric mean."""
    a, b = 1.0, math.cos(0.5 * swing)
    while abs(a - b) > 1e-15:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 2 * math.pi * math.sqrt((SPIN + BOB * LENGTH**2) / (BOB * 9.81 * LENGTH)) / a


def slow(torque: float, swing: float) -> float:
    """By what part the period is longer than that of the free pendulum, to first order in the torque (Airy 1830).

    Of a push M while the angle goes from u to -l it is M (l^2 - u^2)/(2 pi swing^3 m g L).
    """
    thick = 0.5 * SPACE - DROP - TIP
    push = torque * thick / RADIUS / (UNLOCKS + LEAVES)  # the wheel turns by so much while the pendulum does by the angles
    return push * (LEAVES**2 - UNLOCKS**2) / (2 * math.pi * swing**3 * BOB * 9.81 * LENGTH)
