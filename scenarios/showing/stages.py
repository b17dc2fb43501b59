"""What stands on the stage of the window: a world, one of a scenario, whose numbers can be pulled, or a recording.

A world that is looked at takes the steps that it would take unseen, bit for bit, until someone drags a body or drops one; what
that does to the energy is booked as ``user``, the drag against swinging as ``external``.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.shapes.definitions import Box, Capsule, Cone, Cylinder, Sphere
from tumble.scenarios.fields import Real, Whole
from tumble.scenarios.registry import Parameter, Scenario
from tumble.sim.errors import InputError, SimulationError
from tumble.sim.forces.force_definitions import Drag, Force, Spring
from tumble.sim.recording.run import Run
from tumble.sim.scene.scene import Scene
from tumble.sim.world.world import World

if TYPE_CHECKING:
    from tumble.render.cameras.pick import Hit
    from tumble.render.frames.frame import Frame
    from tumble.render.windows.sliders import Slider

SLICE = 0.015  # s of stepping between two looks at the clock
THROW = 0.5  # s that a thrown ball is on its way
KINDS = {
    "box": lambda s: Box((s, 0.8 * s, 0.6 * s)),
    "ball": lambda s: Sphere(s),
    "capsule": lambda s: Capsule(0.5 * s, s),
    "cylinder": lambda s: Cylinder(0.7 * s, s),
    "cone": lambda s: Cone(0.9 * s, s),
}


class WorldStage:
    """A world on stage. ``make`` builds it, and builds it again for a reset."""

    live, span = True, None

    def __init__(self, make: Callable[[], World], title: str | None = None):
        self.make, self.title, self.overlays, self.kind = make, title, (), 0
        self.reset()

    @property
    def sliders(self) -> list[Slider]:
        """Of the parameters that it was built with."""
        return []

    def set(self, name: str, value: float) -> None:
        """Build it anew with another value of a parameter."""
        raise InputError(name, value, "there is no such parameter")

    @property
    def time(self) -> float:
        return self.world.time

    def reset(self) -> None:
        from tumble.render.frames.watched import WorldFrames

        if hasattr(self, "world"):
            self.close()
        self.world = self.make()
        self.frames = WorldFrames(self.world, self.title)
        self.frames.prepare(self.overlays)
        self._due, self._slice = 0.0, 1
        self._grip: tuple[str, tuple[float, float, float]] | None = None
        self._forces: list[Force] = []
        self._target: np.ndarray | None = None
        self._threads = self.world.threads
        self.world.threads = max(1, self._threads // 2)  # the others draw

    def close(self) -> None:
        """Leave the world to others."""
        self.world.threads = self._threads

    def prepare(self, overlays: tuple[str, ...]) -> None:
        self.overlays = overlays
        self.frames.prepare(overlays)

    def frame(self) -> Frame:
        frame = self.frames.now()
        if self._grip is not None and self._target is not None:
            name, local = self._grip
            row = self.world.names.index(name)
            from tumble.render.rotation import rotate

            frame.pull = np.stack([frame.positions[row] + rotate(frame.orientations[row], np.array(local)), self._target])
        return frame

    @property
    def alone(self) -> bool:
        """Each step asks Python, for a force or an actuator: in a thread of its own it would wait for the picture each time."""
        functions, controls = [getattr(force, "function", None) for force in self.world.forces], self.world.controls
        driven = bool(controls.actuators) and controls.explicit
        return driven or any(f is not None and not hasattr(f, "py_func") for f in functions)

    def advance(self, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
        """Take the steps that lie in ``seconds``; of those left when it is ``enough`` as many stay due."""
        self._due += seconds
        while (left := math.floor(self._due / self.world.dt + 1e-9)) > 0:
            begun = time.perf_counter()
            steps = min(left, self._slice)
            self.world.step(steps)
            if steps < left:  # else the next frame looks
                self.frames.look()
            self._due -= steps * self.world.dt
            self._slice = max(1, min(2 * self._slice, round(SLICE * steps / max(time.perf_counter() - begun, 1e-9))))
            if enough():
                self._due = min(self._due, max(self.world.dt, seconds))
                break

    def step(self, count: int) -> None:
        self.world.step(max(count, 0))
        self.frames.look()

    def grab(self, hit: Hit) -> None:
        body = self.world.bodies[hit.body]
        self._grip = body.name, tuple(map(float, hit.local))

    def drag(self, target: np.ndarray) -> None:
        """Pull the body by its grip with a spring that lets it sag by a tenth of its size, damped against swinging."""
        name, local = self._grip
        self._let_go()
        body = self.world[name]
        row = body.index
        size = float(np.nan_to_num(self.frames.cast.balls[1][row], nan=1.0)) or 1.0
        rate = math.sqrt(10.0 * max(float(np.linalg.norm(self.world.gravity)), 3.0) / size)
        rate = min(rate, 0.3 / self.world.dt)  # what the integrator resolves
        mass, inertia = body.mass, float(np.trace(body.inertia)) / 3
        spring = Spring(name, stiffness=mass * rate**2, damping=mass * rate, anchor_a=local, anchor_b=tuple(map(float, target)))
        drag = Drag(linear=0.5 * mass * rate, spin_linear=0.5 * inertia * rate, bodies=(name,))
        self._forces = [self.world.add_force(force) for force in (spring, drag)]
        self._target = np.asarray(target, float)

    def release(self) -> None:
        self._let_go()
        self._grip = self._target = None

    def _let_go(self) -> None:
        for force in self._forces:
            if force in self.world.forces:
                self.world.remove_force(force)
        self._forces = []

    def drop(self, place: tuple[np.ndarray, float]) -> str:
        point, size = place
        name = list(KINDS)[self.kind]
        body = self.world.add(KINDS[name](size), position=tuple(map(float, point)), friction=0.5, restitution=0.2)
        return f"dropped {body.name}"

    def throw(self, ball: tuple[np.ndarray, np.ndarray, float]) -> str:
        """A steel ball from a point to another, where it is in half a second: what it brings along is ``user`` work."""
        start, target, size = ball
        velocity = (target - start) / THROW - 0.5 * THROW * np.asarray(self.world.gravity)
        place, speed = (tuple(map(float, v)) for v in (start, velocity))
        steel = {"density": 7800.0, "friction": 0.4, "restitution": 0.4, "finish": "metal", "color": "#b8bcc4"}
        body = self.world.add(Sphere(size), position=place, velocity=speed, **steel)
        return f"threw {body.name}, {body.mass:.3g} kg at {float(np.linalg.norm(velocity)):.3g} m/s"

    def next_kind(self) -> str:
        self.kind = (self.kind + 1) % len(KINDS)
        return f"B drops a {list(KINDS)[self.kind]}"


class ScenarioStage(WorldStage):
    """A scenario on stage: its numbers can be pulled."""

    def __init__(self, scenario: Scenario, values: dict[str, Any] | None = None, change: Callable[[Scene], None] | None = None):
        self.scenario, self.values, self.change = scenario, dict(values or {}), change
        super().__init__(lambda: self.scene().build(), scenario.name)

    def scene(self) -> Scene:
        scene = self.scenario(**self.values)
        if self.change is not None:
            self.change(scene)
        return scene

    @property
    def sliders(self) -> list[Slider]:
        return [made for p in self.scenario.parameters.values() if (made := slider_of(p, self.values.get(p.name, p.default)))]

    def set(self, name: str, value: float) -> None:
        before = self.values
        self.values = {**before, name: value}
        try:
            self.reset()
        except (InputError, SimulationError):  # what a range does not tell, such as bodies that would overlap
            self.values = before
            self.reset()
            raise


def slider_of(parameter: Parameter, value: Any) -> Slider | None:
    """The slider of a parameter: within its range, and five times what it usually is; None for what is no number."""
    from tumble.render.windows.sliders import Slider

    field = parameter.field
    if type(field) not in (Real, Whole):
        return None
    usual = float(parameter.default)
    low, high = (-math.inf if end is None else end for end in (field.low, getattr(field, "above", None))), field.high
    low, high = max(low), math.inf if high is None else high
    reach = 5.0 * max(abs(usual), abs(float(value))) or 1.0
    low, high = max(low, 0.0 if usual >= 0.0 else -reach), min(high, reach)
    if low == getattr(field, "above", -math.inf):
        low += 0.01 * (high - low)
    if isinstance(field, Whole):
        low, high = math.ceil(low), math.floor(high)
    return Slider(parameter.name, value, low, high, getattr(field, "unit", ""), isinstance(field, Whole)) if high > low else None


class RunStage:
    """A recorded run on stage."""

    live, alone = False, True

    def __init__(self, run: Run):
        from tumble.render.frames.recorded import RunFrames

        self.run, self.frames = run, RunFrames(run)
        self.title, self.time = self.frames.cast.title, self.frames.start
        self.span = self.frames.start, self.frames.stop

    def reset(self) -> None:
        self.time = self.frames.start

    def close(self) -> None:
        """Nothing has to be given back."""

    def prepare(self, overlays: tuple[str, ...]) -> None:
        self.frames.prepare(overlays)

    def frame(self) -> Frame:
        return self.frames.at(self.time)

    def advance(self, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
        self.seek(self.time + seconds)

    def step(self, count: int) -> None:
        """To the next sample, or to the one before."""
        times = self.frames.times
        side = "right" if count > 0 else "left"
        row = int(np.searchsorted(times, self.time, side)) + (count - 1 if count > 0 else count)
        self.time = float(times[np.clip(row, 0, len(times) - 1)])

    def seek(self, to: float) -> None:
        self.time = float(np.clip(to, *self.span))

    @property
    def over(self) -> bool:
        return self.time >= self.span[1]


def stage_of(
    source: World | Scene | Run | Scenario, values: dict[str, Any] | None = None, change: Callable[[Scene], None] | None = None
) -> WorldStage | RunStage:
    """The stage of a world, a scene, a run, or of a scenario with ``values`` of its parameters, ``change`` made to its scenes.

    A world is stepped itself; a reset goes on with a copy of how it was.
    """
    if isinstance(source, Run):
        return RunStage(source)
    if isinstance(source, Scenario):
        return ScenarioStage(source, values, change)
    if isinstance(source, Scene):
        return WorldStage(source.build, source.name)
    again = _copier(source)
    first = [source]
    return WorldStage(lambda: first.pop() if first else again(), source.scene.name)


def _copier(world: World) -> Callable[[], World]:
    """A function that makes the world as it now is."""
    functions = {force.name: force.function for force in world.forces if getattr(force, "function", None) is not None}
    folder = tempfile.TemporaryDirectory()
    world.save(Path(folder.name) / "world.npz")
    return lambda: World.load(Path(folder.name) / "world.npz", functions)
