"""Impacts: bounces of balls, the collision law at one point, chains of balls."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tumble import Box, ConvexHull, HalfSpace, Hinge, Sphere, World, load
from tumble.scenarios.validation.answers.impact_answers import chain, contact_matrix, impact_by_other_means, plane_impact
from tumble.scenarios.validation.answers.tops import turn
from tumble.scenarios.validation.case import Measure, case
from tumble.scenarios.validation.lab import STEP, G, advance, attitude, distance, of_catalog, on_floor, pose_of, relative
from tumble.sim.impact.collision_law import NEWTON, POISSON, STRONGE, impact_law

LAWS = {"newton": NEWTON, "poisson": POISSON, "stronge": STRONGE}
NO_BETA = -math.inf


def strike(k: object, u: object, mu: float, e: float, law: str = "stronge") -> tuple[np.ndarray, np.ndarray, float]:
    """(impulse, u after, change of energy) by the simulator's law."""
    nine = tuple(float(x) for x in np.asarray(k).ravel())
    p, after, normal, friction, _ = impact_law(nine, tuple(float(x) for x in u), mu, mu, e, NO_BETA, LAWS[law])
    return np.array(p), np.array(after), normal + friction


# ---- balls ----


def dropped_ball(height: float, e: float, dt: float = STEP) -> World:
    """A ball of 0.1 m radius, its clearance above the floor given."""
    world = on_floor(dt=dt)
    world.add(Sphere(0.1), position=(0, 0, 0.1 + height), restitution=e)
    return world


def bounces(world: World, count: int) -> Iterator[tuple[float, float]]:
    """(time of the impact, clearance of the apex after it), by the parabola the ball is on at the end of the step."""
    for k in range(count):
        while world.statistics()["impacts"] == k:
            world.step()
        z, v = world.positions[1][2] - 0.1, world.velocities[1][2]
        launch = math.sqrt(v * v + 2 * G * z)
        yield world.time - (launch - v) / G, launch**2 / (2 * G)


@case("V08", "Bouncing ball")
def bouncing_ball() -> Iterator[Measure]:
    """A ball falls from 1 m. With restitution e = 0.8 each apex is 0.64 times the last, and the bounces are over after 4.064 s
    (a geometric series). With e = 1 it comes back to 1 m a hundred times, with e = 0.5 to a quarter of the height each
    time."""
    e, fall = 0.8, math.sqrt(2 / G)
    seen = list(bounces(dropped_ball(1.0, e), 5))
    times = [fall * (1 + 2 * e * (1 - e**k) / (1 - e)) for k in range(5)]
    yield Measure("heights of the apexes, e = 0.8", max(abs(h - e ** (2 * k + 2)) for k, (_, h) in enumerate(seen)), 1e-9, "m")
    yield Measure("times of five bounces", max(abs(t - s) for (t, _), s in zip(seen, times, strict=True)), 1e-9, "s")
    speeds = [math.sqrt(2 * G) * 0.5**k for k in range(8)]
    fast = [v for v in speeds if v > 2.5 * G * STEP]  # those above the threshold of impacts
    seen = list(bounces(dropped_ball(1.0, 0.5), len(fast)))
    off = max(abs(h - 0.25 ** (k + 1)) for k, (_, h) in enumerate(seen))
    yield Measure(f"heights of the apexes, e = 0.5, {len(fast)} bounces", off, 1e-9, "m")
    world = dropped_ball(1.0, 1.0, dt=1 / 60)
    start = world.energy().total
    energies, apexes = [], []
    for _, h in bounces(world, 100):
        energies.append(world.energy().total / start - 1)
        apexes.append(abs(h - 1))
    yield Measure("heights of the apexes, e = 1, 100 bounces, dt 1/60 s", max(apexes), 1e-9, "m")
    yield Measure("energy, relative", max(map(abs, energies)), 1e-10)
    yield Measure("rise of the energy, relative", max(energies), 1e-12)
    end = fall * (1 + e) / (1 - e)
    early = end - _time_of_rest(dropped_ball(1.0, e))
    yield Measure("comes to rest before the end of the series by", early, 2 * 0.0443 / (G * (1 - e)), "s")
    yield Measure("comes to rest after the end of the series by", -early, STEP, "s")


def _time_of_rest(world: World) -> float:
    while world.time < 5:
        world.step()
        if len(world.contacts()) and np.abs(world.velocities[1]).max() < 1e-9:
            return world.time
    return math.nan


BALLS = {  # v, w, mu, e
    "slides": ((3, 0, -4), (0, 0, 0), 0.1, 0.8),
    "sticks": ((3, 0, -4), (0, 0, 0), 0.5, 0.8),
    "slides, spinning": ((2, -1, -3), (-20, -15, -7), 0.15, 0.6),
}


def ball_after(v: object, w: object, mu: float, e: float, r: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """(v, w) of a solid sphere after it struck the floor: the slip ends where mu (1 + e) |u_n| >= 2/7 |u_t|."""
    v, w = np.array(v, float), np.array(w, float)
    slip = np.array([v[0] - r * w[1], v[1] + r * w[0], 0.0])
    speed, push = float(np.linalg.norm(slip)), -(1 + e) * v[2]
    change = -slip / speed * min(mu * push, 2 / 7 * speed) if speed else np.zeros(3)
    return v + change + (0, 0, push), w + 2.5 / r * np.array([change[1], -change[0], 0.0])


@case("V09", "Sphere on the floor, obliquely")
def oblique_sphere() -> Iterator[Measure]:
    """Solid spheres of radius 0.1 m strike the floor obliquely, and slide or stick while they do. Of a sphere, impulses along
    the normal and along the floor do not act on each other's velocity. So the slip keeps its direction, and the restitution
    laws of Newton, Poisson and Stronge agree in closed form (Brach; Walton)."""
    r = np.array((0, 0, -0.1))
    worst = 0.0
    for v, w, mu, e in BALLS.values():
        after = ball_after(v, w, mu, e)
        for law in LAWS:
            p = strike(np.diag((3.5, 3.5, 1.0)), np.array(v) + np.cross(w, r), mu, e, law)[0]
            worst = max(worst, distance(np.array(v) + p, after[0]), 0.1 * distance(w + np.cross(r, p) / 0.004, after[1]))
    yield Measure("v and R w after the impact, by the law alone", worst, 1e-9, "m/s")
    worst = spin = 0.0
    for v, w, mu, e in BALLS.values():
        world = on_floor(friction=mu)
        t = 1.5 * STEP  # it is to arrive with v in mid-step
        start = (-v[0] * t, -v[1] * t, 0.1 - v[2] * t - G * t * t / 2)
        ball = world.add(
            Sphere(0.1), position=start, velocity=(v[0], v[1], v[2] + G * t), angular_velocity=w, friction=mu, restitution=e
        )
        world.step(2)
        after = ball_after(v, w, mu, e)
        left = after[0] - (0, 0, G * (world.time - t))
        worst = max(worst, distance(ball.velocity, left), 0.1 * distance(ball.angular_velocity, after[1]))
        spin = max(spin, abs(world.angular_momentum(about=ball.position)[2] - 0.4 * ball.mass * 0.1**2 * w[2]))
    yield Measure("v and R w after the impact, in a scene", worst, 1e-9, "m/s")
    yield Measure("change of the angular momentum about the vertical", spin, 1e-15, "kg m^2/s")


@case("V10", "Superball")
def superball() -> Iterator[Measure]:
    """A rough elastic ball of radius R = 25 mm (tangential_restitution = 1) reverses its slip in each bounce. The known answer
    for speed v and spin w: v' = (3 v + 4 R w)/7 and R w' = (10 v - 3 R w)/7; the next bounce restores both (Garwin, Am. J.
    Phys. 37 (1969) 88)."""
    r = 0.025
    world = on_floor(friction=9.0)
    ball = world.add(
        Sphere(r), position=(0, 0, 0.5), velocity=(5, 0, 0), friction=9.0, restitution=1.0, tangential_restitution=1.0
    )
    start = world.energy().total
    v, rw = 5.0, 0.0
    worst = 0.0
    for k in range(10):
        while world.statistics()["impacts"] == k:
            world.step()
        v, rw = (3 * v + 4 * rw) / 7, (10 * v - 3 * rw) / 7
        worst = max(worst, abs(ball.velocity[0] - v), abs(r * ball.angular_velocity[1] - rw))
    yield Measure("v and R w in ten bounces", worst, 1e-9, "m/s")
    yield Measure("energy, relative", abs(world.energy().total / start - 1), 1e-10)
    without = strike(np.diag((3.5, 3.5, 1.0)), (5, 0, -3), 9.0, 1.0)[1]
    yield Measure("slip after a bounce with tangential_restitution = 0", float(np.hypot(*without[:2])), 1e-9, "m/s")


# ---- one point of any bodies ----

RODS = {  # regime: angle to the floor [degrees], mu, u of the tip
    "slip": (30, 0.1, (2.0, -1.0)),
    "sticks in compression": (60, 0.7, (0.3, -1.0)),
    "sticks in restitution": (60, 0.7, (-1.8, -1.0)),
    "reverses in compression": (45, 0.2, (0.15, -1.0)),
    "reverses in restitution": (45, 0.2, (0.9, -1.0)),
    "jams": (60, 2.0, (-1.0, -0.3)),
}


@case("V11", "Rod on the floor")
def rod_on_floor() -> Iterator[Measure]:
    """The lower end of a rod of 1 m and 1 kg strikes the floor with restitution e = 0.6. The known answer: in the plane of the
    rod, the velocity u of the end follows at most two straight lines as the impulse grows (Routh; Wang & Mason 1992). The six
    ways in which its slip can go, each under the laws of Newton, Poisson and Stronge."""
    for regime, (degrees, mu, u) in RODS.items():
        a = math.radians(degrees)
        x, z = -math.cos(a) / 2, -math.sin(a) / 2
        k = (1 + 12 * z * z, -12 * x * z, 1 + 12 * x * x)
        space = [[k[0], 0, k[1]], [0, 4.0, 0], [k[1], 0, k[2]]]
        worst = 0.0
        for law in LAWS:
            expected = plane_impact(k, u, mu, 0.6, law)[0]
            worst = max(worst, distance(strike(space, (u[0], 0, u[1]), mu, 0.6, law)[1], (expected[0], 0, expected[1])))
        yield Measure(f"velocity u of the end after: {regime}", worst, 1e-6, "m/s")


def corner() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(attitude, inertia in the world, arm of the lowest corner, velocities) of the cuboid of V12."""
    size = np.array((0.4, 0.2, 0.3))
    rot = turn((0.4, -0.7, 0.3), 0.8)
    moments = 2 / 12 * (np.sum(size**2) - size**2)
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2 @ rot.T
    return rot, rot @ np.diag(moments) @ rot.T, corners[np.argmin(corners[:, 2])], np.array(((1.5, -0.4, -2), (1, 3, -2)))


@case("V12", "Corner of a cuboid on the floor")
def cuboid_corner() -> Iterator[Measure]:
    """A cuboid of 2 kg strikes the floor with a corner, with friction mu = 0.3 and restitution e = 0.6. The slip turns while
    it slides, and then ends. The known answer for the velocity u of the corner: the law of the impact written in another form
    and integrated by another method. Once by the law alone, once as a scene, and for 20 random matrices K, which tell what
    velocity an impulse gives to the corner."""
    rot, inertia, arm, (v, w) = corner()
    k = contact_matrix((2.0, inertia, arm))
    u = v + np.cross(w, arm)
    expected = impact_by_other_means(k, u, 0.3, 0.6)
    p, after, change = strike(k, u, 0.3, 0.6)
    yield Measure("u after the impact, by the law alone", distance(after, expected), 1e-6, "m/s")
    yield Measure("change of energy beside p.(u + u')/2 of the impulse p", abs(change - p @ (u + after) / 2), 1e-12, "J")
    impulse = np.linalg.solve(k, expected - u)
    world = on_floor(friction=0.3, gravity=(0, 0, 0), dt=1e-10)  # so short that nothing turns in it
    body = world.add(
        Box((0.2, 0.1, 0.15)), mass=2.0, orientation=pose_of(rot), position=-arm, velocity=v, angular_velocity=w, friction=0.3,
        restitution=0.6,
    )  # fmt: skip
    world.step()
    w_after = w + np.linalg.solve(inertia, np.cross(arm, impulse))
    error = max(distance(body.velocity, v + impulse / 2), distance(body.angular_velocity, w_after))
    yield Measure("velocity and angular velocity after the impact, in a scene", error, 1e-6)
    rng = np.random.default_rng(12)
    worst = gain = 0.0
    for _ in range(20):
        a = rng.normal(size=(3, 3))
        k, u = a @ a.T + 0.2 * np.eye(3), np.array((*rng.normal(size=2), -1.0))
        mu, e = rng.uniform(0, 2), rng.uniform(0, 1)
        _, after, change = strike(k, u, mu, e)
        worst = max(worst, distance(after, impact_by_other_means(k, u, mu, e)) / float(np.linalg.norm(u)))
        gain = max(gain, change / (u @ np.linalg.solve(k, u) / 2))
    yield Measure("u after the impact, 20 random K, mu up to 2, relative", worst, 1e-6)
    yield Measure("gain of energy, relative", gain, 1e-12)


def pendulum() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(K of the tip, Jacobian, masses, rates) of two rods of 1 m and 1 kg at 20 and 30 degrees from hanging."""
    a, b = math.radians(20), math.radians(30)
    m = np.array([[4 / 3, math.cos(a - b) / 2], [math.cos(a - b) / 2, 1 / 3]])
    j = np.array([[math.cos(a), math.cos(b)], [math.sin(a), math.sin(b)]])
    return j @ np.linalg.solve(m, j.T), j, m, np.array((-0.1, -0.2))


@case("V13", "Double pendulum on the floor")
def double_pendulum() -> Iterator[Measure]:
    """The tip of a double pendulum strikes the floor (Kane & Levinson, Dynamics, 1985). Newton's law of restitution creates
    energy here: five times what there was with friction mu = 0.7 and restitution e = 0.9. Those of Poisson and Stronge do not.
    The known answer is a closed form in the plane; as a scene, two rods on hinges take the impact through their joints."""
    k, j, m, rates = pendulum()
    u = j @ rates
    before = rates @ m @ rates / 2
    space = [[k[0, 0], 0, k[0, 1]], [0, 1.0, 0], [k[0, 1], 0, k[1, 1]]]
    worst = 0.0
    energies = {}
    for mu in (0.5, 0.7):
        for e in (0.5, 0.9):
            for law in LAWS:
                expected = plane_impact((k[0, 0], k[0, 1], k[1, 1]), u, mu, e, law)[0]
                p, after, _ = strike(space, (u[0], 0, u[1]), mu, e, law)
                worst = max(worst, distance(after[[0, 2]], expected))
                q = rates + np.linalg.solve(m, j.T @ p[[0, 2]])
                energies[mu, e, law] = q @ m @ q / 2
    yield Measure("velocity u of the tip after the impact: two mu, two e, three laws", worst, 1e-6, "m/s")
    gain = energies[0.7, 0.9, "newton"] / before
    yield Measure("energy after by Newton's law, mu 0.7, e 0.9, relative to before", gain, 5.0, least=True)
    most = max(x for key, x in energies.items() if key[2] == "stronge") / before
    yield Measure("energy after by Stronge's law, the largest, relative to before", most, 1.0)
    worst = 0.0
    for mu, e, law in energies:
        q = rates + np.linalg.solve(m, j.T @ plane_impact((k[0, 0], k[0, 1], k[1, 1]), u, mu, e, law)[1])
        worst = max(worst, float(np.abs(swung(mu, e, law) - q).max()))
    yield Measure("rods on hinges: angular speeds after the impact", worst, 1e-6, "rad/s")


def swung(mu: float, e: float, law: str) -> np.ndarray:
    """Rates of the two rods after the tip has touched the floor, on which it stands at first, in a step too short to move."""
    world = World(gravity=(0, 0, 0), dt=1e-8, restitution_law=law)
    angles, rates = (math.radians(20), math.radians(30)), (-0.1, -0.2)
    below = [np.array((math.sin(a), 0, -math.cos(a))) for a in angles]
    top = -(below[0] + below[1])
    world.add(HalfSpace(), kind="static", friction=mu)
    rod = ConvexHull([(0, 0, -0.5), (0, 0, 0.5)])
    material = {"mass": 1.0, "inertia": (1 / 12, 1 / 12, 1e-9), "friction": mu, "restitution": e}
    at, speed = top, np.zeros(3)
    rods = []
    for d, a, rate in zip(below, angles, rates, strict=True):
        way = rate * np.array((math.cos(a), 0, math.sin(a)))
        q = (math.cos(a / 2), 0, -math.sin(a / 2), 0)
        motion = {"velocity": speed + way / 2, "angular_velocity": (0, -rate, 0)}
        rods.append(world.add(rod, position=at + d / 2, orientation=q, **motion, **material))
        at, speed = at + d, speed + way
    world.add_joint(Hinge(None, rods[0], anchor=top, axis=(0, 1, 0)))
    world.add_joint(Hinge(rods[0], rods[1], anchor=top + below[0], axis=(0, 1, 0)))
    world.step()
    return -world.angular_velocities[1:, 1]


@case("V14", "Two spinning cuboids")
def two_cuboids() -> Iterator[Measure]:
    """A corner of a spinning cuboid of 1.2 kg strikes a face of a spinning one of 12.5 kg in free space, with friction mu =
    0.4. The known answer for one impact: the law integrated by another method, started in touch. Then a run from 0.4 s before
    the impact, for momentum and angular momentum."""
    worst = loss = 0.0
    for e in (0.0, 0.5, 1.0):
        world = of_catalog("two_cuboids", 1e-10, lead=0.0, restitution=e)  # in so short a step nothing turns
        large, small = world["large"], world["small"]
        v, w = world.velocities, world.angular_velocities
        point = np.array((0.15, 0.02, 0.125))
        start = world.energy().total
        inertias = [large.inertia, (r := attitude(world, small.index)) @ small.inertia @ r.T]
        arms = [point, point - small.position]
        k = contact_matrix((12.5, inertias[0], arms[0]), (1.2, inertias[1], arms[1]))
        u = v[1] + np.cross(w[1], arms[1]) - v[0] - np.cross(w[0], arms[0])
        p = np.linalg.solve(k, impact_by_other_means(k, u, 0.4, e) - u)
        world.step()
        for i, sign in ((0, -1.0), (1, 1.0)):
            dw = np.linalg.solve(inertias[i], np.cross(arms[i], sign * p))
            worst = max(worst, distance(world.velocities[i], v[i] + sign * p / (12.5, 1.2)[i]))
            worst = max(worst, distance(world.angular_velocities[i], w[i] + dw))
        predicted = p @ u + p @ k @ p / 2
        loss = max(loss, abs(world.energy().total - start - predicted) / start)
    yield Measure("velocity and angular velocity after the impact, e = 0, 0.5, 1", worst, 1e-6)
    yield Measure("change of energy beside that of the law, relative", loss, 1e-9)
    world = load("two_cuboids")(lead=0.4).build()
    p, l = world.momentum(), world.angular_momentum()
    advance(world, 1)
    yield Measure("number of impacts", world.statistics()["impacts"], 1, least=True)
    yield Measure("total momentum, relative", relative(world.momentum(), p), 1e-12)
    yield Measure("total angular momentum, relative", relative(world.angular_momentum(), l), 1e-12)
    yield Measure("largest gain of energy in an impact", world.statistics()["impact_gain"], 1e-12)


# ---- chains ----


def cradle(count: int, struck: int, gap: float, e: float) -> World:
    world = World(gravity=(0, 0, 0))
    for k in range(count):
        world.add(Sphere(0.1), position=((0.2 + gap) * k, 0, 0), velocity=(1.0 if k < struck else 0.0, 0, 0), restitution=e)
    return world


@case("V15", "Newton's cradle")
def newtons_cradle() -> Iterator[Measure]:
    """Five equal spheres in a row. With gaps of 0.1 mm only two collide at a time: with restitution e = 1 the speed is handed
    on, with e = 0.9 it is spread in a known sequence. In touch and with e = 1, as many balls fly off as came; the velocities,
    sorted, have one solution."""
    for e in (1.0, 0.9):
        world = advance(cradle(5, 1, 1e-4, e), 2)
        yield Measure(f"velocities, gaps of 0.1 mm, e = {e:g}", distance(world.velocities[:, 0], chain(5, e)), 1e-9, "m/s")
    worst = energy = 0.0
    for n in range(1, 5):
        world = cradle(5, n, 0.0, 1.0)
        start = world.energy().total
        advance(world, 0.1)
        worst = max(worst, distance(world.velocities[:, 0], [0.0] * (5 - n) + [1.0] * n))
        energy = max(energy, abs(world.energy().total / start - 1))
    yield Measure("velocities, balls in touch, 1 to 4 of them fly in", worst, 1e-9, "m/s")
    yield Measure("energy, relative", energy, 1e-12)
