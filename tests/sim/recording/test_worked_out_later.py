"""Where nothing but its steps changes a world its samples are worked out many at once, to the bits that each alone has."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tumble.scenarios.registry import load
from tumble.sim import Recorder, Run
from tumble.sim.errors import SimulationError
from tumble.sim.recording.storage import sample_stores
from tumble.sim.world.compiled_recording import Reel
from tumble.sim.world.world import World

STEPS = 36  # two chunks of sixteen samples, and a part of one


def watcher(world: World) -> None:
    """An observer that might change the world: so each sample is worked out as it is taken."""


watcher.every = 1


def recorded(name: str, path=None, watched: bool = False, **how) -> Run:
    world = load(name)().build()
    recorder = Recorder(path, **how)
    with np.errstate(all="ignore"):
        run = world.run(STEPS * world.dt, [recorder, watcher] if watched else [recorder])
    assert recorder._reel is None
    return run


def same(one: Run, other: Run) -> None:
    assert set(one._arrays) == set(other._arrays)
    for name in one._arrays:
        a, b = np.asarray(one._arrays[name]), np.asarray(other._arrays[name])
        assert a.dtype == b.dtype
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), name


@pytest.mark.parametrize(
    "name", ["bouncing_ball", "stack", "double_pendulum", "robot_arm", "kepler_orbit", "turntable_ball", "pinball"]
)
def test_the_same_bits(name):
    same(recorded(name), recorded(name, watched=True))


@pytest.mark.parametrize(
    "how",
    [{"every": 3}, {"precision": "single"}, {"bodies": ["*2", "*4"]}, {"compression": 0}, {"impacts": True}, {"contacts": True}],
)
def test_on_disk(tmp_path, monkeypatch, how):
    """In chunks of which several are full."""
    monkeypatch.setattr(sample_stores, "CHUNK_BYTES", 1)  # as few as may be: 16
    same(recorded("stack", tmp_path / "a.zarr", **how), recorded("stack", tmp_path / "b.zarr", watched=True, **how))
    same(Run.open(tmp_path / "a.zarr"), Run.open(tmp_path / "b.zarr"))


def test_a_run_that_nobody_watches_has_the_energies_of_servos():
    """The servos of an arm move the ends of springs between two steps: their potentials were those of the start."""
    world = load("robot_arm")().build()
    alone = world.run(STEPS * world.dt)
    watched = recorded("robot_arm", watched=True)
    assert np.array_equal(alone.potential, watched.potential)
    assert np.ptp(alone.potential) > 0.1


def test_who_waits(monkeypatch):
    """Samples of a run that nothing disturbs are not worked out one by one; of others they are."""
    kept = []
    plain = Reel.keep
    monkeypatch.setattr(Reel, "keep", lambda reel, world: kept.append(plain(reel, world)))
    recorded("bouncing_ball")
    assert len(kept) == STEPS + 1
    kept.clear()
    recorded("bouncing_ball", watched=True)
    recorded("bouncing_ball", contacts=True)
    assert not kept


def test_what_disturbs_is_seen(monkeypatch):
    """A control that sets a mass: were samples worked out later, their energies would be those of the mass at the start."""

    def run(later: bool) -> Run:
        world = load("bouncing_ball")().build()
        recorder = Recorder(None)
        if later:
            recorder._new_reel = partial(Reel, world)

        def heavier(world: World) -> None:
            world.bodies[-1].mass *= 1.01

        return world.run(20 * world.dt, [recorder], control=heavier)

    told, late = np.asarray(run(False)._arrays["energy"]), np.asarray(run(True)._arrays["energy"])
    assert not np.allclose(told[2:], late[2:], rtol=1e-3)


def test_a_run_that_fails_keeps_what_there_was(tmp_path):
    """All samples up to the step that could not be taken, in memory and on disk."""
    for path in (None, tmp_path / "a.zarr"):
        failing(path)


def failing(path: Path | None) -> None:
    world = load("bouncing_ball")().build()
    recorder, ball = Recorder(path), world.bodies[-1]
    broken = lambda t, x, q, v, w: ((np.nan, 0.0, 0.0) if t > 10.5 * world.dt else (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))  # noqa: E731
    world.add_force(broken, bodies=[ball])
    with pytest.raises(SimulationError):
        world.run(1.0, [recorder])
    steps = np.asarray(recorder.run()._arrays["step"])
    assert steps.tolist() == list(range(world.step_count + 1))
    assert len(steps) >= 10
