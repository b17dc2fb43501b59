from typing import Annotated

import numpy as np

from tumble import Box, HalfSpace, Real, Run, Scene, Whole, scenario


@scenario
def dominoes(
    count: Annotated[int, Whole(low=1, high=500, help="how many")] = 12,
    spacing: Annotated[float, Real(unit="m", above=0.01, help="from one to the next")] = 0.03,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.3,
    restitution: Annotated[float, Real(low=0, high=1, help="of a domino on its neighbour")] = 0.1,
    push: Annotated[float, Real(unit="rad/s", help="turning speed of the first about its front edge")] = 4.0,
) -> Scene:
    """A row of dominoes falls, one after the other.

    The first turns about its front edge; pushed too gently it falls back. Each takes energy from its own height, so the
    wave settles to a speed that no longer depends on the push: of the order of sqrt(g height). Nothing may pass through
    anything, and the energy only falls.
    """
    thickness, width, height = 0.008, 0.024, 0.048
    scene = Scene(duration=1.5, dt=1 / 480)
    material = {"friction": friction, "restitution": restitution}
    scene.add(HalfSpace(), kind="static", name="floor", **material)
    shape = Box((thickness / 2, width / 2, height / 2))
    for i in range(count):
        # the first turns about its front edge: velocity of the centre = omega x (centre - edge)
        spin = push if i == 0 else 0.0
        pushed = {"velocity": (spin * height / 2, 0, spin * thickness / 2), "angular_velocity": (0, spin, 0)}
        place = (i * spacing, 0, height / 2)
        scene.add(shape, name=f"domino_{i + 1}", density=1200.0, position=place, **pushed, **material)
    return scene


def measure(run: Run) -> dict[str, float]:
    """Of a run, for sweeps: how many have fallen, and the speed of the wave [m/s] over the second half of the row."""
    tilt = 1 - 2 * (run.orientations[:, 1:, 1] ** 2 + run.orientations[:, 1:, 2] ** 2)  # cosine to the vertical
    fallen = tilt < np.cos(0.5)
    count = tilt.shape[1]
    out = {"fallen": float(fallen[-1].sum())}
    if fallen[-1].all() and count >= 4:
        first, last = count // 2, count - 1
        times = run.times[fallen[:, first].argmax()], run.times[fallen[:, last].argmax()]
        places = run.positions[0, 1:, 0]
        out["wave_speed"] = float((places[last] - places[first]) / (times[1] - times[0]))
    return out
