from typing import Annotated

from tumble import HalfSpace, Real, Scene, Sphere, scenario


@scenario
def bouncing_ball(
    height: Annotated[float, Real(unit="m", above=0, help="clearance under the ball at the start")] = 1.0,
    restitution: Annotated[float, Real(low=0, high=1, help="of the ball on the floor")] = 0.8,
    radius: Annotated[float, Real(unit="m", above=0, help="of the ball")] = 0.1,
) -> Scene:
    """A ball bounces, lower each time, until it rests; or for ever.

    The bounce k reaches height e^(2k) of clearance: 0.64, 0.4096, 0.262144 m at the defaults, with bounces at
    0.451523641, 1.173961467, 1.751911727 s. Infinitely many bounces end at sqrt(2 h / g) (1 + e) / (1 - e) =
    4.0637127689 s. With restitution=1 it must reach its height for ever, whatever the step: impacts are located in
    time, so the step has no say in the height.
    """
    scene = Scene(duration=5.0)
    scene.add(HalfSpace(), kind="static", name="floor", restitution=restitution)
    scene.add(Sphere(radius), name="ball", position=(0, 0, radius + height), restitution=restitution)
    return scene
