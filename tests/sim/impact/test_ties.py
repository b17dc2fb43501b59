"""Impacts of the same instant that share a body act together: what is symmetric stays so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tumble.collision import Sphere
from tumble.sim import World

ROOT = Path(__file__).resolve().parents[3]
SPOILED = """
import tumble.sim.impact.impact_loop as impact_loop
impact_loop.TIE = -1e-30  # nothing ties: one pair after the other
from tests.sim.impact.test_ties import middle
print(middle())
"""


def middle() -> float:
    """Velocity of a ball that two others have hit from both sides at the same instant [m/s]; they are alike but for the side."""
    world = World(gravity=(0, 0, 0), dt=1 / 240)
    ball = world.add(Sphere(0.1), mass=1.0, restitution=0.5)
    for side in (-1.0, 1.0):
        world.add(Sphere(0.1), mass=1.0, restitution=0.5, position=(side * 0.202, 0, 0), velocity=(-side, 0, 0))
    world.step(4)
    assert max(abs(v) for v in world.velocities[:, 0]) < 0.7  # they have hit
    return float(ball.velocity[0])


def test_a_ball_hit_from_both_sides_stays():
    assert abs(middle()) < 1e-12


def test_one_after_the_other_is_seen():
    """The failing twin: without ties the side that comes first in the table wins."""
    done = subprocess.run(
        [sys.executable, "-c", SPOILED], cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout)) > 0.04
