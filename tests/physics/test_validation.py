"""Every validation case keeps its limits; and the cases fail where the method is spoiled."""

from __future__ import annotations

import math

import pytest

from scenarios.validation.case import Measure, cases, order
from sim import World

CASES = [pytest.param(c, marks=pytest.mark.validate if c.long else (), id=name) for name, c in cases().items()]


@pytest.mark.parametrize("case", CASES)
def test_case_keeps_its_limits(case):
    result = case.run()
    assert result.measures
    off = [f"{m.what}: {m.value:.3g} against {m.limit:g} {m.unit}" for m in result.measures if not m.holds]
    assert not off, off


# ---- spoiled on purpose ----


def worlds_with(monkeypatch, change):
    """All worlds from now on are made with arguments changed by ``change(arguments)``."""
    init = World.__init__

    def spoiled(self, **arguments):
        change(arguments)
        init(self, **arguments)

    monkeypatch.setattr(World, "__init__", spoiled)


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


@pytest.mark.parametrize("name", ["V01", "V02", "V05", "V07"])
def test_a_method_of_order_two_fails(name, monkeypatch):
    worlds_with(monkeypatch, integrated_by("splitting"))
    assert any(what.startswith("order") for what in failures(name))


@pytest.mark.parametrize("name", ["V01", "V03"])
def test_a_coarse_step_fails(name, monkeypatch):
    worlds_with(monkeypatch, coarse(8))
    assert failures(name)


def test_verdicts():
    assert Measure("x", 1.0, 1.0).holds
    assert not Measure("x", 1.1, 1.0).holds
    assert not Measure("x", math.nan, 1.0).holds
    assert not Measure("x", math.nan, 1.0, least=True).holds
    assert order("x", (16e-3, 4e-3, 1e-3), 1.9).value == pytest.approx(2)
    assert not order("x", (16e-3, 4e-3, 2e-3), 1.9).holds
    assert not order("x", (16e-3, math.nan, 1e-3), 1.9).holds
    assert not order("x", (16e-3, 0.0), 1.9).holds
