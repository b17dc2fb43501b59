"""Every validation case keeps its limits; and the cases fail where the method is spoiled."""

from __future__ import annotations

import math

import pytest

from tumble.collision import Box
from tumble.scenarios.validation.case import Measure, cases, chosen, order
from tumble.scenarios.validation.impacts import RODS
from tumble.sim import ConstantForce, Scene, World
from tumble.sim.impact.collision_law import NEWTON, POISSON, STRONGE

# Known misses, with why. Strict: a case that comes to hold must leave this list.
MISSES: dict[str, str] = {}


def _marks(name: str, long: bool) -> list:
    marks = [pytest.mark.validate] if long else []
    return marks + [pytest.mark.xfail(reason=MISSES[name], strict=True)] if name in MISSES else marks


CASES = [pytest.param(c, marks=_marks(name, c.long), id=name) for name, c in cases().items()]


@pytest.mark.parametrize("case", CASES)
def test_case_keeps_its_limits(case):
    result = case.run()
    assert result.measures
    off = [f"{m.what}: {m.value:.3g} against {m.limit:g} {m.unit}" for m in result.measures if not m.holds]
    assert not off, off


def test_cases_are_chosen_by_name_in_upper_and_lower_case():
    assert [case.name for case in chosen(["v01", "V28A", "v28b"])] == ["V01", "V28a", "V28b"]


# ---- spoiled on purpose ----


def worlds_with(monkeypatch, change):
    """All worlds from now on are made with arguments changed by ``change(arguments)``."""
    init = World.__init__

    def spoiled(self, **arguments):
        change(arguments)
        init(self, **arguments)

    monkeypatch.setattr(World, "__init__", spoiled)


def bodies_with(monkeypatch, **factors):
    """All bodies from now on are added with these fields multiplied; 0 leaves a field out."""
    add = World.add

    def spoiled(self, shape, **fields):
        for name, factor in factors.items():
            if fields.get(name) is not None:
                fields[name] = tuple(factor * x for x in fields[name]) if name == "inertia" else factor * fields[name]
        return add(self, shape, **fields)

    monkeypatch.setattr(World, "add", spoiled)


def coarse(factor):
    def change(arguments):
        arguments["dt"] = factor * arguments.get("dt", 1 / 240)

    return change


def integrated_by(name):
    def change(arguments):
        arguments["integrator"] = name

    return change


def failures(name: str) -> set[str]:
    """What fails of a case; also what gives no number at all."""
    return {m.what for m in cases()[name].run().measures if not m.holds}


def fails(name: str) -> bool:
    """Whether anything of a case fails: what comes after that is not computed."""
    return any(not m.holds for m in cases()[name].function())


@pytest.mark.parametrize("name", ["V01", "V02", "V05", "V07"])
def test_a_method_of_order_two_fails(name, monkeypatch):
    worlds_with(monkeypatch, integrated_by("splitting"))
    assert any(what.startswith("order") for what in failures(name))


@pytest.mark.parametrize("name", ["V01", "V03"])
def test_a_coarse_step_fails(name, monkeypatch):
    worlds_with(monkeypatch, coarse(8))
    assert fails(name)


@pytest.mark.parametrize("name", ["V16", "V17", "V18", "V26", "V28"])
def test_a_wrong_friction_fails(name, monkeypatch):
    bodies_with(monkeypatch, friction=1.03)
    assert fails(name)


@pytest.mark.parametrize("name", ["V08", "V09", "V12", "V13", "V15"])
def test_a_wrong_restitution_fails(name, monkeypatch):
    bodies_with(monkeypatch, restitution=0.99)
    assert fails(name)


@pytest.mark.parametrize(("name", "factor"), [("V05", 1.001), ("V19", 1.001), ("V25", 1.1)])
def test_a_wrong_moment_of_inertia_fails(name, factor, monkeypatch):
    bodies_with(monkeypatch, inertia=factor)
    assert fails(name)


def test_a_ball_without_tangential_restitution_fails(monkeypatch):
    bodies_with(monkeypatch, tangential_restitution=0.0)
    assert "v and R w in ten bounces" in failures("V10")


def test_a_wrong_law_of_restitution_fails(monkeypatch):
    monkeypatch.setattr("tumble.scenarios.validation.impacts.LAWS", {"stronge": POISSON, "poisson": STRONGE, "newton": NEWTON})
    assert failures("V11") == {f"velocity u of the end after: {regime}" for regime in RODS if regime != "slip"}


@pytest.mark.parametrize("name", ["V16", "V31"])
def test_a_careless_solver_fails(name, monkeypatch):
    worlds_with(monkeypatch, lambda arguments: arguments.update(tolerance=1e-4))
    assert fails(name)


def test_a_push_from_outside_fails(monkeypatch):
    """A force along x is not turned with the scene, nor grows with the masses, but moves all alike."""
    build = Scene.build

    def pushed(self):
        world = build(self)
        world.add_force(ConstantForce(force=(1e-6, 0, 0)))
        return world

    monkeypatch.setattr(Scene, "build", pushed)
    found = failures("V29")
    assert {"cuboids: turned and moved", "cuboids: 7 times as heavy"} <= found
    assert "cuboids: with a velocity added" not in found


def test_a_box_that_is_a_little_larger_fails(monkeypatch):
    larger = lambda half: Box(tuple(h + 1e-8 for h in half))  # noqa: E731
    monkeypatch.setattr("tumble.scenarios.validation.geometry_cases.Box", larger)
    assert {"apart", "inside", "edges inside"} <= failures("V33")


def test_verdicts():
    assert Measure("x", 1.0, 1.0).holds
    assert not Measure("x", 1.1, 1.0).holds
    assert not Measure("x", math.nan, 1.0).holds
    assert not Measure("x", math.nan, 1.0, least=True).holds
    assert order("x", (16e-3, 4e-3, 1e-3), 1.9).value == pytest.approx(2)
    assert not order("x", (16e-3, 4e-3, 2e-3), 1.9).holds
    assert not order("x", (16e-3, math.nan, 1e-3), 1.9).holds
    assert not order("x", (16e-3, 0.0), 1.9).holds
