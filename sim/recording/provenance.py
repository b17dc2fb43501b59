"""What a recording says about itself: what was run, with what, where and when."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RECORDING_SCHEMA = 2  # version of the layout of recordings; 1 had no checksums


def metadata(world: Any) -> dict[str, Any]:
    """What a recording says about itself: scene, seed, versions, revision."""
    return metadata_later(world)()


def metadata_later(world: Any) -> Callable[[], dict[str, Any]]:
    """The same of the world as it is now, worked out when it is called."""
    scene, dt, started = world._scene_later(), world.dt, time.time()
    return lambda: _metadata(scene().to_dict(stored=True), dt, datetime.fromtimestamp(started, UTC))


def _metadata(scene: dict[str, Any], dt: float, started: datetime) -> dict[str, Any]:
    return {
        "tumble_schema": RECORDING_SCHEMA,
        "title": scene["name"],
        "scene": json.dumps(scene),
        "scenario": scene["name"],
        "parameters": json.dumps(scene["parameters"]),
        "seed": scene["seed"],
        "dt": dt,
        "integrator": scene["integrator"],
        "versions": json.dumps(versions()),
        "git_revision": git_revision(),
        "platform": platform.platform(),
        "started": started.isoformat(timespec="seconds"),
        "complete": False,
    }


@cache  # none of these changes while a program runs
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that have a say in the numbers."""
    out = {"python": platform.python_version()}
    for package in ("tumble", "numba", "numpy", "scipy", "zarr"):
        try:
            out[package] = version(package)
        except PackageNotFoundError:
            out[package] = "not installed"
    return out


@cache
def git_revision() -> str:
    """The revision of the source tree that this package runs from, "+changes" if it was edited; empty where it is none."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return ""
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+changes"],
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip()
