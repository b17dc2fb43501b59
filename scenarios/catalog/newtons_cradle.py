from typing import Annotated

from tumble import Real, Scene, Sphere, Whole, scenario


@scenario
def newtons_cradle(
    balls: Annotated[int, Whole(low=2, high=100, help="how many in all")] = 5,
    moving: Annotated[int, Whole(low=1, high=99, help="how many come flying")] = 1,
    restitution: Annotated[float, Real(low=0, high=1, help="of each pair")] = 1.0,
    gap: Annotated[float, Real(unit="m", low=0, help="between neighbours at rest")] = 0.0,
    speed: Annotated[float, Real(unit="m/s", above=0, help="of the balls that come")] = 1.0,
) -> Scene:
    """Balls in a row: as many fly off as came.

    Equal balls that touch, in free space. n in, n out: the only outcome in which momentum, energy and the order of the
    balls agree. Engines that solve all contacts at once let the whole row drift instead. With restitution 0.9 and small
    gaps the last of five leaves with 0.95^4 = 0.81450625 of the speed.
    """
    scene = Scene(gravity=(0, 0, 0), duration=2.0)
    radius, start = 0.1, 0.5
    moving = min(moving, balls - 1)
    ball = {"mass": 1.0, "friction": 0.0, "restitution": restitution}
    for i in range(balls):
        x = i * (2 * radius + gap) - (start if i < moving else 0.0)
        velocity = (speed if i < moving else 0.0, 0, 0)
        scene.add(Sphere(radius), name=f"ball_{i + 1}", position=(x, 0, 0), velocity=velocity, **ball)
    return scene
