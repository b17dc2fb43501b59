import math
from typing import Annotated

from tumble import Ellipsoid, HalfSpace, Real, Scene, scenario


@scenario
def rattleback(
    spin: Annotated[float, Real(unit="rad/s", help="about the vertical; with a skew above 0, negative is the wrong way")] = -3.0,
    skew: Annotated[float, Real(unit="rad", low=-0.7, high=0.7, help="of the axes of inertia against those of the shape")] = 0.2,
    wobble: Annotated[float, Real(unit="rad/s", help="of the start, about the long axis and across")] = 0.05,
) -> Scene:
    """A celt spun the wrong way slows down, rattles, and turns back.

    An ellipsoid whose axes of inertia are turned against those of its shape. Rolling couples the spin with pitching and
    rolling: for one sense of spin pitching grows, takes the spin's energy and gives it back as spin the other way; the other
    sense is stable for long. The force at the floor does no work as long as nothing slips, so the energy stays; angular
    momentum does not, the floor gives and takes it. With skew 0 it spins either way.
    """
    a, b, c, low, mass = 0.1, 0.02, 0.02, 0.004, 0.1  # low: of the centre of mass
    scene = Scene(duration=5.0, dt=1 / 480)
    scene.add(HalfSpace(), kind="static", name="floor", friction=2.0)
    along, pitch, yaw = mass / 5 * (b * b + c * c), mass / 5 * (a * a + c * c), mass / 5 * (a * a + b * b)
    s, k = math.sin(skew), math.cos(skew)
    off = (along - pitch) * s * k  # the tensor of the two horizontal axes, turned by the skew
    inertia = ((along * k * k + pitch * s * s, off, 0), (off, along * s * s + pitch * k * k, 0), (0, 0, yaw))
    weight = {"mass": mass, "inertia": inertia, "center_of_mass": (0, 0, -low)}
    rolling = {"angular_velocity": (wobble, wobble, spin), "velocity": (wobble * (c - low), -wobble * (c - low), 0)}
    scene.add(Ellipsoid((a, b, c)), name="celt", position=(0, 0, c), friction=2.0, **rolling, **weight)
    return scene
