"""Run a scene under a progress bar; leave its trajectory and summary on disk."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collision.errors import InputError, check_number
from scenarios.progress import RunProgress, compiling
from sim.recording import Recorder
from sim.run import Run
from sim.scene import Scene

TRAJECTORY, SUMMARY = "trajectory.zarr", "summary.json"


@dataclass
class Artefacts:
    """A run and the files that it left."""

    run: Run
    summary: dict[str, Any]
    paths: dict[str, Path] = field(default_factory=dict)


def warm(quiet: bool = False) -> int:
    """Compile what a step needs, or load it from the cache, under a progress bar; how many kernels were compiled."""
    with compiling(quiet) as count:
        from scenarios.registry import load  # numba loads here, under the bar

        world = load("two_cuboids")(lead=0.0).build()
        world.step(2)
        world.contacts()
    return count["kernels"]


def scene_of(scenario: str | Path | Scene, **parameters: Any) -> Scene:
    """The scene that is meant by a name of the catalog, a scene file, or a Scene. Only a name takes parameters."""
    from scenarios.files import load_scene
    from scenarios.registry import load

    if isinstance(scenario, Scene):
        scene = scenario
    elif isinstance(scenario, Path) or scenario.endswith(".toml") or "/" in scenario or os.sep in scenario:
        scene = load_scene(scenario)
    else:
        return load(scenario)(**parameters)
    if parameters:
        raise InputError(next(iter(parameters)), next(iter(parameters.values())), "only scenarios of the catalog have parameters")
    return scene


def run_scene(
    scene: Scene,
    out: str | Path | None = None,
    seconds: float | None = None,
    dt: float | None = None,
    every: int = 1,
    quiet: bool = False,
    contacts: bool = False,
) -> Artefacts:
    """Run a scene, recording every ``every`` steps under ``out`` (in memory where that is None).

    ``seconds`` and ``dt`` replace the scene's own. Under ``out`` go trajectory.zarr and summary.json.
    Raises InputError, RecordingError, SimulationError.
    """
    if dt is not None:
        scene = copy.copy(scene)
        scene.dt = check_number("dt", dt, above=0)
    seconds = scene.duration if seconds is None else check_number("seconds", seconds, above=0)
    warm(quiet)
    out = None if out is None else Path(out)
    recorder = Recorder(None if out is None else out / TRAJECTORY, every=every, contacts=contacts)
    run = scene.build().run(seconds, [recorder, RunProgress(f"Running {scene.name}", seconds, scene.dt, quiet)])
    artefacts = Artefacts(run, run.summary())
    if out is not None:
        (out / SUMMARY).write_text(json.dumps(artefacts.summary, indent=2) + "\n", encoding="utf-8")
        artefacts.paths = {"trajectory": out / TRAJECTORY, "summary": out / SUMMARY}
    return artefacts
