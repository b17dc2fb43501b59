"""The engines that are there."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from benchmarks.peers.engine import Engine

MODULES = ("our", "mujoco", "bullet", "physx", "node")  # node: Jolt and Rapier


def engines(modules: Iterable[str] = ()) -> dict[str, type[Engine]]:
    """Engines of some modules, or of all, by name and version; says which can not be had, and why."""
    found: dict[str, type[Engine]] = {}
    for module in modules or MODULES:
        try:
            found |= import_module(f"benchmarks.peers.{module}_engine").ENGINES
        except ImportError as error:
            print(f"without {module}: {error}")
    return found
