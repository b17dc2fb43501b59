from typing import Annotated

from tumble import HalfSpace, Real, Scene, Sphere, scenario


@scenario
def superball(
    spin: Annotated[float, Real(unit="rad/s", help="about the axis across, forward")] = 10.0,
    speed: Annotated[float, Real(unit="m/s", help="along the floor")] = 0.0,
    radius: Annotated[float, Real(unit="m", above=0, help="of the ball")] = 0.1,
    height: Annotated[float, Real(unit="m", above=0, help="clearance under the ball at the start")] = 0.3,
    roughness: Annotated[float, Real(low=-1, high=1, help="tangential restitution: 1 turns the slip round, 0 sticks")] = 1.0,
) -> Scene:
    """A rough elastic ball that falls spinning leaps forward, and with the next bounce straight up again.

    Each bounce turns the slip at the floor round: v' = (3 v + 4 R w)/7, R w' = (10 v - 3 R w)/7, and two of them restore what
    there was (Garwin, Am. J. Phys. 37 (1969) 88). So it hops to the side and on the spot by turns, for ever and at the same
    height. With roughness 0 the first bounce takes the slip away, and it goes on as a ball that rolls.
    """
    scene = Scene(duration=3.0)
    scene.add(HalfSpace(), kind="static", name="floor", friction=9.0)
    rubber = {"friction": 9.0, "restitution": 1.0, "tangential_restitution": roughness}
    motion = {"velocity": (speed, 0, 0), "angular_velocity": (0, spin, 0)}
    scene.add(Sphere(radius), name="ball", position=(0, 0, height + radius), **motion, **rubber)
    return scene
