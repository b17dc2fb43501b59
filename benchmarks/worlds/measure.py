"""What a world keeps of the promises: each a number, 0 where it is kept exactly, beside the bar that it must not pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tumble.collision import ShapeSet, signed_distances
from tumble.collision.shapes.definitions import convex_parts
from tumble.sim import BodyDef, Scene, SimulationError, World
from tumble.sim.forces.force_definitions import ConstantForce, MutualGravity, Spring
from tumble.sim.ledger.diagnostics import rotations
from tumble.sim.ledger.promises import MOST_ENERGY, MOST_GAIN, MOST_OVERLAP, MOST_RESIDUAL, MOST_UNSOLVED, thickness

BARS = {
    "rise": (MOST_ENERGY, "energy rises by itself, of the largest kinetic energy"),
    "contact": (MOST_ENERGY, "entry `contact` at the end, of the largest kinetic energy"),
    "flight": (MOST_ENERGY, "entry `integrator`, of the largest kinetic energy"),
    "gain": (MOST_GAIN, "an impact gains energy"),
    "overlap": (MOST_OVERLAP, "deepest overlap, of the smaller body"),
    "unsolved": (MOST_UNSOLVED, "solves above the tolerance, of all"),
    "residual": (MOST_RESIDUAL, "worst residual of a solve [m/s]"),
    "momentum": (1e-13, "momentum, of what moved"),
    "angular": (1e-13, "angular momentum, of what moved"),
    "books": (1e-9, "energy that no entry of the books explains, of what was moved"),
    "open": (1e-9, "a joint is open [m or rad]"),
    "error": (0.0, "the run ended in an error"),
}
LOOK = 12  # steps from one look at all distances to the next

Look = Callable[[World], float]  # at a world after each step


@dataclass
class Trial:
    """A scene to run, and what else to ask of it: by name a bar, and a function that gives a world at its start a look at it
    after each step, of which the largest value counts."""

    scene: Scene
    extras: dict[str, tuple[float, Callable[[World], Look]]] = field(default_factory=dict)


@dataclass
class Found:
    """Of one trial: the value of each promise, when it came to it [s], and how long the run took [s]."""

    values: dict[str, float]
    when: dict[str, float]
    bars: dict[str, float]
    counts: dict[str, int]
    seconds: float
    message: str = ""

    @property
    def missed(self) -> list[str]:
        return [name for name, value in self.values.items() if not value <= self.bars[name]]


class Distances:
    """Signed distances of all pieces that may not overlap, by the queries alone: independent of what the step looked at."""

    def __init__(self, world: World):
        bodies = [body.definition for body in world.bodies]
        parts = [(i, shape, pose) for i, body in enumerate(bodies) for shape, pose in convex_parts(body.shape)]
        self.body = np.array([i for i, _, _ in parts])
        self.width = np.array([thickness(shape) for _, shape, _ in parts])
        self.at = np.array([pose.position for _, _, pose in parts])
        self.q = np.array([pose.orientation for _, _, pose in parts])
        self.shapes = ShapeSet([shape for _, shape, _ in parts])
        names = world.names
        apart = {frozenset(pair) for pair in world.apart}
        apart |= {frozenset((j.definition.a, j.definition.b)) for j in world.joints if not j.definition.collide}
        rows = [
            (m, n)
            for m in range(len(parts))
            for n in range(m + 1, len(parts))
            if (i := parts[m][0]) != (j := parts[n][0])
            and "dynamic" in (bodies[i].kind, bodies[j].kind)
            and not (bodies[i].sensor or bodies[j].sensor)
            and _meet(bodies[i], bodies[j])
            and frozenset((names[i], names[j])) not in apart
        ]
        self.a, self.b = np.array(rows, dtype=np.int64).reshape(-1, 2).T

    def overlap(self, world: World) -> float:
        """The deepest overlap, of the smaller body."""
        if len(self.a) == 0:
            return 0.0
        x, q = world.positions[self.body], world.orientations[self.body]
        x = x + np.einsum("nij,nj->ni", rotations(q), self.at)
        q = _times(q, self.q)
        d = signed_distances(self.shapes, self.a, self.b, x[self.a], q[self.a], x[self.b], q[self.b], margin=0.0).upper
        return max(0.0, float(-(np.minimum(d, 0.0) / np.minimum(self.width[self.a], self.width[self.b])).min()))

    def felt(self, contacts: np.ndarray) -> float:
        """The same of the contacts that the world knows."""
        if len(contacts) == 0:
            return 0.0
        size = np.minimum(self.width[contacts["piece_a"]], self.width[contacts["piece_b"]])
        return max(0.0, float((-contacts["gap"] / size).max()))


def _meet(a: BodyDef, b: BodyDef) -> bool:
    return bool(a.mask & b.groups and b.mask & a.groups)


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    w = a[:, 0] * b[:, 0] - np.einsum("ni,ni->n", a[:, 1:], b[:, 1:])
    v = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.column_stack([w, v])


class Momenta:
    """Balance of momentum and angular momentum with immovable bodies, as far as it is known what the forces gave.

    Of the angular momentum about the origin gravity leaves the component along itself alone.
    """

    def __init__(self, world: World, scene: Scene):
        self.mass = sum(b.mass for b in world.bodies if b.kind == "dynamic")
        outer = [f for f in scene.forces if not isinstance(f, (Spring, MutualGravity)) or (isinstance(f, Spring) and f.b is None)]
        self.push = sum((np.array(f.force) * len(f.bodies) for f in outer if isinstance(f, ConstantForce)), np.zeros(3))
        self.linear = all(isinstance(f, ConstantForce) and f.bodies and f.frame == "world" for f in outer)
        self.turning = not outer
        g = world.gravity
        self.along = np.outer(g, g) / (g @ g) if g @ g > 0 else np.eye(3)
        self.p0, self.l0 = world.momentum() + world.reservoir[0], world.angular_momentum() + world.reservoir[1]
        self.moved, self.turned = 1e-300, 1e-300

    def off(self, world: World) -> tuple[float, float]:
        """(momentum, angular momentum) [kg m/s, kg m^2/s] that nothing explains; and the scales are kept."""
        p, l = world.momentum() + world.reservoir[0], world.angular_momentum() + world.reservoir[1]
        b = world.model.bodies
        each, arms = np.linalg.norm(b.p, axis=1) * (b.mass > 0), np.linalg.norm(b.x, axis=1)
        fallen = (self.mass * world.gravity + self.push) * world.time
        self.moved = max(self.moved, each.sum() + np.linalg.norm(fallen))
        spins = np.linalg.norm(b.l, axis=1) * (b.mass > 0)
        self.turned = max(self.turned, float((each * arms + spins).sum() + np.linalg.norm(fallen) * arms.max(initial=0.0)))
        linear = np.linalg.norm(p - self.p0 - fallen) if self.linear else 0.0
        return linear, np.linalg.norm(self.along @ (l - self.l0)) if self.turning else 0.0


class Worst:
    """The largest of a row of values, and when it grew by most [s]: where they add up, there it happened."""

    def __init__(self):
        self.value, self.at, self.growth = 0.0, 0.0, 0.0

    def see(self, value: float, time: float) -> None:
        if value - self.value > self.growth:
            self.growth, self.at = value - self.value, time
        self.value = max(self.value, value)


def measure(trial: Trial) -> Found:
    """Run a trial, looking at every step."""
    begun = time.perf_counter()
    bars = {name: bar for name, (bar, _) in (BARS | trial.extras).items()}
    values, when = dict.fromkeys(bars, 0.0), dict.fromkeys(bars, 0.0)
    message, world = "", None

    def put(name: str, value: float, at: float | None = None) -> None:
        if not value <= values[name]:
            values[name], when[name] = float(value), world.time if at is None else at

    try:
        world = trial.scene.build()
        _watch(trial, world, put)
    except SimulationError as e:
        message = str(e)
        values["error"] = 1.0
        when["error"] = world.time if world else 0.0
    counts = world.statistics() if world else {}
    for name in ("impacts", "solves", "unsolved", "uncertain", "capped", "rekicks"):
        counts.setdefault(name, 0)
    values["unsolved"] = counts["unsolved"] / max(1, counts["solves"])
    kept = {k: int(v) for k, v in counts.items() if k in ("impacts", "solves", "unsolved", "uncertain", "capped", "rekicks")}
    return Found(values, when, bars, kept, time.perf_counter() - begun, message)


def _watch(trial: Trial, world: World, put: Callable[..., None]) -> None:
    """All steps of a trial. What is a part of the largest kinetic energy is known at the end."""
    world._begin()
    distances, momenta = Distances(world), Momenta(world, trial.scene)
    least, most = np.inf, 1e-300
    rise, contact, flight, linear, angular = (Worst() for _ in range(5))
    looks = {name: look(world) for name, (_, look) in trial.extras.items()}
    steps = round(trial.scene.duration / world.dt)
    failed = None
    for k in range(steps):
        try:
            world.step()
        except SimulationError as e:
            failed = e
            break
        energy, ledger = world.energy(), world.ledger
        most = max(most, energy.kinetic_linear + energy.kinetic_angular)
        own = energy.total - ledger.external - ledger.user
        least = min(least, own)
        rise.see(own - least, world.time)
        contact.see(abs(ledger.contact), world.time)
        flight.see(abs(ledger.integrator), world.time)
        if not ledger.closes:
            put("books", abs(ledger.residual) / max(ledger.moved, 1e-300))
        put("overlap", distances.felt(world.contacts()))
        if k % LOOK == 0 or k == steps - 1:
            put("overlap", distances.overlap(world))
        counts = world.statistics()
        put("residual", counts["residual"])
        put("gain", counts["impact_gain"])
        if counts["unsolved"]:
            put("unsolved", 1e-300)  # when it was; how many is known at the end
        for one, value in zip((linear, angular), momenta.off(world), strict=True):
            one.see(value, world.time)
        for joint in world.joints:
            put("open", joint.error)
        for name, look in looks.items():
            put(name, look(world))
    put("rise", rise.value / most, rise.at)
    put("contact", abs(world.ledger.contact) / most, contact.at)
    put("flight", flight.value / most, flight.at)
    put("momentum", linear.value / momenta.moved, linear.at)
    put("angular", angular.value / momenta.turned, angular.at)
    if failed is not None:
        raise failed
