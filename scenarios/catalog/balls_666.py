from typing import Annotated

import numpy as np

from tumble import HalfSpace, Real, Scene, Sphere, Whole, scenario


@scenario
def balls_666(
    restitution: Annotated[float, Real(low=0, high=1, help="1: the elastic scene")] = 0.0,
    height: Annotated[float, Real(unit="m", above=0, help="centres of the lowest layer; the elastic scene has 1.101 m")] = 0.101,
    edge: Annotated[int, Whole(low=1, high=12, help="balls along an edge of the cube")] = 6,
    noise: Annotated[float, Real(unit="m", low=0, high=0.01, help="each coordinate is off the grid by up to so much")] = 1e-3,
    seed: Annotated[int, Whole(low=0, help="of the noise")] = 42,
) -> Scene:
    """A cube of 6 x 6 x 6 smooth balls falls apart.

    The scenes "666" and "elastic 666" of leggedrobotics/SimBenchmark: 216 balls of 10 kg and 0.2 m, 0.21 m apart, without
    friction, for 10 s. Without restitution no ball may sink into another; with restitution 1, dropped from 1 m higher, the
    energy of 34.5 kJ must stay what it was through thousands of impacts. Nothing acts sideways, so the centre of mass only
    moves up and down.
    """
    gap = 0.21
    scene = Scene(dt=1 / 100, duration=10.0, seed=seed)
    material = {"friction": 0.0, "restitution": restitution}
    scene.add(HalfSpace(), kind="static", name="floor", **material)
    cells = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), -1).reshape(-1, 3)
    places = gap * cells + noise * np.random.default_rng(seed).random(cells.shape) + (0, 0, height)
    for n, place in enumerate(places):
        scene.add(Sphere(0.1), name=f"ball_{n + 1}", mass=10.0, position=tuple(place), **material)
    return scene
