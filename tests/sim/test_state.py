"""The same run gives the same bits: again, after a restart, in another process, on one thread or several."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path as Folder

import numpy as np

from tumble.collision import Box, Cone, ConvexHull, HalfSpace, Sphere
from tumble.sim import Hinge, Path, World

STEPS = 120
ROOT = Folder(__file__).resolve().parents[2]


def heap() -> World:
    """Much of what a world can hold: shapes, a joint, a path, a sensor, sleep, accounts, pending events."""
    rng = np.random.default_rng(7)
    world = World(sleep_after=0.05, sleep_speed=5e-3, sleep_spin=5e-2)
    world.add(HalfSpace(), kind="static", name="floor", friction=0.4)
    path = Path(times=(0, 0.5, 1), positions=((0, 0, 0.1), (0.3, 0, 0.1), (0, 0, 0.1)), loop=True)
    world.add(Box((0.2, 0.2, 0.1)), kind="kinematic", name="cart", path=path)
    world.add(Box((1, 1, 0.2)), kind="static", name="gate", position=(0, 0, 0.8), sensor=True)
    world.add(Box((0.1, 0.1, 0.1)), name="still", position=(2, 0, 0.1))
    hull = ConvexHull(rng.normal(size=(12, 3)) * 0.08)
    for k in range(8):
        shape = (Sphere(0.1), Box((0.1, 0.08, 0.06)), hull, Cone(0.1, 0.1))[k % 4]
        q = rng.normal(size=4)
        position = (*(0.1 * rng.normal(size=2)), 0.5 + 0.3 * k)
        world.add(shape, name=f"body {k}", position=position, orientation=q / np.linalg.norm(q), restitution=0.3 * (k % 2))
    world.add(Box((0.3, 0.03, 0.03)), name="arm", position=(0.3, 3, 1))
    world.add_joint(Hinge(None, "arm", anchor=(0, 3, 1), axis=(0, 1, 0)))
    world.keep_accounts()
    return world


def told(world: World) -> list:
    return [(e.kind, e.time, e.a.name, e.b.name, *e.impulse, e.loss) for e in world.events()]


def hashes() -> list[str]:
    world = heap()
    out = []
    for _ in range(4):
        world.step(STEPS // 4)
        out.append(world.state_hash())
    return out


def test_two_runs_are_the_same_bits():
    assert hashes() == hashes()


def test_other_bits_have_another_hash():
    world, other = heap(), heap()
    assert world.state_hash() == other.state_hash()
    other.model.bodies.x[4, 0] = np.nextafter(other.model.bodies.x[4, 0], 9)
    assert world.state_hash() != other.state_hash()


def test_another_process_and_more_threads_give_the_same_bits():
    code = "from tests.sim.test_state import hashes; print(*hashes())"
    for threads in ("1", "2"):
        environment = {**os.environ, "NUMBA_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True, cwd=ROOT)
        assert done.stdout.split() == hashes()


def test_a_restart_at_any_time_changes_no_bit(tmp_path):
    """Saved in flight, in contact, asleep, with events that nobody has read yet; read again, and once more."""
    world = heap()
    for k, steps in enumerate((0, 17, 40, 30, 33)):
        if steps:
            world.step(steps)
        file = tmp_path / f"{k}.npz"
        world.save(file)
        again = World.load(file)
        assert again.state_hash() == world.state_hash()
        assert np.array_equal(again.asleep, world.asleep)
        further = World.load(file)
        further.step(25)
        again.step(25)
        again.save(tmp_path / "again.npz")
        assert World.load(tmp_path / "again.npz").state_hash() == further.state_hash()
        assert told(again) == told(further)
        assert again.ledger == further.ledger
        assert again.ledger_by_pair() == further.ledger_by_pair()
        assert np.array_equal(again.contacts(), further.contacts())
    assert world.asleep.any()


def test_a_run_with_restarts_is_the_run_without(tmp_path):
    straight, broken = heap(), heap()
    straight.step(STEPS)
    for _ in range(4):
        broken.step(STEPS // 4)
        broken.save(tmp_path / "w.npz")
        broken = World.load(tmp_path / "w.npz")
    assert broken.state_hash() == straight.state_hash()
    assert broken.ledger == straight.ledger
    assert told(broken) == told(straight)
    assert broken.statistics() == straight.statistics()


def test_accounts_of_bodies_are_halves_of_those_of_pairs():
    world = heap()
    world.step(STEPS)
    pairs, bodies = world.ledger_by_pair(), world.ledger_by_body()
    assert list(bodies) == list(world.names)
    for entry in ("contact", "restitution", "friction", "external"):
        assert np.isclose(sum(b[entry] for b in bodies.values()), sum(p[entry] for p in pairs.values()), rtol=1e-12, atol=1e-12)
    energy = world.energy()
    assert np.isclose(sum(b["kinetic"] for b in bodies.values()), energy.kinetic_linear + energy.kinetic_angular, rtol=1e-12)
    assert np.isclose(sum(b["potential"] for b in bodies.values()), energy.potential, rtol=1e-12)
