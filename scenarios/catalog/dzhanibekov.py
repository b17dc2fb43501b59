from typing import Annotated

from tumble import Box, Real, Scene, scenario


@scenario
def dzhanibekov(
    spin: Annotated[float, Real(unit="rad/s", above=0, help="turning speed about the middle axis")] = 5.0,
    perturbation: Annotated[float, Real(unit="rad/s", help="turning speed about the first axis: what starts the flip")] = 0.01,
) -> Scene:
    """A spinning body flips over again and again, as Dzhanibekov's wing nut did in orbit.

    Turning about the axis of middle inertia is unstable: the smallest perturbation grows as exp(2.887 t), until the
    body turns over, and back. With the defaults (moments 1, 2, 3 kg m^2) the angular velocity about the middle axis
    changes sign at 2.63302756204, 7.89908268611 and 13.1651378102 s, every 5.26605512408 s. Angular momentum never
    changes: watch it stay while the body turns over. Engines that drop or approximate the gyroscopic term do not flip.
    With a perturbation ten times smaller the first flip comes ln(10) / 2.887 = 0.8 s later.
    """
    scene = Scene(gravity=(0, 0, 0), duration=20.0)
    plate = Box((0.707, 0.5, 0.06))  # nearly the plate with moments in the ratio 1 : 2 : 3
    scene.add(plate, name="plate", mass=10.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(perturbation, spin, 0.0))
    return scene
