"""Sliding, sticking and rolling."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.integrate import solve_ivp

from tumble import Box, Cylinder, Sphere, World
from tumble.scenarios.validation.answers.friction_answers import spinning_disc
from tumble.scenarios.validation.case import Measure, case, order
from tumble.scenarios.validation.lab import STEP, G, advance, distance, slope

CUBE = Box((0.1, 0.1, 0.1))


# ---- blocks ----


def block(degrees: float, mu: float, heading: float = 0.0, fall: float = 0.0, dt: float = STEP, **body) -> World:
    """A cube of 0.2 m and 1 kg on a slope; ``heading`` turns the cube, ``fall`` the fall line [rad], from +x."""
    return slope(degrees, mu, CUBE, 0.1, heading=heading, fall=fall, dt=dt, **{"mass": 1.0, **body})


@case("V16", "Block on an incline")
def incline() -> Iterator[Measure]:
    """A cube of 0.2 m on a slope of 20 degrees. The known answer: it stays where friction mu is above tan(20 degrees) = 0.364,
    and else slides down with the acceleration g (sin - mu cos), the same in whatever directions the cube and the slope are
    turned. Then the cube is thrown across the slope: its path bends, and friction turns with it (an integration of order
    8)."""
    a = math.radians(20)
    for what, mu in (("mu 0.4", 0.4), ("mu 1.02 tan(20 degrees)", 1.02 * math.tan(a))):
        world = advance(block(20, mu), 0.1)
        start = world.positions[1]
        drift = distance(advance(world, 5).positions[1], start), distance(advance(world, 5).positions[1], start)
        yield Measure(f"creep in 10 s, {what}", drift[1], 1e-9, "m")
        if mu == 0.4:
            yield Measure("creep in the last 5 s of these", drift[1] - drift[0], 5e-10, "m")
    for what, degrees, mu, t in (
        ("mu 0.3, 1 s", 20, 0.3, 1), ("mu 0.35, 1 s", 20, 0.35, 1), ("mu 0.98 tan(20 degrees), 2 s", 20, 0.98 * math.tan(a), 2),
        ("30 degrees, mu 0.3, 2 s", 30, 0.3, 2),
    ):  # fmt: skip
        b = math.radians(degrees)
        down = 0.5 * G * (math.sin(b) - mu * math.cos(b)) * t * t
        world = advance(block(degrees, mu), t)
        yield Measure(f"distance down, {what}, relative", abs(world.positions[1][0] / down - 1), 1e-8)
    ways = []
    for heading in (0.0, math.pi / 6, math.pi / 4):
        for fall in (0.0, math.pi / 6, math.pi / 4):
            at = advance(block(20, 0.3, heading, fall), 1).positions[1]
            ways.append((at[0] * math.cos(fall) + at[1] * math.sin(fall), at[1] * math.cos(fall) - at[0] * math.sin(fall)))
    yield Measure("spread of the place over nine headings", np.ptp(ways, axis=0).max(), 1e-9, "m")
    errors = [
        distance(advance(block(20, 0.3, dt=1 / n, velocity=(0, 3, 0)), 1).positions[1][:2], oblique()) for n in (60, 120, 240)
    ]
    yield Measure("place after 1 s, thrown across the slope at 3 m/s, mu 0.3", errors[-1], 1e-5, "m")
    yield order("that place, dt 1/60 to 1/240 s", errors, 1.7)


def oblique() -> np.ndarray:
    """Where a point that slides across a slope of 20 degrees at 3 m/s, mu = 0.3, is after 1 s."""
    a = math.radians(20)

    def rates(_, y):
        drag = 0.3 * G * math.cos(a) / math.hypot(y[2], y[3])
        return [y[2], y[3], G * math.sin(a) - drag * y[2], -drag * y[3]]

    return solve_ivp(rates, (0, 1), [0, 0, 0, 3.0], method="DOP853", rtol=1e-12, atol=1e-12).y[:2, -1]


@case("V17", "Stopping")
def stopping() -> Iterator[Measure]:
    """A cube is thrown along the floor at a speed v. The known answer: it stops after v^2 / (2 mu g), in whatever direction it
    is thrown. A step can not tell where within it the cube stops: that is an error of at most mu g dt^2 / 8, of order 2."""
    stops, turned = [], 0.0
    for k in range(12):
        a = 2 * math.pi * k / 12
        world = advance(block(0, 0.4, velocity=(3 * math.cos(a), 3 * math.sin(a), 0)), 1)
        stops.append(distance(world.positions[1][:2], (0, 0)))
        turned = max(
            turned,
            abs(world.orientations[1][3]) * 2,
            abs(math.remainder(math.atan2(world.positions[1][1], world.positions[1][0]) - a, math.tau)),
        )
    yield Measure("distance from 3 m/s, mu 0.4, relative", max(abs(d / (9 / (0.8 * G)) - 1) for d in stops), 1e-5)
    yield Measure("spread of the distance over 12 headings", np.ptp(stops), 1e-9, "m")
    yield Measure("turn of the cube, and of its heading", turned, 1e-6, "rad")
    worst = []
    for n in (60, 120, 240):
        errors = []
        for v in np.linspace(4.9, 5.1, 100 if n == 60 else 15):
            world = advance(block(0, 0.3, dt=1 / n, velocity=(float(v), 0, 0)), 2)
            errors.append(abs(world.positions[1][0] - v * v / (0.6 * G)))
        worst.append(max(errors))
    what = "distance, largest error of 100 speeds from 4.9 to 5.1 m/s, mu 0.3, dt 1/60 s"
    yield Measure(what, worst[0], 1.1 * 0.3 * G / 60**2 / 8, "m")
    yield order("the largest error", worst, 1.7)


# ---- round bodies ----


def ball(degrees: float, mu: float, v: float = 0.0, spin: float = 0.0, c: float = 0.4, shape=None, dt: float = STEP) -> World:
    """A round body of 0.1 m and 1 kg with I = c m R^2; ``spin`` forward about its axis."""
    shape = shape or Sphere(0.1)
    q = (math.sqrt(0.5), math.sqrt(0.5), 0, 0) if isinstance(shape, Cylinder) else (1, 0, 0, 0)
    moments = (c * 0.01,) * 3 if isinstance(shape, Sphere) else (0.01, 0.01, c * 0.01)
    return slope(
        degrees, mu, shape, 0.1, dt=dt, turn=q, mass=1.0, inertia=moments, velocity=(v, 0, 0), angular_velocity=(0, spin, 0)
    )


THROWS = {"plain": (5.0, 0.0), "backspin": (3.0, -100.0), "overspin": (1.0, 40.0)}


@case("V18", "Sliding to rolling")
def sliding_to_rolling() -> Iterator[Measure]:
    """A sphere of radius R = 0.1 m is thrown along the floor at a speed v0 and with a spin w0, plainly (w0 = 0), with backspin
    or with too much spin. With the slip s = v0 - R w0 it slides for 2 |s| / (7 mu g). Then it rolls with v = (5 v0 + 2 R
    w0)/7, whatever the friction mu is, and has lost the energy m s^2 / 7. From then on its height stays the same."""
    for name, (v, w) in THROWS.items():
        slip = v - 0.1 * w
        world = ball(0, 0.2, v, w)
        energy = world.energy().total
        until, end = 2 * abs(slip) / (7 * 0.2 * G), (5 * v + 0.2 * w) / 7
        began, gaps = math.nan, 0.0
        while world.time < until + 0.1:
            world.step()
            gaps = max(gaps, abs(world.positions[1][2] - 0.1))
            rolls = abs(world.velocities[1][0] - 0.1 * world.angular_velocities[1][1]) <= 1e-9
            if rolls and math.isnan(began):
                began = world.time - STEP / 2  # what the world tells is the mean over a kick, half a step to both sides
                at = world.positions[1][0] - end * (world.time - until)
        way = v * until - 0.5 * math.copysign(0.2 * G, slip) * until**2
        yield Measure(f"{name}: speed when it rolls", abs(world.velocities[1][0] - end), 1e-9, "m/s")
        yield Measure(f"{name}: begins to roll after the exact time by", began - until, STEP, "s")
        yield Measure(f"{name}: begins to roll before the exact time by", until - began, STEP, "s")
        yield Measure(f"{name}: distance until it rolls, relative", abs(at / way - 1), 1e-5)
        lost = energy - world.energy().total
        yield Measure(f"{name}: energy lost, relative", abs(lost / (slip**2 / 7) - 1), 1e-9)
        yield Measure(f"{name}: change of height", gaps, 1e-9, "m")
    worst = []
    for n in (60, 120, 240):
        errors = []
        for v in np.linspace(4.9, 5.1, 20):
            until = 2 * v / (7 * 0.2 * G)
            world = advance(ball(0, 0.2, float(v), dt=1 / n), 1)
            exact = v * until - 0.1 * G * until**2 + 5 / 7 * v * (1 - until)
            errors.append(abs(world.positions[1][0] - exact))
        worst.append(max(errors))
    yield order("the place after 1 s, 20 speeds", worst, 1.7)
    world = ball(0, 0.5, 5.0, 50.0)
    gaps = 0.0
    for _ in range(480):
        world.step()
        gaps = max(gaps, abs(world.positions[1][2] - 0.1))
    yield Measure("change of height while it rolls at 5 m/s", gaps, 1e-9, "m")


ROUND = {"sphere": 0.4, "cylinder": 0.5, "shell": 2 / 3, "hoop": 1.0}


@case("V19", "Rolling down an incline")
def rolling_down() -> Iterator[Measure]:
    """Sphere, cylinder, shell and hoop of radius R (moment of inertia c m R^2) on a slope of 25 degrees. The known answer:
    they roll with the acceleration g sin / (1 + c), or slip with g (sin - mu cos) and the angular acceleration mu g cos / (c
    R). On a level floor they roll on without loss."""
    a = math.radians(25)
    for name, c in ROUND.items():
        shape = Cylinder(0.1, 0.05) if name in ("cylinder", "hoop") else Sphere(0.1)
        world = ball(25, 0.6, c=c, shape=shape)
        start = world.energy().total
        advance(world, 1)
        yield Measure(f"{name} rolls: speed after 1 s", abs(world.velocities[1][0] - G * math.sin(a) / (1 + c)), 1e-9, "m/s")
        moved = abs(world.energy().total - start) / (G * math.sin(a) * world.positions[1][0])
        yield Measure(f"{name} rolls: energy, relative to the fall", moved, 1e-9)
        world = advance(ball(25, 0.1, c=c, shape=shape), 1)
        slips = world.velocities[1][0], 0.1 * world.angular_velocities[1][1]
        expected = G * (math.sin(a) - 0.1 * math.cos(a)), 0.1 * G * math.cos(a) / c
        yield Measure(f"{name} slips: v and R w after 1 s", distance(slips, expected), 1e-9, "m/s")
    world = advance(ball(0, 0.5, 2.0, 20.0), 10)
    yield Measure("speed lost in 10 s on the level, relative", abs(world.velocities[1][0] / 2 - 1), 1e-9)


# ---- discs ----


def disc(rw: float, factor: float, dt: float = STEP) -> World:
    """A disc of 0.1 m and 1 kg, 1 mm half thick, at 1 m/s along the floor, mu = 0.3; I = factor m R^2."""
    return slope(
        0, 0.3, Cylinder(0.1, 1e-3), 1e-3, dt=dt, mass=1.0, inertia=(0.005, 0.005, 0.01 * factor), velocity=(1, 0, 0),
        angular_velocity=(0, 0, rw / 0.1),
    )  # fmt: skip


@case("V20", "Sliding and spinning disc")
def sliding_disc() -> Iterator[Measure]:
    """A disc whose load is carried evenly by its rim (by eight points here) slides at 1 m/s and spins. Friction couples the
    two motions: both end at the same time (Farkas et al., Phys. Rev. Lett. 90 (2003) 248302). The known answer, an integration
    of the law of the rim, gives the time until it rests, the way and the angle."""
    for name, rw, factor in (("solid, R w 1 m/s", 1.0, 0.5), ("hoop, R w 2 m/s", 2.0, 1.0)):
        t, way, turned = spinning_disc(1.0, rw, 0.3, factor)
        world = disc(rw, factor)
        loads, weights, angle, stop = [], [], 0.0, math.nan
        while world.time < t + 0.2:
            before = world.angular_velocities[1][2]
            world.step()
            angle += 0.1 * STEP * (before + world.angular_velocities[1][2]) / 2
            forces = world.contacts()["force"][:, 2]
            if world.time < 0.9 * t:
                loads.append(np.ptp(forces) / forces.mean())
            weights.append(abs(forces.sum() / G - 1))
            if math.isnan(stop) and np.hypot(world.velocities[1][0], 0.1 * world.angular_velocities[1][2]) < 1e-6:
                stop = world.time
        yield Measure(f"{name}: time until it rests, relative", abs(stop / t - 1), 0.02)
        yield Measure(f"{name}: distance, relative", abs(world.positions[1][0] / way - 1), 0.02)
        yield Measure(f"{name}: angle turned, relative", abs(angle / turned - 1), 0.02)
        yield Measure(f"{name}: largest spread of the loads of the points", max(loads), 0.05)
        yield Measure(f"{name}: sum of the loads, relative", max(weights), 1e-6)
