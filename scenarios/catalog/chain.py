from typing import Annotated

from tumble import Capsule, Point, Real, Scene, Sphere, Whole, scenario


@scenario
def chain(
    links: Annotated[int, Whole(low=1, high=500, help="how many")] = 12,
    length: Annotated[float, Real(unit="m", above=0, help="of each link")] = 0.1,
    load: Annotated[float, Real(unit="kg", low=0, help="of the ball at the end; 0 for none")] = 0.5,
    hanging: Annotated[float, Real(low=0, high=1, help="1 hangs straight down, 0 is stretched out level")] = 0.5,
) -> Scene:
    """A chain of links on ball joints, let go.

    Straight down it hangs still, and each joint carries the weight below it. Taut light links swing fast crossways, at about
    sqrt(tension length / moment of inertia) rad/s, and dt must be below 2 over that: a heavy load on many short links needs
    short steps, and the run ends with an error where they are too long.
    """
    total = links * length
    x, z = (0.0, -1.0) if hanging == 1 else ((1 - hanging**2) ** 0.5, -hanging)
    scene = Scene(dt=1 / 960, duration=5.0)
    half_turn = ((1 + -z) / 2) ** 0.5  # the z axis of a link points up the chain: cosine of half its angle to the vertical
    orientation = (half_turn, 0.0, -((1 - half_turn**2) ** 0.5), 0.0)
    shape = Capsule(0.15 * length, 0.35 * length)
    above = None
    for k in range(links):
        name = f"link_{k + 1}"
        middle = ((k + 0.5) * length * x, 0, (k + 0.5) * length * z)
        scene.add(shape, name=name, mass=length, position=middle, orientation=orientation)
        scene.add_joint(Point(above, name, anchor=(k * length * x, 0, k * length * z)))
        above = name
    if load:
        reach = total + 0.5 * length
        scene.add(Sphere(0.5 * length), name="load", mass=load, position=(reach * x, 0, reach * z))
        scene.add_joint(Point(above, "load", anchor=(total * x, 0, total * z)))
    return scene
