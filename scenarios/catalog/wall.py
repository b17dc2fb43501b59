from typing import Annotated

from tumble import Box, HalfSpace, Real, Scene, Sphere, Whole, scenario

TONES = ("#a5523a", "#b4664a", "#95482f", "#bd7455", "#a05c44")  # of bricks


@scenario
def wall(
    courses: Annotated[int, Whole(low=1, high=40, help="layers of bricks")] = 5,
    length: Annotated[int, Whole(low=2, high=60, help="bricks in a layer")] = 5,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.6,
    ball: Annotated[float, Real(unit="m/s", low=0, high=50, help="speed of a ball that strikes it; 0: no ball")] = 0.0,
) -> Scene:
    """A brick wall in running bond stands; a ball breaks it.

    Each brick lies on halves of two, so loads spread through many ways that no force law decides: a hard case for a solver. By
    itself nothing may move. Struck, the ball's energy goes to friction and to impacts, none is gained, and the bricks beside the
    hole stand on.
    """
    size = (0.25, 0.12, 0.065)
    tall = courses * size[2]
    scene = Scene(duration=1.5)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction)
    whole, half = (Box((share * size[0] / 2, size[1] / 2, size[2] / 2)) for share in (1.0, 0.5))
    for row in range(courses):
        odd = row % 2
        for k in range(length + odd):
            ends = odd and k in (0, length)
            x = size[0] * (k - length / 2 + (0.5 if not odd else 0.0))
            x += 0.0 if not ends else size[0] / 4 * (1 if k == 0 else -1)
            place = (x, 0, size[2] * (row + 0.5))
            look = {"name": f"brick_{row + 1}_{k + 1}", "color": TONES[(3 * row + 2 * k) % len(TONES)]}
            scene.add(half if ends else whole, density=1800.0, position=place, friction=friction, **look)
    if ball > 0:
        place = (0.06, -0.6, 0.6 * tall)
        scene.add(Sphere(0.08), name="ball", density=7800.0, position=place, velocity=(0, ball, 0), friction=friction)
    return scene
