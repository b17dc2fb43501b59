import math
from typing import Annotated

from tumble import Box, HalfSpace, Pose, Real, Scene, scenario


@scenario
def sliding_cuboid(
    angle: Annotated[float, Real(unit="rad", low=0, high=1.5, help="of the slope")] = math.radians(20),
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.3,
    speed: Annotated[float, Real(unit="m/s", help="down the slope at the start")] = 0.0,
    heading: Annotated[float, Real(unit="rad", help="turn of the cube about the slope's normal")] = 0.0,
) -> Scene:
    """A cube slides down a slope, or stops on the plane.

    Coulomb's law: it slides with a = g (sin(angle) - friction cos(angle)) where friction < tan(angle), and does not move
    at all, not even creep, above. At the defaults a = 0.589702223052 m/s^2, so x = 0.294851111526 m after 1 s. On the
    level (angle=0, friction=0.4, speed=3) it stops after v^2 / (2 friction g) = 1.14678899083 m at 0.764525993884 s. The
    cube's heading must not matter: friction is a cone, not a pyramid.
    """
    scene = Scene(duration=2.0)
    slope = Pose.from_euler_xyz((0, angle, 0))
    down, normal = slope.apply((1, 0, 0)), slope.apply((0, 0, 1))
    scene.add(HalfSpace(normal=tuple(normal)), kind="static", name="slope", friction=friction)
    half = 0.1
    turned = slope @ Pose.from_euler_xyz((0, 0, heading))
    place = {"position": tuple(half * normal), "orientation": turned.orientation}
    scene.add(Box((half, half, half)), name="cube", mass=1.0, velocity=tuple(speed * down), friction=friction, **place)
    return scene
