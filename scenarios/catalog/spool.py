import math
from typing import Annotated

from tumble import Compound, ConstantForce, Cylinder, HalfSpace, Pose, Real, Scene, scenario

RIM, HUB = 0.1, 0.05  # radii [m]
MASS, ACROSS, ALONG = 1.0, 0.004, 0.006  # kg, kg m^2


@scenario
def spool(
    angle: Annotated[float, Real(unit="rad", low=0, high=1.5, help="of the thread above the floor")] = 0.3,
    pull: Annotated[float, Real(unit="N", low=0, high=8, help="of the thread")] = 2.0,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.8,
) -> Scene:
    """A spool is pulled by a thread that leaves its hub from below, and comes or goes by the angle.

    Pulled flat it follows the thread and winds it up; pulled steeply it rolls away and unwinds. Between the two, where the line
    of the thread goes through the point of contact, cos(angle) = hub/rim = 1/2, no pull can roll it. Rolling, its acceleration is
    F (cos(angle) - hub/rim)/(m + I/rim^2).
    """
    scene = Scene(duration=1.5)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction)
    rims = [(Cylinder(RIM, 0.01), Pose(position=(0, 0, z))) for z in (0.07, -0.07)]
    shape = Compound([(Cylinder(HUB, 0.06), Pose()), *rims])
    lying = {"position": (0, 0, RIM), "orientation": (math.sqrt(0.5), math.sqrt(0.5), 0, 0)}  # its axis along y
    weight = {"mass": MASS, "inertia": (ACROSS, ACROSS, ALONG), "center_of_mass": (0, 0, 0)}
    scene.add(shape, name="spool", friction=friction, **lying, **weight)
    # the thread leaves the hub where it is tangent: its arm is the hub's radius, wherever the spool has turned to
    force = (pull * math.cos(angle), 0, pull * math.sin(angle))
    scene.add_force(ConstantForce(force=force, torque=(0, -pull * HUB, 0), bodies=("spool",)))
    return scene
