import math
from typing import Annotated

from tumble import Cylinder, HalfSpace, Real, Scene, scenario


@scenario
def eulers_disk(
    tilt: Annotated[float, Real(unit="rad", low=0.05, high=1.4, help="of the disc from lying flat")] = 0.4,
    rolling_friction: Annotated[float, Real(unit="m", low=0, help="arm of the moment against rolling; 0: for ever")] = 0.0,
) -> Scene:
    """A disc rolls on its edge about a centre that stays where it is.

    The point of contact runs round at W, with W^2 sin(tilt) = 4 g/a for a thin disc of radius a; here with its thickness taken
    in. Nothing slides, so without rolling friction it goes round for ever at the same tilt. With it, it sinks, and runs round
    the faster the flatter it is, up to the end in a finite time: Euler's disk (Moffatt, Nature 404 (2000) 833).
    """
    radius, half, mass, g = 0.0375, 0.0064, 0.44, 9.81
    scene = Scene(duration=2.0, dt=1 / 960)
    scene.add(HalfSpace(), kind="static", name="floor", friction=1.0, rolling_friction=rolling_friction)
    # in the plane x z: e up along the disc's face, d its axis; the edge that touches is at -radius e - half d
    s, c = math.sin(tilt), math.cos(tilt)
    e, d = (c, 0.0, s), (-s, 0.0, c)
    across, along = mass * (radius**2 / 4 + half**2 / 3), mass * radius**2 / 2
    torque = mass * g * (radius * c - half * s)
    round_ = math.sqrt(torque / (s * (across * c - along * half / radius * s)))
    # what touches is at rest and so is the centre: it turns about the line through both
    spin = tuple(round_ * s * (p + half / radius * q) for p, q in zip(e, d, strict=True))
    place = {"position": (0, 0, radius * s + half * c), "orientation": (math.cos(tilt / 2), 0, -math.sin(tilt / 2), 0)}
    scene.add(Cylinder(radius, half), name="disc", mass=mass, angular_velocity=spin, friction=1.0, **place)
    return scene
