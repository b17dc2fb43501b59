"""The pytest plugin, as someone meets it who adds it to tests of their own: in a pytest of its own, by its entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tumble.collision.errors import InputError
from tumble.collision.kernels.sources import cache_root
from tumble.scenarios.checks.assertions import Violation

ROOT = Path(__file__).resolve().parent.parent.parent

KERNELS = str(cache_root().parent)

GOOD = """
def test_conserved(run_scenario, assert_conserved, assert_momentum):
    run = run_scenario("two_cuboids", seconds=0.3, restitution=1.0, friction=0.0)
    assert_conserved(run, "energy", rtol=1e-7)
    assert_conserved(run, "momentum", rtol=1e-13)
    assert_conserved(run, "angular_momentum", rtol=1e-12)
    assert_momentum(run)

def test_books(run_scenario, assert_ledger_closes, assert_passive, assert_in_friction_cone, assert_at_rest):
    run = run_scenario("sliding_cuboid", seconds=1.0, angle=0.0, friction=0.4, speed=3.0, contacts=True)
    assert_ledger_closes(run)
    assert_passive(run)
    assert_in_friction_cone(run)
    assert_at_rest(run, since=0.9)

def test_same(run_scenario, assert_same_run):
    run = run_scenario("two_cuboids", seconds=0.1)
    assert run is run_scenario("two_cuboids", seconds=0.1)
    again = run_scenario("two_cuboids", seconds=0.1, contacts=True)
    assert again is not run
    assert_same_run(run, again)
    assert_same_run(run, again.attributes["state_hash"])

def test_order(assert_converges):
    assert_converges("tumbling_box", order=4, seconds=0.5, dt=1 / 60)

def test_baseline(run_scenario, assert_baseline):
    assert_baseline(run_scenario("two_cuboids", seconds=0.6), rtol=1e-10)
"""

LOST = """
def test_energy(run_scenario, assert_conserved):
    assert_conserved(run_scenario("two_cuboids", seconds=0.1, lead=0.0), "energy")
"""

BAD = """
def test_baseline(run_scenario, assert_baseline):
    assert_baseline(run_scenario("two_cuboids", seconds=0.6))

def test_baseline_of_something_else(run_scenario, assert_baseline):
    assert_baseline(run_scenario("two_cuboids", seconds=0.6, friction=0.39), "other")

def test_order(assert_converges):
    assert_converges("tumbling_box", order=6, seconds=0.5, dt=1 / 60)

def test_hash(run_scenario, assert_same_run):
    assert_same_run(run_scenario("two_cuboids", seconds=0.1), "no such hash")

def test_runs(run_scenario, assert_same_run):
    assert_same_run(run_scenario("two_cuboids", seconds=0.1), run_scenario("two_cuboids", seconds=0.1, lead=0.4999))
"""


@pytest.fixture
def foreign(pytester, monkeypatch):
    """A folder of someone else's, where tumble is installed: its entry points are those of pyproject.toml."""
    info = pytester.path / "site" / "tumble_here-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tumble-here\nVersion: 0.1.0\n")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    (info / "entry_points.txt").write_text("[pytest11]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(pytester.path / "site"), str(ROOT)]))
    monkeypatch.setenv("TUMBLE_CACHE_DIR", KERNELS)  # pytester moves HOME, and the cache would be an empty one
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return pytester


@pytest.mark.slow
def test_good_and_bad_runs(foreign):
    """One of them draws what it failed on: a figure takes as long as all else does."""
    foreign.makepyfile(test_good=GOOD, test_lost=LOST)
    result = foreign.runpytest_subprocess("--tumble-update", "--tumble-plots", "plots")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines_random(
        [
            "*energy is not conserved*",
            "*first at 0.00416667 s (step 1): off by 2.5* J, allowed *e-09 J",
            "*ledger then *J*: *friction *restitution 1.*",
            "*plot: plots?test_lost.py_test_energy.png",
        ]
    )
    assert (foreign.path / "plots" / "test_lost.py_test_energy.png").stat().st_size > 10_000
    written = foreign.path / "baselines" / "test_good.test_baseline.json"
    said = json.loads(written.read_text())
    assert said["what"]["steps"] == 144
    assert said["quantities"]["energy at 0/4 of the time [J]"]["value"] == pytest.approx(6.86074343481, rel=1e-9)

    foreign.makepyfile(test_bad=BAD)
    for name, key in (("baseline", "energy at 4/4 of the time [J]"), ("baseline_of_something_else.other", None)):
        spoiled = json.loads(json.dumps(said))
        if key:
            spoiled["quantities"][key]["value"] += 1e-3
        (written.parent / f"test_bad.test_{name}.json").write_text(json.dumps(spoiled))
    result = foreign.runpytest_subprocess("test_bad.py", "test_good.py::test_baseline")
    result.assert_outcomes(passed=1, failed=5)
    result.stdout.fnmatch_lines_random(
        [
            "*energy at 4/4 of the time ?J?: *: off by 0.001, tolerance *",
            "*parameters: *0.39*, not *0.4*: another run",
            "*order * is below 6 - 0.3*",
            "*the run ends in another state: *, not no such hash*",
            "*they differ*",
        ]
    )


def test_missing_baseline_says_how_to_make_it(tmp_path):
    from tumble.scenarios.checks.baselines import Baselines

    with pytest.raises(AssertionError, match="there is no baseline .*none.json: make it with pytest --tumble-update"):
        Baselines(tmp_path / "none")(None)


def test_costs_others_nothing(foreign):
    """A foreign run loads neither compiler nor arrays, and the plugin itself is quick to import."""
    foreign.makepyfile(
        test_theirs="""
        import sys
        def test_theirs(request):
            assert request.config.pluginmanager.has_plugin("tumble.scenarios.testing")
            assert not {"numba", "numpy", "tumble.sim", "tumble.collision", "tumble.render"} & set(sys.modules)
        """
    )
    others = ("hypothesispytest", "xdist", "zarr")  # zarr's own plugin loads all of zarr
    foreign.runpytest_subprocess(*(f"-pno:{name}" for name in others)).assert_outcomes(passed=1)
    code = "import pytest, json, time; t = time.perf_counter(); import tumble.scenarios.testing; print(time.perf_counter() - t)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(3)
    ]
    assert min(times) < 0.05


class TestAssertionsSeeWhatIsWrong:
    """Each assertion fails on a run that was spoiled, and says where."""

    @pytest.fixture
    def spoil(self, run_scenario):
        """A copy of a run with something changed from a sample on."""
        from tumble.sim.recording.run import Run

        def spoil(name: str, change: float, sample: int, **options):
            run = run_scenario("sliding_cuboid", seconds=0.5, contacts=True, **options)
            arrays = {key: np.array(value) for key, value in run._arrays.items()}
            arrays[name][sample:] += change
            return Run(arrays, run.names, dict(run.attributes))

        return spoil

    @pytest.mark.parametrize(
        ("assertion", "variable", "change"),
        [
            ("assert_momentum", "momentum", 1e-9),
            ("assert_ledger_closes", "ledger_residual", 1e-7),
            ("assert_passive", "energy", 10.0),
            ("assert_at_rest", "velocity", 1e-3),
        ],
    )
    def test_each(self, request, spoil, assertion, variable, change):
        check = request.getfixturevalue(assertion)
        still = {"angle": 0.0, "speed": 0.0} if assertion == "assert_at_rest" else {}
        since = {"since": 0.0} if assertion == "assert_at_rest" else {}
        check(spoil(variable, 0.0, 60, **still), **since)
        with pytest.raises(Violation) as caught:
            check(spoil(variable, change, 60, **still), **since)
        assert caught.value.step == 60
        assert caught.value.time == pytest.approx(0.25)
        assert str(caught.value).count("\n") == 3

    def test_friction_cone(self, spoil, assert_in_friction_cone):
        assert_in_friction_cone(spoil("contact_friction", 0.0, 0))
        with pytest.raises(Violation, match="outside the friction cone"):
            assert_in_friction_cone(spoil("contact_friction", -1e-6, 0))

    def test_not_a_number(self, spoil, assert_ledger_closes):
        with pytest.raises(Violation):
            assert_ledger_closes(spoil("ledger_residual", np.nan, 60))

    def test_bad_input(self, spoil, assert_conserved, assert_at_rest, assert_in_friction_cone):
        run = spoil("energy", 0.0, 0)
        with pytest.raises(InputError, match="quantity = 'enthalpy': must be one of energy, kinetic"):
            assert_conserved(run, "enthalpy")
        with pytest.raises(InputError, match="since = 9"):
            assert_at_rest(run, since=9)
        assert_conserved(run, lambda run: run.orientations[:, 1, 0])
