"""`tumble bench --calls` and `--start`: each row is a cost of what it says."""

from __future__ import annotations

import math

import pytest

from tumble.collision.kernels.jit import DISABLED
from tumble.scenarios.measuring import bench_calls
from tumble.scenarios.measuring.bench_calls import Row
from tumble.sim.world.applied_forces import Pushes

pytestmark = pytest.mark.skipif(DISABLED, reason="nothing is timed in plain Python")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """One call of each, alone."""
    monkeypatch.setattr(bench_calls, "least", lambda function, count, clock=None: [function()] and 1.0)
    monkeypatch.setattr(bench_calls, "mujoco", lambda: None)
    monkeypatch.setattr(bench_calls, "ROUNDS", 1)
    monkeypatch.setattr(bench_calls, "MEMBERS", 3)
    monkeypatch.setattr(bench_calls, "BOXES", 120)


def test_rows_of_calls():
    rows = bench_calls.calls()
    told = [row.what for row in rows]
    assert len(set(told)) == len(told)
    for name in ("body.position, of 1000 bodies", "body.apply_torque", "hinge.angle", "the same by apply_torque"):
        assert name in told
    above = next(row for row in rows if row.what == "the same, above its kernel")
    assert above.ours == 0.0  # each costs 1 here
    assert all(row.ours > 0 for row in rows if row is not above)
    assert all(math.isnan(row.theirs) for row in rows)


def test_rows_of_many_worlds():
    rows = bench_calls.many()
    assert [row.what.partition(": ")[2] for row in rows] == ["free ball", "box on a floor", "double pendulum", "stack of ten"]


def test_the_torque_on_the_pendulum_is_another_one_in_each_step(monkeypatch):
    """One that does not change is not met anew, so that a step alone would be timed. Twin: an arm that rests."""
    pushes = []

    def add(self, body, push):
        pushes.append(push)
        plain(self, body, push)

    def repeated(function, count):
        for _ in range(10):
            function()
        return 1.0

    plain = Pushes.add
    monkeypatch.setattr(Pushes, "add", add)
    monkeypatch.setattr(bench_calls, "least", repeated)
    bench_calls._of_a_pendulum()
    assert len(pushes) == len(set(pushes)) == 10
    world, arm, hinge = bench_calls.pendulum(0.0)
    pushes.clear()
    for _ in range(10):
        arm.apply_torque((0.0, 0.1 * hinge.speed - hinge.angle, 0.0))
        world.step()
    assert len(set(pushes)) < 10


def test_a_start_keeps_bytecode_as_python_does_by_default(monkeypatch):
    """Where nothing is kept, each start compiles all modules of the tree: that is another thing than a start."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    told = "import sys; sys.exit(sys.dont_write_bytecode)"
    assert bench_calls._process(["-c", told]) > 0


def test_table():
    lines = bench_calls.table([Row("a", "us", 1.25, 2.5), Row("longer", "s", 3.0)]).splitlines()
    assert [line.split() for line in lines] == [["tumble", "MuJoCo"], ["a", "1.25", "2.5", "us"], ["longer", "3", "s"]]
