"""Free motion: tops, projectiles, orbits."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import brentq

from tumble import Box, CentralGravity, ConstantForce, Cylinder, Drag, Sphere, World
from tumble.scenarios.validation.answers.tops import FreeTop, HeavyTop, symmetric_top
from tumble.scenarios.validation.case import Measure, case, order
from tumble.scenarios.validation.lab import STEP, G, advance, angle, attitude, distance, of_catalog, relative

CUBOID = (0.25, 0.05, 0.125)  # half extents [m], 12.5 kg
OMEGA = (1.0, 2.0, 3.0)
MOMENTS = 12.5 / 3 * np.array([0.05**2 + 0.125**2, 0.25**2 + 0.125**2, 0.25**2 + 0.05**2])


def top(dt: float = STEP, **body) -> World:
    world = World(gravity=(0, 0, 0), dt=dt)
    world.add(Box(CUBOID), **{"mass": 12.5, "angular_velocity": OMEGA, **body})
    return world


def kept(world: World, seconds: float) -> tuple[float, float]:
    """Relative change of energy and of angular momentum while the world advances."""
    energy, l = world.energy().total, world.angular_momentum()
    advance(world, seconds)
    return abs(world.energy().total / energy - 1), relative(world.angular_momentum(), l)


@case("V01", "Tumbling cuboid")
def tumbling_cuboid() -> Iterator[Measure]:
    """A cuboid of 0.5 x 0.1 x 0.25 m turns freely, at first with (1, 2, 3) rad/s. The known answer: Jacobi's elliptic
    functions give its angular velocity, a numerical integral of that its attitude (Landau & Lifshitz, Mechanics, par. 37)."""
    exact = FreeTop(MOMENTS, OMEGA)
    world = top()
    energy, momentum = kept(world, 10)
    yield Measure("attitude after 10 s", distance(attitude(world), exact.attitude(10)), 1e-6)
    yield Measure("energy, relative", energy, 5e-9)
    yield Measure("angular momentum, relative", momentum, 1e-14)
    errors = [distance(attitude(advance(top(1 / n), 10)), exact.attitude(10)) for n in (120, 240, 480)]
    yield order("attitude", errors, 3.7)
    world = World(gravity=(0, 0, 0), dt=0.01)
    world.add(Box((0.1, 0.2, 0.3)), mass=1.0, angular_velocity=OMEGA)
    before, l = world.energy().total, world.angular_momentum()
    world.step(500)
    yield Measure("energy of a box of 0.2 x 0.4 x 0.6 m, 500 steps of 0.01 s", abs(world.energy().total - before), 1e-9, "J")
    yield Measure("angular momentum of that box, relative", relative(world.angular_momentum(), l), 1e-13)


def flips(dt: float) -> list[float]:
    """Times at which the angular velocity about the middle axis changes sign, by a cubic through the steps around."""
    world = top(dt, mass=1.0, inertia=(1, 2, 3), angular_velocity=(0.01, 5, 0))
    times, values, found = [0.0], [5.0], []
    while world.time < 14:
        world.step()
        times.append(world.time)
        values.append(float((attitude(world).T @ world.angular_velocities[0])[1]))
    for k in range(2, len(times) - 1):
        if values[k - 1] * values[k] < 0:
            line = np.polynomial.Polynomial.fit(times[k - 2 : k + 2], values[k - 2 : k + 2], 3)
            found.append(brentq(line, times[k - 1], times[k], xtol=1e-15))
    return found


@case("V02", "Flips about the middle axis")
def middle_axis() -> Iterator[Measure]:
    """A body with moments of inertia 1, 2 and 3 kg m^2 turns at 5 rad/s about the middle axis, and at 0.01 rad/s about
    another. That is unstable: it flips over every 5.27 s, and each flip multiplies errors by e^15. The known answer: the flips
    are zeros of the elliptic function sn."""
    exact = FreeTop((1, 2, 3), (0.01, 5, 0)).flips(3)
    runs = [flips(1 / n) for n in (120, 240)]
    errors = [abs(run[2] - exact[2]) if len(run) == 3 else math.nan for run in runs]
    yield Measure("time of the third flip", errors[1], 1e-3, "s")
    yield order("that time", errors, 3.7)
    energy, momentum = kept(top(mass=1.0, inertia=(1, 2, 3), angular_velocity=(0.01, 5, 0)), 10)
    yield Measure("energy after 10 s, relative", energy, 5e-9)
    yield Measure("angular momentum, relative", momentum, 1e-14)


@case("V03", "Symmetric top")
def free_symmetric_top() -> Iterator[Measure]:
    """A body with moments of inertia 0.4, 0.4 and 0.7 kg m^2 starts with an angular velocity of (0.6, 0, 8) rad/s. The known
    answer: its axis goes round the angular momentum L at a constant angle and rate, and the body turns about its axis at a
    constant rate."""
    omega = (0.6, 0, 8)
    l = np.array([0.24, 0, 5.6])

    def make(dt: float = STEP) -> World:
        return top(dt, mass=1.0, inertia=(0.4, 0.4, 0.7), angular_velocity=omega)

    world = make()
    worst = 0.0
    for _ in range(120):
        world.step(round(1 / 24 / world.dt))
        worst = max(worst, abs(angle(attitude(world)[:, 2], l) - math.atan2(0.24, 5.6)))
    expected = symmetric_top(0.4, 0.7, omega, 5)
    yield Measure("attitude after 5 s", distance(attitude(world), expected), 1e-6)
    yield Measure("angle between axis and L", worst, 1e-8, "rad")
    yield order("attitude", [distance(attitude(advance(make(1 / n), 5)), expected) for n in (120, 240, 480)], 3.7)


@case("V04", "Drift over a long time")
def long_drift() -> Iterator[Measure]:
    """The cuboid of V01 for 20 periods of its angular velocity. The Runge-Kutta method of order 4 loses energy in such motion,
    by a known amount: 5.354e-11 of it a period at 1/240 s, and 2^5 times less with half the step."""
    period = FreeTop(MOMENTS, OMEGA).period
    drifts = []
    for n in (60, 120, 240):
        world = top(1 / n)
        before = world.energy().total
        world.step(round(20 * period * n))
        drifts.append((world.energy().total / before - 1) / 20)
    yield Measure("loss of energy in a period, relative, dt 1/240 s", abs(drifts[2]), 2e-10)
    yield Measure("change of energy in a period, the largest: it must not rise", max(drifts), 0.0)
    slopes = [math.log2(a / b) for a, b in zip(drifts, drifts[1:], strict=False)]
    yield Measure("order of the loss: difference from 5", max(abs(s - 5) for s in slopes), 0.2)
    yield Measure("loss beside the known loss of the method, relative", abs(drifts[2] / -5.354e-11 - 1), 0.1)


TOP = {"across": 0.25 * 0.5 * 0.07**2 + 0.5 * 0.06**2, "along": 0.5 * 0.5 * 0.07**2}  # disc of 0.5 kg, 0.07 m, 0.06 m up


def heavy_top(dt: float = STEP) -> World:
    """A disc on a tip that stays where it is: moments about the tip, and the weight's torque as that of a couple."""
    world = World(gravity=(0, 0, 0), dt=dt)
    moments = (TOP["across"], TOP["across"], TOP["along"])
    tilt = math.radians(30)
    axis = (0, math.sin(tilt), math.cos(tilt))
    q = (math.cos(tilt / 2), -math.sin(tilt / 2), 0, 0)
    spin = tuple(50.0 * a for a in axis)
    world.add(Cylinder(0.07, 0.001), mass=0.5, inertia=moments, orientation=q, angular_velocity=spin)
    world.add_force(ConstantForce(force=(0, 0, -0.5 * G), point=(0, 0, 0.06)))
    world.add_force(ConstantForce(force=(0, 0, 0.5 * G)))
    return world


@case("V05", "Heavy symmetric top")
def lagrange_top() -> Iterator[Measure]:
    """A disc of 0.5 kg spins at 50 rad/s about an axis with a fixed tip, and is let go at 30 degrees from the vertical. It
    nods while it goes round (nutation and precession). The known answer is in closed form (Goldstein, Classical Mechanics,
    chapter 5)."""
    exact = HeavyTop(TOP["across"], TOP["along"], 0.5 * G * 0.06, math.radians(30), 50.0)
    world = heavy_top()
    tilts, rounds = [math.radians(30)], [math.pi / 2]
    l = world.angular_momentum()[2]
    for _ in range(round(1.6 * exact.period / world.dt)):
        world.step()
        x, y, z = attitude(world)[:, 2]
        tilts.append(math.acos(z))
        rounds.append(math.atan2(y, x))
    lowest = _peaks(np.array(tilts), np.unwrap(rounds), world.dt)
    (t1, first, a1), (t2, second, a2) = lowest
    yield Measure("largest tilt", max(abs(x - exact.largest) for x in (first, second)), 1e-4, "rad")
    yield Measure("period of nodding, relative", abs((t2 - t1) / exact.period - 1), 1e-4)
    around = exact.azimuth(exact.period)
    yield Measure("turn about the vertical in a period of nodding, relative", abs((a2 - a1) / around - 1), 1e-4)
    yield Measure("vertical angular momentum, relative", abs(world.angular_momentum()[2] / l - 1), 1e-6)
    w = attitude(world).T @ world.angular_velocities[0]
    yield Measure("spin, relative", abs(w[2] / 50 - 1), 1e-6)
    u, turned = exact.height(5), exact.azimuth(5) + math.pi / 2
    axis = np.array([math.sqrt(1 - u * u) * math.cos(turned), math.sqrt(1 - u * u) * math.sin(turned), u])
    errors = [distance(attitude(advance(heavy_top(1 / n), 5))[:, 2], axis) for n in (120, 240, 480)]
    yield order("the direction of the axis after 5 s", errors, 3.7)
    off = distance(attitude(advance(of_catalog("heavy_top"), 5))[:, 2], axis)  # of its own moments, under gravity
    yield Measure("the direction of the axis after 5 s, its tip on a ball joint", off, 1e-6)


def _peaks(tilts: np.ndarray, rounds: np.ndarray, dt: float) -> list[tuple[float, float, float]]:
    """(time, tilt, azimuth) of the largest tilts, by polynomials through the five steps around."""
    out = []
    for k in range(2, len(tilts) - 2):
        if tilts[k] == tilts[k - 2 : k + 3].max():
            t = np.arange(-2, 3)
            nod, turned = (np.polynomial.Polynomial.fit(t, x[k - 2 : k + 3], 4) for x in (tilts, rounds))
            at = brentq(nod.deriv(), -1, 1, xtol=1e-14)
            out.append(((k + at) * dt, float(nod(at)), float(turned(at))))
    return out


def thrown(dt: float = STEP, drag: Drag | None = None, mass: float = 1.0) -> World:
    world = World(dt=dt)
    a = math.radians(35)
    world.add(Sphere(0.037), mass=mass, velocity=(40 * math.cos(a), 0, 40 * math.sin(a)), angular_velocity=OMEGA)
    if drag is not None:
        world.add_force(drag)
    return world


@case("V06", "Projectile")
def projectile() -> Iterator[Measure]:
    """A body is thrown at 40 m/s and 35 degrees. The known answers: closed forms in a vacuum and with linear drag (k/m = 0.1
    1/s); with quadratic drag (a ball of 0.145 kg in air) an integration of order 8."""
    vx, vz = 40 * math.cos(math.radians(35)), 40 * math.sin(math.radians(35))
    flown = 2 * vz / G
    world = advance(thrown(), 4)
    yield Measure("place after 4 s in a vacuum", distance(world.positions[0], (vx * 4, 0, vz * 4 - G * 8)), 1e-12, "m")
    height = lambda t: world.positions[0][2] + world.velocities[0][2] * t - G * t * t / 2  # noqa: E731
    end = brentq(height, 0, 1, xtol=1e-15)
    yield Measure("range in a vacuum", abs(world.positions[0][0] + vx * end - vx * flown), 1e-12, "m")
    fade = -math.expm1(-0.2) / 0.1
    expected = (vx * fade, 0, vz * fade - G / 0.1 * (2 - fade))
    errors = [distance(advance(thrown(1 / n, Drag(linear=0.1)), 2).positions[0], expected) for n in (15, 30, 60, 240)]
    yield Measure("place after 2 s with linear drag", errors[-1], 1e-9, "m")
    yield order("that place, dt 1/15 to 1/60 s", errors[:3], 3.7)
    c = 0.5 * 1.2 * 0.35 * math.pi * 0.037**2
    found, exact = _flight(thrown(drag=Drag(quadratic=c), mass=0.145)), _flight_by_other_means(c / 0.145)
    names = ("distance of the apex", "height of the apex", "range", "time of flight", "speed at the end")
    for what, a, b, unit in zip(names, found, exact, ("m", "m", "m", "s", "m/s"), strict=True):
        yield Measure(f"quadratic drag: {what}", abs(a - b), 1e-4, unit)


def _flight(world: World) -> tuple[float, ...]:
    """(apex x, apex z, range, time of flight, speed at the end), between the steps by a cubic."""
    times, states = [0.0], [(*world.positions[0], *world.velocities[0])]
    while states[-1][2] >= 0:
        world.step()
        times.append(world.time)
        states.append((*world.positions[0], *world.velocities[0]))
    y = np.array(states)
    path = CubicHermiteSpline(times, y[:, :3], y[:, 3:])
    speed = CubicHermiteSpline(times, y[:, 3:], np.gradient(y[:, 3:], times, axis=0))
    up = brentq(lambda t: speed(t)[2], 0.5, 3, xtol=1e-14)
    down = brentq(lambda t: path(t)[2], times[-2], times[-1], xtol=1e-14)
    return (*path(up)[[0, 2]], path(down)[0], down, float(np.linalg.norm(speed(down))))


def _flight_by_other_means(c: float) -> tuple[float, ...]:
    a = math.radians(35)

    def rates(_, y):
        return [y[2], y[3], -c * math.hypot(y[2], y[3]) * y[2], -c * math.hypot(y[2], y[3]) * y[3] - G]

    def apex(_, y):
        return y[3]

    def ground(_, y):
        return y[1]

    ground.terminal, ground.direction = True, -1
    path = solve_ivp(
        rates, (0, 20), [0, 0, 40 * math.cos(a), 40 * math.sin(a)], method="DOP853", rtol=1e-13, atol=1e-13, events=(apex, ground)
    )
    x, z = path.y_events[0][0][:2]
    end = path.y_events[1][-1]
    return x, z, end[0], path.t_events[1][-1], math.hypot(end[2], end[3])


def orbit(dt: float = STEP) -> World:
    world = top(dt, position=(0.7, 0, 0), velocity=(0, math.sqrt(GM * 1.3 / 0.7), 0))
    world.add_force(CentralGravity(gm=GM))
    return world


GM = 4 * math.pi**2 / 100  # [m^3/s^2]: a = 1 m takes 10 s


@case("V07", "Kepler's ellipse")
def kepler() -> Iterator[Measure]:
    """The cuboid of V01 on an orbit of semi-major axis 1 m and eccentricity 0.3. The known answer: Kepler's equation gives the
    place; the rotation is that of a free body, because the attraction acts at the centre of mass."""
    world, free = advance(orbit(), 10), top()
    x, v = world.positions[0], world.velocities[0]
    yield Measure("distance from the start after a period", distance(x, (0.7, 0, 0)), 1e-8, "m")
    to_periapsis = np.cross(v, np.cross(x, v)) / GM - x / np.linalg.norm(x)
    yield Measure("turn of the apsidal line", abs(math.atan2(to_periapsis[1], to_periapsis[0])), 1e-8, "rad")
    yield Measure("energy of the orbit, relative", abs((v @ v / 2 - GM / np.linalg.norm(x)) / (-GM / 2) - 1), 1e-9)
    yield Measure("rotation beside that of a free body", distance(attitude(world), attitude(advance(free, 10))), 1e-12)
    n = 800  # steps in a third of the period
    anomaly = brentq(lambda e: e - 0.3 * math.sin(e) - 2 * math.pi / 3, 0, 4, xtol=1e-15)
    place = (math.cos(anomaly) - 0.3, math.sqrt(0.91) * math.sin(anomaly), 0)
    world = orbit(10 / 3 / n)
    world.step(n)
    yield Measure("place after a third of a period", distance(world.positions[0], place), 1e-8, "m")
    errors = [distance(advance(orbit(1 / m), 10).positions[0], (0.7, 0, 0)) for m in (60, 120, 240)]
    yield order("that distance, dt 1/60 to 1/240 s", errors, 3.7)
