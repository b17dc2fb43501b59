"""`tumble bench`: times that add up, stages that are where they should be, and clocks that change nothing."""

from __future__ import annotations

import json

import pytest

from tumble.collision.errors import InputError
from tumble.collision.kernels import clocks
from tumble.collision.kernels.clocks import Reading
from tumble.scenarios.measuring import bench
from tumble.scenarios.measuring.bench import (
    Chunk,
    _kernels,
    chosen,
    kernels,
    measure,
    run_suite,
    stage_of,
    stages,
    table,
    write_json,
)
from tumble.scenarios.registry import load
from tumble.scenarios.verbs.measuring import BENCHMARKS


def test_suite_is_made_of_scenarios():
    for scenario, parameters, seconds in bench.SUITE.values():
        load(scenario)(**parameters)
        assert seconds > 0
    assert chosen([]) == list(bench.SUITE) == BENCHMARKS.split()
    with pytest.raises(InputError, match="scene = 'stak': must be one of tumbling, stack"):
        chosen(["stak"])


def test_stages_by_name():
    assert stage_of("tumble.collision.broadphase.candidate_pairs.find_box_pairs") == "broad"
    assert stage_of("tumble.collision.distance.polytopes.polytope_query") == "narrow"
    assert stage_of("tumble.sim.solvers.newton.newton_in") == "solver"
    assert stage_of("tumble.sim.contact.contact_solve._kick_island") == "contact"
    assert stage_of("tumble.sim.impact.impact_loop._collide") == "impacts"
    assert stage_of("tumble.sim.flight.clusters._launch") == "flight"


def test_unclocked_kernels_are_flight():
    row = {"clocked": 10.0, "kernels": {"tumble.sim.impact.impact_loop._collide": {"calls": 1, "total": 6.0, "own": 2.0},
                                     "tumble.sim.solvers.newton.newton_in": {"calls": 1, "total": 4.0, "own": 4.0}}}  # fmt: skip
    parts = stages(row)
    assert parts["impacts"] == pytest.approx(0.2)
    assert parts["solver"] == pytest.approx(0.4)
    assert parts["flight"] == pytest.approx(0.4)
    assert sum(parts.values()) == pytest.approx(1.0)


def test_what_others_took_is_left_out():
    """A chunk of 2 ms in which another process had the processor for 8 ms of 10; and one that nobody cut into."""
    busy = Chunk(10, 0.010, 0.002, {"tumble.sim.a": Reading(20, 0.010, 0.010)})
    quiet = Chunk(10, 0.002, 0.002, {"tumble.sim.a": Reading(20, 0.001, 0.001)})
    clocked, found = _kernels([busy, busy, quiet])
    assert clocked == pytest.approx(200.0)
    assert found["tumble.sim.a"] == pytest.approx({"calls": 2.0, "total": 500 / 3, "own": 500 / 3})
    clocked, found = _kernels([busy, quiet, quiet])
    assert clocked == pytest.approx(200.0)
    assert found["tumble.sim.a"] == pytest.approx({"calls": 2.0, "total": 100.0, "own": 100.0})


@pytest.mark.skipif(not clocks.available(), reason="needs a processor whose clock programs may read")
def test_a_stack_and_a_world_with_ground_are_measured(monkeypatch, tmp_path):
    """In one go: the process with clocks compiles what it clocks."""
    monkeypatch.setitem(bench.SUITE, "stack", ("stack", {"boxes": 20}, 0.5))  # 120 steps; the other process is told how many
    monkeypatch.setitem(bench.SUITE, "rocks", (*bench.SUITE["rocks"][:2], 3 / 240))
    row, rocks = run_suite(["stack", "rocks"], budget=30.0, quiet=True)
    assert row["steps"] == row["of"] == 120
    assert row["bodies"] == 21
    assert row["contacts"] == 80
    assert 0 < row["mean"] < 1e5
    assert row["same_bits"]  # clocks change nothing
    assert measure("stack", 0.0, steps=119)["hash"] != row["hash"]
    assert sum(row["stages"].values()) == pytest.approx(1.0, abs=1e-9)
    # a stack that stands: each solve is one look at the residual, and what touches takes most of the time all the same
    assert row["stages"]["narrow"] + row["stages"]["contact"] + row["stages"]["solver"] > 0.4
    newton = row["kernels"]["tumble.sim.solvers.newton.newton_in"]
    assert newton["calls"] >= 1  # one island, at least one solve a step
    for kernel in row["kernels"].values():
        assert 0 <= kernel["own"] <= kernel["total"] * (1 + 1e-9)
    assert "stack" in table([row]).splitlines()[1]
    assert "tumble.sim.solvers.newton.newton_in" in kernels(row)
    saved = json.loads(write_json([row], tmp_path / "bench.json").read_text())
    assert saved["rows"][0]["name"] == "stack"
    assert saved["machine"]["cores"] >= 1
    assert rocks["steps"] == 3
    assert rocks["same_bits"]
    assert rocks["kernels"]["tumble.sim.contact.ground.facet_rows._bring"]["calls"] >= 1
