import math
from typing import Annotated

import numpy as np

from tumble import Box, ConvexHull, Flag, HeightField, Real, Scene, Whole, scenario

SLOPE, BEND, PLAIN, WIDTH, CELL = 8.0, 4.0, 9.0, 8.0, 0.2  # m: of the slope along it, radius of its foot, of the plain
SLAB = (0.2, 0.15, 0.05)  # m: half the sides of a slab
TOP, APART = 1.0, 0.75  # m: along the slope, from its top to the first stones; from stone to stone


@scenario
def rock_slide(
    stones: Annotated[int, Whole(low=1, high=200, help="how many, in rows of seven")] = 28,
    slabs: Annotated[bool, Flag(help="flat stones, which slide, instead of boulders, which roll")] = False,
    angle: Annotated[float, Real(unit="rad", low=0.1, high=0.9, help="of the slope")] = 0.6,
    friction: Annotated[float, Real(low=0, high=1, help="of stones and ground")] = 0.5,
    roughness: Annotated[float, Real(unit="m", low=0, high=0.1, help="height of bumps")] = 0.05,
    gully: Annotated[float, Real(unit="1/m", low=0, high=0.05, help="how much the ground is bent across the slope")] = 0.02,
    seed: Annotated[int, Whole(low=0, help="of stones and bumps")] = 2,
) -> Scene:
    """Stones come down a slope, a height field, and come to rest on the plain below.

    How far slabs get is known since Heim (1932): what slides down any profile and stops has used its energy up by friction, and
    the line from where it was to where it comes to lie falls by the friction coefficient, or by more, for the foot of the slope
    presses on what is fast. Boulders roll, and can get further. On a slope that falls by less than the friction coefficient
    slabs stay where they are.
    """
    scene = Scene(dt=1 / 240, duration=8.0, seed=seed)
    random = np.random.default_rng(seed)
    ground = terrain(angle, roughness, gully, random)
    scene.add(ground, kind="static", name="ground", friction=friction, restitution=0.1, finish="relief")
    low, ways = ground.bounds[0], (math.cos(angle), math.sin(angle))
    for n in range(stones):
        row, k = divmod(n, 7)
        s, y = TOP + APART * row, APART * ((k + 1) // 2) * (-1) ** k
        if slabs:
            shape, lift, turn = Box(SLAB), SLAB[2] + 1e-6 + roughness, (math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0)
        else:
            points = random.normal(size=(16, 3))
            points *= random.uniform(0.16, 0.28) / np.linalg.norm(points, axis=1)[:, None]
            shape, lift = ConvexHull(points * random.uniform(0.75, 1.0, 3)), 0.3 + roughness
            turn = random.normal(size=4)
            turn = tuple((turn / np.linalg.norm(turn)).tolist())
        x, z = low[0] + s * ways[0], (SLOPE - s) * ways[1] + foot(angle) + gully * (abs(y) + 0.2) ** 2
        scene.add(
            shape, name=f"stone_{n + 1}", position=(x + lift * ways[1], y, z + lift * ways[0]), orientation=turn, density=2600.0,
            friction=friction, restitution=0.1, color=("#7d7871", "#8f887d", "#6b6660")[n % 3],
        )  # fmt: skip
    return scene


def foot(angle: float) -> float:
    """The height at which the slope goes over into an arc, above the plain [m]."""
    return BEND * (1 - math.cos(angle))


def height(x: np.ndarray, angle: float) -> np.ndarray:
    """Of the profile without bumps [m], ``x`` from the top of the slope."""
    straight, bent = SLOPE * math.cos(angle), BEND * math.sin(angle)
    arc = BEND - np.sqrt(np.maximum(BEND**2 - np.maximum(straight + bent - x, 0.0) ** 2, 0.0))
    return np.where(x < straight, foot(angle) + (straight - x) * math.tan(angle), arc)


def terrain(angle: float, roughness: float, gully: float, random: np.random.Generator) -> HeightField:
    """The field: the profile along x, a gully across it, and bumps of about a metre."""
    long = SLOPE * math.cos(angle) + BEND * math.sin(angle) + PLAIN
    x, y = CELL * np.arange(round(long / CELL) + 1), CELL * (np.arange(round(WIDTH / CELL) + 1) - 0.5 * round(WIDTH / CELL))
    bumps = np.zeros((len(x), len(y)))
    for _ in range(40):
        way, phase = random.normal(scale=4.0, size=2), random.uniform(0, 2 * math.pi)
        bumps += np.cos(way[0] * x[:, None] + way[1] * y + phase)
    return HeightField(height(x, angle)[:, None] + gully * y**2 + roughness * bumps / np.abs(bumps).max(), CELL)


def slides(angle: float, friction: float, arm: float) -> tuple[float, float]:
    """How far a slab gets over the plain [m], behind the arc, and drop over reach of its whole way; ``arm``: half its height.

    From rest at TOP: a = g (sin - f cos) on the slope; on the arc, where its weight and its turning press,
    d(v^2)/ds + 2 f/R v^2 = 2 g (sin - f cos), R of its centre; f g on the plain, which is taken to be as long as needed.
    """
    f, g, bend = friction, 9.81, BEND - arm
    square = 2 * g * (math.sin(angle) - f * math.cos(angle)) * (SLOPE - TOP)
    # y = v^2 by the angle a that is left: y' = 2 f y - 2 g R (sin a - f cos a); one solution is p sin a + q cos a
    p, q = 6 * f * g * bend / (1 + 4 * f * f), 2 * g * bend * (1 - 2 * f * f) / (1 + 4 * f * f)
    rest = (square - p * math.sin(angle) - q * math.cos(angle)) * math.exp(-2 * f * angle) + q
    way = max(rest, 0.0) / (2 * f * g)
    drop = (SLOPE - TOP) * math.sin(angle) + bend * (1 - math.cos(angle))
    reach = (SLOPE - TOP) * math.cos(angle) + bend * math.sin(angle) + way
    return way, drop / reach
