"""A recording that was damaged on the disk, made whole: the same scene gives the same bits again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tumble.scenarios.checks.compare import unequal
from tumble.sim.errors import RecordingError
from tumble.sim.files import aside, put_folder
from tumble.sim.recording.observers import Every
from tumble.sim.recording.recorder import Recorder
from tumble.sim.recording.run import Run
from tumble.sim.recording.storage.checksums import CHECKSUM_TABLE, TAIL, consolidate


def repair(run: Run | str | Path, progress: Callable[[int, int], None] | None = None) -> list[str]:
    """Record a run again beside itself, and put that in its place if all that is whole came out to the last bit.

    Returns what was damaged, a sentence each. Raises RecordingError where the run comes out otherwise, as it may with another
    version; then nothing is touched. ``progress(done, total)`` is called now and then.
    """
    run = run if isinstance(run, Run) else Run.open(run)
    damages = run.damages()
    if not damages:
        return damages
    path, was = run.path, run.attributes
    chosen = None if run.whole else list(run.names)
    held = {"contacts": "contact_count" in run._arrays, "impacts": "impact_time" in run._arrays}
    how = {name: was[name] for name in ("every", "precision", "compression") if name in was}
    last = _last_step(run)
    with aside(path) as folder:
        new = folder / path.name
        world = run.scene.build()
        recorder = Recorder(new, bodies=chosen, **how, **held)
        watch = [] if progress is None else [Every(max(1, last // 200), lambda world: progress(world.step_count, last))]
        again = world.run(last * world.dt, [recorder, *watch])
        _compare(run, again)
        told = {**was, "repaired": [*was.get("repaired", []), *damages], TAIL: again.attributes[TAIL]}
        consolidate(new, **told)
        put_folder(new, path)
    return damages


def _last_step(run: Run) -> int:
    """The step of the last sample, by whichever of steps and times is whole there; else by how many there are."""
    end = run._arrays["time"].shape[0]
    for name, step in (("step", 1), ("time", run.scene.dt)):
        try:
            return round(float(run.part(name, slice(end - 1, end))[0]) / step)
        except RecordingError:
            pass
    return (end - 1) * run.attributes.get("every", 1)


def _compare(run: Run, again: Run) -> None:
    """RecordingError where a chunk that is whole is not what it is when it is run again."""
    for name in sorted(run._arrays):
        if name.startswith(CHECKSUM_TABLE):
            continue
        array = run._arrays[name]
        for start in range(0, array.shape[0], array.chunks[0]):
            try:
                was = run.part(name, slice(start, start + array.chunks[0]))
            except RecordingError:
                continue
            now = again.part(name, slice(start, start + array.chunks[0]))
            if len(was) != len(now) or unequal(was, now).any():
                rows = min(len(was), len(now))
                bad = unequal(was[:rows], now[:rows]).reshape(rows, -1).any(axis=1) if rows else np.ones(1, bool)
                at = start + (int(bad.argmax()) if bad.any() else rows)
                why = f"run again, {name} is another from sample {at} on"
                raise RecordingError(run.path, f"is damaged and can not be repaired: {why} (other versions, or another machine?)")
