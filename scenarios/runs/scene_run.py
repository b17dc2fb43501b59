"""Run a scene under a progress bar; leave its trajectory and summary on disk."""

from __future__ import annotations

import copy
import json
import sys
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import InputError, check_number
from tumble.scenarios.fields import shortened
from tumble.scenarios.progress import Bar, RunProgress
from tumble.scenarios.runs.manifest import TRAJECTORY, listed
from tumble.sim.errors import RecordingError, SimulationError
from tumble.sim.files import claimed, whole
from tumble.sim.pace import Pace
from tumble.sim.recording.provenance import versions
from tumble.sim.recording.recorder import Recorder, chosen_bodies
from tumble.sim.recording.run import Run
from tumble.sim.recording.storage.reading_files import reading_path
from tumble.sim.scene.options import check_step
from tumble.sim.scene.scene import Scene
from tumble.sim.words import count as number

if TYPE_CHECKING:
    from tumble.collision.kernels.native import Library
    from tumble.scenarios.registry import Scenario
    from tumble.sim.world.world import World

SUMMARY, CHECKPOINT = "summary.json", "checkpoint.npz"
CHECKPOINT_SECONDS = 20.0  # wall clock: what a crash can cost at most


@dataclass
class Artefacts:
    """A run and the files that it left."""

    run: Run
    summary: dict[str, Any]
    paths: dict[str, Path] = field(default_factory=dict)


def warm(*beside: Library, quiet: bool = False) -> int:
    """Compile what a step needs, and libraries ``beside`` that reach no other kernels, on all cores, where it is not kept; how
    many kernels were compiled."""
    from tumble.collision.kernels.shipped import provide
    from tumble.sim.compiled import LIBRARY

    provide(LIBRARY)
    with Bar("Compiling kernels, first run only", counted=True, quiet=quiet) as bar:
        count = LIBRARY.prepare(lambda done, total, note: bar.update(done, total, note), *beside)
    if count and not quiet:
        bar.console.print(f"Compiled {number(count, 'kernel')} in {bar.seconds:.0f} s; they are kept for the next time.")
    return count


def compile_on_the_way(quiet: bool = False) -> None:
    """Begin to compile what is not kept: a step then waits for those kernels alone that it reaches."""
    from tumble.collision.kernels.shipped import provide
    from tumble.sim.compiled import LIBRARY

    provide(LIBRARY)
    if not LIBRARY.whole:
        LIBRARY.growing.line = lambda *_: None
        LIBRARY.growing.start()
        if not quiet:
            told = "Compiling kernels, on first use only: this run waits for those that it reaches."
            Bar("", counted=True, quiet=quiet).console.print(told)


def scene_of(scenario: str | Path | Scene | Scenario, **parameters: Any) -> Scene:
    """The scene that is meant by a name of the catalog, a scene file, a Python file with a @scenario, a Scenario, or a Scene."""
    from tumble.scenarios.registry import Scenario, load

    if not isinstance(scenario, Scene):
        return (scenario if isinstance(scenario, Scenario) else load(scenario))(**parameters)
    if parameters:
        raise InputError(next(iter(parameters)), next(iter(parameters.values())), "a Scene is built already: change it itself")
    return scenario


def nudge(scene: Scene, size: float, random: np.random.Generator) -> None:
    """Let each dynamic body start off by up to ``size`` [m, m/s] in each coordinate."""
    scene.bodies = list(scene.bodies)
    for i, body in enumerate(scene.bodies):
        if body.kind == "dynamic":
            off = {f: tuple(np.array(getattr(body, f)) + size * random.uniform(-1, 1, 3)) for f in ("position", "velocity")}
            scene.bodies[i] = body.replace(**off)


def run_scenario(
    scenario: str | Path | Scene | Scenario,
    seconds: float | None = None,
    dt: float | None = None,
    every: int = 1,
    contacts: bool = False,
    out: str | Path | None = None,
    **parameters: Any,
) -> Run:
    """The run of a scenario, a scene file or a Scene, with these parameters: in memory, or under ``out``. Prints nothing.

    ``seconds``, ``dt``: else the scene's own; ``every``: steps from sample to sample; ``contacts``: keep them, and impacts. For
    a progress bar, checkpoints and more see :func:`run_scene`. Raises InputError, RecordingError, SimulationError.

    >>> run = run_scenario("dominoes", friction=0.2)
    """
    return run_scene(scene_of(scenario, **parameters), out, seconds, dt, every, quiet=True, contacts=contacts).run


def run_scene(
    scene: Scene,
    out: str | Path | None = None,
    seconds: float | None = None,
    dt: float | None = None,
    every: int | None = None,
    quiet: bool = False,
    contacts: bool | None = None,
    resume: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    bodies: Sequence[str] | None = None,
    precision: str | None = None,
    compression: int | None = None,
) -> Artefacts:
    """Run a scene, recorded under ``out`` (in memory where that is None).

    ``seconds`` and ``dt`` replace the scene's own. ``every``, ``contacts`` (and impacts), ``bodies``, ``precision`` and
    ``compression`` are those of :class:`~tumble.sim.recording.recorder.Recorder`.
    Under ``out`` go trajectory.zarr, summary.json and checkpoint.npz, the world as it was last saved: each
    ``checkpoint_seconds`` of the clock, and at the end. ``resume``: go on from there, bit for bit, up to ``seconds`` in all, and
    record as it was begun; where nothing was saved yet, it begins.
    Raises InputError, RecordingError, SimulationError.
    """
    if dt is not None:
        scene = copy.copy(scene)
        scene.dt = check_step("dt", dt)
    seconds = scene.duration if seconds is None else check_number("seconds", seconds, above=0)
    if round(seconds / scene.dt) < 1:
        raise InputError("seconds", seconds, f"must be a step of {scene.dt:g} s at least")
    if resume and out is None:
        raise InputError("resume", resume, "needs the folder that the run is in")
    how = {"every": every, "contacts": contacts, "bodies": bodies, "precision": precision, "compression": compression}
    how = {name: value for name, value in how.items() if value is not None}
    out = None if out is None else Path(out)
    with nullcontext() if out is None else claimed(out):
        return _run(scene, out, seconds, how, quiet, resume, checkpoint_seconds)


def _run(
    scene: Scene, out: Path | None, seconds: float, how: dict[str, Any], quiet: bool, resume: bool, checkpoint_seconds: float
) -> Artefacts:
    going_on = resume and (out / CHECKPOINT).exists() and (out / TRAJECTORY).exists()
    if going_on:
        how = _as_begun(scene, _opened(out), how)
    if out is None and quiet and not how.keys() - {"every", "contacts"} and not how.get("contacts") and not scene.instruments:
        compile_on_the_way(quiet)
        run = scene.build().run(seconds, every=how.get("every", 1))  # without observers: by the compiled step
        return Artefacts(run, run.summary())
    trajectory = None if out is None else out / TRAJECTORY
    recorder = Recorder(trajectory, append=going_on, impacts=how.get("contacts", False), **how)
    if recorder.chosen is not None:
        chosen_bodies(recorder.chosen, [body.name for body in scene.bodies])  # complains before anything runs
    compile_on_the_way(quiet)
    world = _taken_up(scene, out) if going_on else None
    observers: list[Any] = [recorder]
    if out is not None:
        if world is None and out.is_dir():
            (out / CHECKPOINT).unlink(missing_ok=True)  # it belongs to the recording that is about to be replaced
        observers.append(Checkpoints(out / CHECKPOINT, recorder, checkpoint_seconds))
    world = scene.build() if world is None else world
    left = max(0, round(seconds / scene.dt) - world.step_count) * scene.dt
    run = world.run(left, [*observers, RunProgress(f"Running {scene.name}", seconds, scene.dt, quiet)])
    artefacts = Artefacts(run, run.summary())
    if out is not None:
        with listed(out / SUMMARY):
            write_whole(out / SUMMARY, json.dumps(artefacts.summary, indent=2) + "\n")
        artefacts.paths = {"trajectory": out / TRAJECTORY, "summary": out / SUMMARY}
        if world.instruments:
            artefacts.paths["readings"] = reading_path(out / TRAJECTORY)
            with listed(artefacts.paths["readings"]):
                pass  # the recorder has written them
    return artefacts


def _opened(out: Path) -> Run:
    """The recording that a run goes on with; RecordingError says what mends one that is damaged."""
    try:
        return Run.open(out)
    except RecordingError as error:
        raise RecordingError(error.path, f"{error.reason}; without --resume it is recorded anew") from None


def write_whole(path: Path, text: str) -> None:
    """Write a file under a temporary name first: it is there whole, or not at all."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8")


class Checkpoints:
    """An observer that saves the world now and then, once all samples up to it are on disk; and when the run ends.

    So that a run that was killed at any instant can go on from the file: it has no sample less than the world needs.
    """

    only_looks = True  # it changes nothing of a world

    def __init__(self, path: Path, recorder: Recorder, seconds: float):
        self.path, self.recorder, self.every = path, recorder, recorder.every
        self.seconds = check_number("checkpoint_seconds", seconds, least=0)
        self.pace = Pace()

    def __call__(self, world: World) -> None:
        if world.step_count % self.every == 0 and self.pace.due(self.seconds):
            self.save(world)

    def finish(self, world: World) -> None:
        """Save the world as it ends; one that can not go on too, as it was before the step that it could not take."""
        if sys.exception() is None or isinstance(sys.exception(), SimulationError):
            self.save(world)

    def save(self, world: World) -> None:
        with self.pace.measured():
            self.recorder.flush()
            world.save(self.path)


def _as_begun(scene: Scene, run: Run, how: dict[str, Any]) -> dict[str, Any]:
    """How a run was recorded; InputError where that, or its scene, is not what is asked for now."""
    begun = f"the run in {run.path.parent} had"
    if run.scene != scene:
        then, now = run.scene.to_dict(), scene.to_dict()
        key = next(key for key in ("parameters", *now, *then) if then.get(key) != now.get(key))
        raise InputError(key, shortened(now.get(key)), f"{begun} {shortened(then.get(key))}: resume it as it was begun")
    was = {
        "every": run.attributes.get("every", 1),
        "contacts": "contact_count" in run._arrays,
        "bodies": None if run.whole else list(run.names),
        "precision": run.precision,
        "compression": run.attributes.get("compression", 1),
    }
    now = {**was, **how}
    if "bodies" in how:
        names = [body.name for body in scene.bodies]
        now["bodies"] = chosen_bodies(how["bodies"], names)
        was["bodies"] = list(run.names)
    for name, value in now.items():
        if was[name] != value:
            raise InputError(name, how[name], f"{begun} {shortened(was[name])}: resume it as it was begun")
    return now


def _taken_up(scene: Scene, out: Path) -> World:
    """The world that was saved under ``out``."""
    from tumble.sim.world.world import World

    run = Run.open(out)
    if run.attributes["versions"] != json.dumps(versions()):
        warnings.warn(f"{out} was begun with other versions: the bits may not be those of one run", stacklevel=3)
    world = World.load(out / CHECKPOINT)
    world._scene = run.scene
    return world
