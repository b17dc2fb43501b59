"""The pytest plugin: fixtures that run scenarios and assert on runs. docs/testing.md tells how to use it.

It comes with the package, by its entry point; nothing needs to be imported. Only when a fixture is used does it load what
runs simulations, so that it costs the tests of others nothing.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

ASSERTIONS = (
    "assert_conserved", "assert_momentum", "assert_ledger_closes", "assert_passive", "assert_in_friction_cone", "assert_at_rest",
    "assert_same_run", "assert_converges",
)  # fmt: skip
KEPT = 32  # runs that are kept for tests that ask for the same


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tumble", "simulations (tumble)")
    group.addoption(
        "--tumble-update", action="store_true", help="write the baselines of runs anew instead of comparing with them"
    )
    group.addoption("--tumble-plots", metavar="DIR", help="where plots of failing runs go (pytest's cache folder)")


@pytest.fixture(scope="session")
def run_scenario():
    """``run_scenario("dominoes", friction=0.2)``: the run of a scenario, a scene file or a Scene; equal ones run once."""
    return Runner()


class Runner:
    """Runs scenes, recorded in memory; keeps the last runs by what they were asked for."""

    def __init__(self) -> None:
        self.runs: dict[str, Any] = {}

    def __call__(
        self,
        scenario: Any,
        seconds: float | None = None,
        dt: float | None = None,
        every: int = 1,
        contacts: bool = False,
        **parameters: Any,
    ) -> Any:
        """The Run. ``seconds``, ``dt``: else the scene's own; ``every``: steps from sample to sample."""
        import json

        from tumble.scenarios.runs.scene_run import run_scenario, scene_of

        scene = scene_of(scenario, **parameters)
        key = json.dumps([scene.to_dict(), seconds, dt, every, contacts])
        if key not in self.runs:
            while len(self.runs) >= KEPT:
                del self.runs[next(iter(self.runs))]
            self.runs[key] = run_scenario(scene, seconds, dt, every, contacts)
        return self.runs[key]


def _assertion(name: str) -> Any:
    @pytest.fixture(scope="session", name=name)
    def hand_out():
        from tumble.scenarios.checks import assertions

        return getattr(assertions, name)

    hand_out.__doc__ = f"The assertion ``tumble.scenarios.checks.assertions.{name}``."
    return hand_out


for _name in ASSERTIONS:
    globals()[_name] = _assertion(_name)


@pytest.fixture
def assert_baseline(request: pytest.FixtureRequest):
    """``assert_baseline(run)``: the run has the numbers of its baseline, a JSON file beside the test; see docs/testing.md."""
    from tumble.scenarios.checks.baselines import Baselines

    test = re.sub(r"[^\w.-]+", "_", f"{request.path.stem}.{request.node.name}").strip("_")
    return Baselines(request.path.parent / "baselines" / test, request.config.getoption("--tumble-update"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """Draw the run that a failed assertion is about, so that the message can say where the picture is."""
    assertions = sys.modules.get("tumble.scenarios.checks.assertions")
    error = call.excinfo.value if call.excinfo else None
    if assertions is not None and isinstance(error, assertions.Violation) and error.plot is None:
        error.plot = _plot(item, error.run)
    return (yield)


def _plot(item: pytest.Item, run: Any) -> Path | None:
    """Energy, books and momentum of a run; None where it can not be drawn: the failure is what matters."""
    folder = item.config.getoption("--tumble-plots")
    if not folder:
        cache = getattr(item.config, "cache", None)
        folder = cache.mkdir("tumble") if cache else tempfile.mkdtemp(prefix="tumble-")
    name = re.sub(r"[^\w.-]+", "_", item.nodeid).strip("_")
    try:
        from tumble.render.figures import plots

        Path(folder).mkdir(parents=True, exist_ok=True)
        return plots.energy_momentum(run, Path(folder) / f"{name}.png")
    except Exception as error:
        print(f"no plot of the run: {type(error).__name__}: {error}", file=sys.stderr)
        return None
