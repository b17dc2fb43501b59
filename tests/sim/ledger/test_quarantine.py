"""What happens to a body whose state stops being finite: the run ends with the state before, or goes on without the body."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

from benchmarks.hazards import world as hazard
from tumble.collision import Box, Cone, Cylinder, HalfSpace, Sphere
from tumble.scenarios.checks.rerun import check
from tumble.scenarios.runs.scene_run import CHECKPOINT, run_scene
from tumble.sim import Distance, Every, Recorder, Run, Scene, SimulationError, World
from tumble.sim.forces.force_definitions import TabulatedForce


def burst(t, position, orientation, velocity, angular_velocity):
    """Nothing, and from 0.1 s on more than a number holds."""
    return (np.inf if t > 0.1 else 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def world(**more) -> World:
    out = World(**more)
    out.add(HalfSpace(), kind="static", name="floor")
    out.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1), name="resting")
    out.add(Sphere(0.1), position=(3, 0, 1), restitution=0.5, name="good")
    bad = out.add(Sphere(0.1), position=(6, 0, 1), name="bad")
    out.add_force(burst, bodies=[bad])
    return out


def test_the_error_names_body_and_step_and_leaves_the_state_before(tmp_path):
    one, other = world(), world()
    with pytest.raises(SimulationError, match=r"step 25 \(t = 0.1 s\): the state of bad is not finite") as told:
        one.run(0.5)
    assert (told.value.names, told.value.step) == (("bad",), 25)
    assert one.step_count == 24
    other.step(24)
    assert np.array_equal(one.positions, other.positions)
    assert one.energy().total == pytest.approx(other.energy().total, rel=1e-13)
    assert one.ledger.closes
    one.save(tmp_path / "world.npz")
    again = World.load(tmp_path / "world.npz", functions={"burst": burst})
    assert np.array_equal(again.positions, one.positions)
    assert again.step_count == 24


def test_a_run_that_can_not_go_on_leaves_its_world(tmp_path):
    """Beside the recording is the world as it was before the step that failed."""
    scene = Scene(name="fast", duration=0.1, dt=0.01)
    scene.add(Sphere(0.1), name="ball", mass=1e-3)
    scene.add_force(TabulatedForce(times=(0.0, 0.05, 0.06), forces=((0, 0, 0), (0, 0, 0), (1e308, 0, 0))))
    with pytest.raises(SimulationError, match="ball is not finite"):
        run_scene(scene, tmp_path, quiet=True)
    run, left = Run.open(tmp_path), World.load(tmp_path / CHECKPOINT)
    assert not run.complete
    assert np.array_equal(run.positions[-1], left.positions)
    assert left.step_count == run.steps[-1] >= 4


def test_a_kick_that_is_not_finite_is_not_seen():
    """The force is finite throughout step 24; contacts, which ask for it in the middle of the coming step, are not."""
    world = World(solver="sweeps")
    world.add(HalfSpace(), kind="static", name="floor")
    stack = [world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1 + 0.2 * k), name=f"box_{k}") for k in range(4)]
    world.add_force(burst, bodies=stack[:1])
    seen = []
    with pytest.raises(SimulationError, match="is not finite") as told:
        world.run(0.2, [Every(1, lambda world: seen.append(np.isfinite(world.velocities).all()))])
    assert (told.value.step, world.step_count, len(seen)) == (24, 23, 24)
    assert all(seen)
    assert np.isfinite(world.velocities).all()


def test_the_others_go_on_as_if_it_had_been_removed(tmp_path):
    one, other = world(quarantine=True), world()
    with pytest.warns(UserWarning, match="the state of bad is not finite: taken out of the world"):
        run = one.run(0.5, [Recorder(tmp_path / "run.zarr")])
    other.step(24)
    other.remove(other["bad"])
    other.step(one.step_count - 24)
    assert one.names == ("floor", "resting", "good")
    assert [error.names for error in one.quarantined] == [("bad",)]
    assert np.allclose(one.positions, other.positions, rtol=0, atol=1e-13)
    assert one.ledger.closes
    assert one.ledger.user == pytest.approx(other.ledger.user, rel=1e-12)  # its energy left
    row = run.index("bad")
    assert np.isfinite(run.positions[:25, row]).all()
    assert np.isnan(run.positions[25:, row]).all()
    one.save(tmp_path / "world.npz")
    assert [str(error) for error in World.load(tmp_path / "world.npz").quarantined] == [str(one.quarantined[0])]


def test_what_leaves_the_numbers_in_mid_step_ends_the_search_for_impacts():
    """A rod to the world in steps of a second, and two bodies within each other: an impact throws all beyond what floats hold."""
    world = World(dt=1.046)
    rod = world.add(Cylinder(0.1255, 0.1984), position=(0, -2.218, 0), velocity=(1.2947, -1.6571, 0.9791), name="rod")
    world.add_joint(Distance(rod, None))
    world.add(Cone(0.9552, 0.01), mass=0.4811, position=(3, 0, 0))
    world.add(Box((0.01, 0.01, 0.01)), position=(3, 0, 0))
    with pytest.raises(SimulationError, match="is not finite|is open by"):
        world.step()


@pytest.mark.parametrize("seed", [1035, 1054])
def test_what_contacts_throw_apart_ends_the_run_or_is_taken_out(seed, monkeypatch):
    """Bodies of masses far apart that start deep in each other: an error that names them, and the state before it, from which
    a world that is asked to goes on without them: the steps before it are taken once."""
    one = hazard(seed)
    with pytest.raises(SimulationError, match=r"step \d+ .*: contacts throw .* faster than anything can make them") as told:
        one.step(20)
    assert set(told.value.names) <= set(one.names)
    assert told.value.names
    assert one.step_count == told.value.step - 1
    assert np.abs(one.velocities).max() < 1e5
    other = one if one.step_count else hazard(seed)
    monkeypatch.setattr(other, "options", dataclasses.replace(other.options, quarantine=True))
    with warnings.catch_warnings(record=True):
        other.step(20 - other.step_count)
    assert other.step_count == 20
    assert other.quarantined
    assert np.abs(other.velocities).max(initial=0.0) < 1e6


@pytest.mark.parametrize("bodies", [None, ["last", "ball"]])
def test_recordings_without_it_go_on_and_are_checked(bodies, tmp_path):
    """A run that is taken up after a body was taken out has the bits of one that was not stopped."""
    scene = Scene(name="fast", duration=0.2, dt=0.01, quarantine=True)
    for k, name in enumerate(("first", "ball", "last")):
        scene.add(Sphere(0.1), name=name, mass=1e-3, position=(k, 0, 1))
    scene.add(HalfSpace(), kind="static", name="floor")
    force = TabulatedForce(times=(0.0, 0.05, 0.06), forces=((0, 0, 0), (0, 0, 0), (1e308, 0, 0)))
    scene.add_force(force, bodies=["ball"])
    how = {"quiet": True, "contacts": True} | ({"bodies": bodies} if bodies else {})
    with pytest.warns(UserWarning, match="ball is not finite: taken out"):
        whole = run_scene(scene, tmp_path / "whole", **how).run
    with pytest.warns(UserWarning, match="ball is not finite: taken out"):
        run_scene(scene, tmp_path / "half", seconds=0.1, **how)
    run = run_scene(scene, tmp_path / "half", resume=True, **how).run
    assert run.names == whole.names == (tuple(bodies) if bodies else ("first", "ball", "last", "floor"))
    for name in ("position", "velocity", "energy", "ledger_user", "contact_count"):
        assert np.array_equal(run.part(name, slice(None)), whole.part(name, slice(None)), equal_nan=True), name
    assert np.isnan(run.positions[-1, run.index("ball")]).all()
    assert run.attributes["state_hash"] == whole.attributes["state_hash"]
    with pytest.warns(UserWarning, match="ball is not finite: taken out"):
        assert check(run).same
