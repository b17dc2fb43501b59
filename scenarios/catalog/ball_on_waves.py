import math
from typing import Annotated

import numpy as np

from tumble import HeightField, Real, Scene, Sphere, scenario

RADIUS, MASS = 0.25, 1.0  # m, kg
LENGTH, WIDTH, START = 10.0, 5.0, -3.7133  # m: of the field; where the ball sets out


@scenario
def ball_on_waves(
    amplitude: Annotated[float, Real(unit="m", low=0, high=0.1, help="of the waves")] = 0.05,
    wavelength: Annotated[float, Real(unit="m", low=1, high=5, help="from crest to crest")] = 2.0,
    speed: Annotated[float, Real(unit="m/s", above=0, high=2, help="of the ball, which rolls")] = 1.2,
    heading: Annotated[float, Real(unit="rad", low=-0.6, high=0.6, help="across the waves; 0: along x")] = 0.0,
    cell: Annotated[float, Real(unit="m", low=0.005, high=0.5, help="from one height of the field to the next")] = 0.05,
) -> Scene:
    """A ball rolls over waves, a height field of a sine.

    What the ball touches is a polyhedron. It rolls on each face, turns about each edge of a crest, and at each edge of a trough
    is stopped a little, as its centre must go another way at once. That path is known in closed form, face by face, and the ball
    keeps to it within c dt^2. As the cells get smaller both go over to the smooth wave, where a ball that rolls keeps its energy;
    how far they are from it goes as the cell does.
    """
    scene = Scene(duration=6.0)
    i, j = (np.arange(round(side / cell) + 1) - 0.5 * round(side / cell) for side in (LENGTH, WIDTH))
    k = 2 * math.pi / wavelength
    field = HeightField(np.tile(amplitude * np.sin(k * cell * i)[:, None], len(j)), cell)
    scene.add(field, kind="static", name="waves", friction=1.0, finish="relief")
    x = cell * (math.floor(START / cell - i[0]) + i[0])  # the sample before it
    low, high = (amplitude * math.sin(k * place) for place in (x, x + cell))
    slope = math.atan2(high - low, cell)
    along, up = np.array((math.cos(slope), 0.0, math.sin(slope))), np.array((-math.sin(slope), 0.0, math.cos(slope)))
    way = math.cos(heading) * along + math.sin(heading) * np.array((0.0, 1.0, 0.0))
    aside = max(min(-3.0 * way[1] * speed, 0.4 * WIDTH), -0.4 * WIDTH)  # it crosses the middle half way
    place = np.array((START, aside, low + math.tan(slope) * (START - x))) + RADIUS * up
    scene.add(
        Sphere(RADIUS), name="ball", position=place, velocity=speed * way, angular_velocity=speed / RADIUS * np.cross(up, way),
        mass=MASS, friction=1.0,
    )  # fmt: skip
    return scene
