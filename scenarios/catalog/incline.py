import math
from typing import Annotated

from tumble import Cylinder, HalfSpace, Real, Scene, Sphere, scenario

ROUND = {"ball": 2 / 5, "cylinder": 1 / 2, "shell": 2 / 3, "hoop": 1.0}  # moment of inertia in parts of m R^2


@scenario
def incline(
    angle: Annotated[float, Real(unit="rad", low=0, high=1.2, help="of the slope")] = math.radians(25),
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.6,
) -> Scene:
    """Ball, cylinder, shell and hoop race down a slope: the ball wins, whatever they weigh.

    With I = c m R^2 they roll at g sin(angle)/(1 + c), c = 2/5, 1/2, 2/3 and 1, so their ways are as 1/(1 + c). Where friction
    is below tan(angle) c/(1 + c) they slip, at g (sin(angle) - friction cos(angle)), all alike. Rolling loses no energy.
    """
    radius = 0.1
    s, c = math.sin(angle), math.cos(angle)
    scene = Scene(duration=2.0)
    scene.add(HalfSpace(normal=(s, 0, c)), kind="static", name="slope", friction=friction)
    for k, (name, part) in enumerate(ROUND.items()):
        lies = name in ("cylinder", "hoop")
        shape = Cylinder(radius, 0.08) if lies else Sphere(radius)
        place = (radius * s, 0.4 * k, radius * c)
        turn = (math.sqrt(0.5), math.sqrt(0.5), 0, 0) if lies else (1, 0, 0, 0)
        inertia = (part * radius**2,) * 3  # of 1 kg
        scene.add(shape, name=name, mass=1.0, inertia=inertia, position=place, orientation=turn, friction=friction)
    return scene
