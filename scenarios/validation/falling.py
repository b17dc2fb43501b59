"""Bodies that tip, rock, fall over and roll off."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tumble import Box, ConvexHull, Hinge, Sphere, TabulatedForce, World
from tumble.scenarios.validation.answers.falling_answers import leaving_sphere, rocking, rod_fall, rod_slips
from tumble.scenarios.validation.case import Measure, case, order
from tumble.scenarios.validation.lab import STEP, G, advance, attitude, of_catalog, on_floor

# ---- tipping ----


def tilted(degrees: float, mu: float) -> World:
    """A block of 0.2 x 0.2 x 0.6 m on a table that steepens by half a degree a second, from an angle on."""
    a, rate = math.radians(degrees), math.radians(0.5)
    world = World()
    q = (math.cos(a / 2), 0, math.sin(a / 2), 0)
    up = np.array([math.sin(a), 0, math.cos(a)])
    spin = np.array((0, rate, 0))
    turning = {"orientation": q, "angular_velocity": spin, "friction": mu}
    world.add(Box((2, 2, 0.1)), kind="kinematic", **turning)
    world.add(Box((0.1, 0.1, 0.3)), position=0.4 * up, velocity=np.cross(spin, 0.4 * up), **turning)
    return world


def gives_way(world: World, seconds: float) -> tuple[float, str]:
    """The angle of the table [degrees] when the block has slid by 0.01 mm or tipped by 1e-4 rad against it, and which it did."""
    while world.time < seconds:
        world.step()
        table, block = attitude(world, 0), attitude(world, 1)
        angle = math.degrees(math.atan2(-table[2, 0], table[0, 0]))
        if abs(math.atan2(*(table.T @ block)[[0, 2], [2, 2]])) > 1e-4:
            return angle, "tips"
        foot = world.positions[1] - block @ (0, 0, 0.3)
        if abs(table[:, 0] @ foot) > 1e-5:
            return angle, "slides"
    return math.nan, "stays"


def pushed(y: float, mu: float = 0.5) -> str:
    """What a block of 0.2 x 0.2 x 0.6 m and 1 kg does under a push at height y that grows to 1.1 mu m g in a second."""
    world = on_floor(friction=mu)
    world.add(Box((0.1, 0.1, 0.3)), mass=1.0, position=(0, 0, 0.3), friction=mu)
    push = TabulatedForce((0, 1, 9), ((0, 0, 0), (1.1 * mu * G, 0, 0), (1.1 * mu * G, 0, 0)), point=(0, 0, y - 0.3))
    world.add_force(push)
    while world.time < 2:
        world.step()
        if abs(attitude(world, 1)[0, 2]) > 1e-4:
            return "tips"
        if abs(world.positions[1][0]) > 1e-4:
            return "slides"
    return "stays"


@case("V21", "Tipping or sliding")
def tipping() -> Iterator[Measure]:
    """A block 0.2 m wide and 0.6 m high stands on a table that is tilted slowly. The known answer: it slides at the angle
    atan(mu), or tips at atan(w/h) = 18.435 degrees where friction mu is above w/h = 1/3. Where it is pushed on a level table,
    it slides if the push is lower than w/(2 mu), and tips if it is higher."""
    for mu, exact, what in ((0.25, math.degrees(math.atan(0.25)), "slides"), (0.5, math.degrees(math.atan(1 / 3)), "tips")):
        angle, did = gives_way(tilted(exact - 0.5, mu), 2)
        yield Measure(f"mu {mu:g} {what}: angle of the table", abs(angle - exact) if did == what else math.nan, 0.2, "degrees")
    low, high = 0.15, 0.25
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if pushed(middle) == "slides" else (low, middle)
    sides = pushed(0.15) == "slides" and pushed(0.25) == "tips"
    yield Measure("height of the push between sliding and tipping, relative", abs(low / 0.2 - 1) if sides else math.nan, 0.02)


# ---- rocking ----


@case("V22", "Rocking block")
def rocking_block() -> Iterator[Measure]:
    """A block of half width 0.05 m and half height 0.2 m stands on one edge, 0.15 rad off the upright, and is let go; friction
    mu = 0.9, restitution e = 0. It swings upright, lands on the other edge with 1 - 3/2 sin^2(alpha) of its angular speed,
    where tan(alpha) is width by height, and swings out to 0.112 rad (Housner 1963)."""
    exact = rocking(0.05, 0.2, 0.15)
    # it lands anywhere in a step
    runs = {n: [rocked(1 / (n * (1 + 0.005 * k))) for k in range(6)] for n in (240, 480)}

    def worst(n: int, what: str) -> float:
        return max(abs(run[what] - exact[what]) for run in runs[n])

    yield Measure("time until it is upright, six instants in the step", worst(240, "passage"), STEP, "s")
    yield Measure("angular speed after landing by that before, relative", worst(240, "ratio") / exact["ratio"], 0.01)
    yield Measure("angle of the next peak, relative", worst(240, "peak") / exact["peak"], 0.02)
    yield Measure("time of the peak, relative", worst(240, "peak_time") / exact["peak_time"], 0.02)
    yield order("the peak", (worst(240, "peak"), worst(480, "peak")), 1.7)
    yield Measure("slip of the edge it stood on", max(run["slip"] for run in runs[240]), 1e-5, "m")


def rocked(dt: float) -> dict[str, float]:
    """What a rocking block does until after its second peak; angles positive on the edge where it starts."""
    b, h, tilt = 0.05, 0.2, 0.15
    world = of_catalog("rocking_block", dt, tilt=tilt)  # the edge at the origin, the block leaning to it
    out = {"slip": 0.0}
    last = (0.0, tilt, 0.0)
    while world.time < 0.52:
        world.step()
        rot = attitude(world, 1)
        now = (world.time, math.atan2(rot[2, 0], rot[0, 0]), -float(world.angular_velocities[1][1]))
        if "passage" not in out:
            if now[1] > 0:
                out["slip"] = max(out["slip"], abs((world.positions[1] - rot @ (b, 0, h))[0]))
            else:
                # back along the motion after the landing; near upright gravity turns it at 3 g sin(alpha) / (4 r)
                out["passage"] = now[0] - now[1] / now[2]
                pull = 3 * G / (4 * math.hypot(b, h)) * math.sin(math.atan2(b, h))
                before = last[2] - pull * (out["passage"] - last[0])
                out["ratio"] = (now[2] - pull * (now[0] - out["passage"])) / before
        elif now[2] * last[2] < 0 and "peak" not in out:
            f = last[2] / (last[2] - now[2])
            out["peak_time"] = last[0] + f * (now[0] - last[0])
            out["peak"] = -(last[1] + f * (now[1] - last[1]))
        last = now
    return out


# ---- bricks ----


def bricks(scale: float, count: int = 4) -> World:
    """A pile of bricks 1 m long, each moved out over the next by 1/2, 1/4, 1/6 ... times ``scale``, on the end of a table."""
    world = World()
    world.add(Box((2, 1, 0.5)), kind="static", position=(-2, 0, -0.5), friction=0.6)
    x = 0.0
    for k in range(count):  # from the lowest
        x += scale / (2 * (count - k))
        world.add(Box((0.5, 0.2, 0.1)), position=(x - 0.5, 0, 0.1 + 0.2 * k), friction=0.6)
    return world


@case("V24", "Corbelled overhang")
def overhang() -> Iterator[Measure]:
    """Four bricks of length L are stacked such that they reach out over the edge of a table. They stand up to an overhang of
    (L/2)(1 + 1/2 + 1/3 + 1/4). Here they reach 3 % less than that, and must stand for 10 s, and 3 % more, and must fall."""
    world = bricks(0.97)
    start = world.positions
    yield Measure("3 % less: drift in 10 s", np.abs(advance(world, 10).positions - start).max(), 1e-6, "m")
    world = bricks(1.03)
    start = world.positions
    while world.time < 5 and world.positions[-1][2] > start[-1][2] - 0.2:
        world.step(24)
    fallen = world.positions[-1][2] < start[-1][2] - 0.2
    yield Measure("3 % more: time until it has fallen by 0.2 m", world.time if fallen else math.nan, 5, "s")


# ---- rods ----


def rod(mu: float, degrees: float = 10.0, dt: float = STEP) -> World:
    """A thin rod of 1 m and 1 kg at an angle from the vertical, its foot on the floor at the origin."""
    a = math.radians(degrees)
    world = on_floor(friction=mu, dt=dt)
    world.add(
        ConvexHull([(0, 0, -0.5), (0, 0, 0.5)]), mass=1.0, inertia=(1 / 12, 1 / 12, 1e-6), friction=mu,
        position=(0.5 * math.sin(a), 0, 0.5 * math.cos(a)), orientation=(math.cos(a / 2), 0, math.sin(a / 2), 0),
    )  # fmt: skip
    return world


@case("V25", "Falling rod")
def falling_rod() -> Iterator[Measure]:
    """A rod of 1 m is let go 10 degrees from the vertical. On a hinge it is level after 0.768 s, at 5.38 rad/s. On a smooth
    floor its centre falls straight down, and it lands after 0.517 s at the same rate. On a rough floor its foot slips as soon
    as the ratio of friction F to load N would exceed mu."""
    exact = rod_fall(math.radians(10))
    world = rod(0.0)
    world.remove(world.bodies[0])
    world.add_joint(Hinge(None, world.bodies[0], anchor=(0, 0, 0), axis=(0, 1, 0)))
    last = (0.0, math.radians(10), 0.0)
    while last[1] < math.pi / 2:
        before = last
        world.step()
        z = attitude(world)[:, 2]
        last = (world.time, math.atan2(z[0], z[2]), float(world.angular_velocities[0][1]))
    f = (math.pi / 2 - before[1]) / (last[1] - before[1])
    yield Measure("on a hinge: time until it is level", abs(before[0] + f * STEP - exact["hinge"]), 1.5 * STEP, "s")
    rate = before[2] + f * (last[2] - before[2])
    yield Measure("on a hinge: angular speed then, relative", abs(rate / exact["rate"] - 1), 0.005)
    world = rod(0.0)
    centre = world.positions[1][0]
    drift = momentum = rate = 0.0
    while world.statistics()["impacts"] == 0 and world.time < 1:
        rate, height = float(world.angular_velocities[1][1]), world.positions[1][2]
        world.step()
        drift = max(drift, abs(world.positions[1][0] - centre))
        momentum = max(momentum, abs(world.momentum()[0]))
    landing = world.time - STEP + height / (0.5 * rate)
    rate += 1.5 * G * (landing - world.time + STEP)  # 3 g / (2 L): its angular acceleration when level
    yield Measure("smooth floor: time until it lands", abs(landing - exact["smooth"]), 1.5 * STEP, "s")
    yield Measure("smooth floor: angular speed then, relative", abs(rate / exact["rate"] - 1), 0.005)
    yield Measure("smooth floor: motion of the centre to the side", drift, 1e-9, "m")
    yield Measure("smooth floor: horizontal momentum", momentum, 1e-9, "kg m/s")
    for mu, way in ((0.3, -1.0), (0.6, 1.0)):  # backward, forward
        world = rod(mu)
        angle = math.nan
        while world.time < 1 and math.isnan(angle):
            world.step()
            along, _, load = world.contacts()["force"][0]
            if abs(along) >= mu * load * (1 - 1e-9):
                z = attitude(world, 1)[:, 2]
                angle = math.degrees(math.atan2(z[0], z[2])) if along * way < 0 else math.inf
        off = abs(angle - math.degrees(rod_slips(mu, math.radians(10))))
        yield Measure(f"rough floor, mu {mu:g}: angle at which the foot slips", off, 1.0, "degrees")


# ---- a sphere on a sphere ----


@case("V26", "Sphere leaving a fixed sphere")
def sphere_on_sphere() -> Iterator[Measure]:
    """A sphere of radius 0.2 m is let go on top of a fixed one of radius 1 m, 5 degrees from the highest point. Without
    friction it leaves the fixed sphere at an angle with cos = 2/3 cos(5 degrees) from the vertical. With friction it rolls,
    then slips, and leaves later (an integration of order 8 that finds these instants)."""
    for mu in (0.0, 0.3, 1.0):
        slips, leaves, t = leaving_sphere(1.0, 0.2, math.radians(5), mu)
        world = World()
        world.add(Sphere(1.0), kind="static", friction=mu)
        a = math.radians(5)
        world.add(Sphere(0.2), mass=1.0, position=(1.2 * math.sin(a), 0, 1.2 * math.cos(a)), friction=mu)
        slid, loads = math.nan, []  # (time, angle, load)
        while world.time < t + 0.1:
            world.step()
            c = world.contacts()
            if not len(c) or c["force"][0] @ c["normal"][0] < 1e-9:
                break
            x, _, z = world.positions[1]
            at = math.degrees(math.atan2(x, z))
            loads.append((world.time, at, float(c["force"][0] @ c["normal"][0])))
            if mu and math.isnan(slid) and float(np.linalg.norm(c["slip"][0])) > 1e-4:
                slid = at
        before, last = np.array(loads[-3:-1])
        ends = last + (last - before) * last[2] / (before[2] - last[2])  # where the load, on a line, comes to zero
        yield Measure(f"mu {mu:g}: angle at which it leaves", abs(ends[1] - math.degrees(leaves)), 0.5, "degrees")
        yield Measure(f"mu {mu:g}: time until it leaves", abs(ends[0] - t), 2 * STEP, "s")
        if mu:
            yield Measure(f"mu {mu:g}: angle at which it begins to slip", abs(slid - math.degrees(slips)), 0.5, "degrees")
