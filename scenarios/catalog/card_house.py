import math
from typing import Annotated

from tumble import Box, ConvexHull, HalfSpace, Real, Scene, Whole, scenario

WIDE = 0.06  # m, of a card


@scenario
def card_house(
    levels: Annotated[int, Whole(low=1, high=6, help="storeys")] = 3,
    lean: Annotated[float, Real(unit="rad", low=0.1, high=1.0, help="of a card from the upright")] = math.radians(25),
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.5,
    height: Annotated[float, Real(unit="m", above=0, help="of a storey")] = 0.09,
    thickness: Annotated[float, Real(unit="m", above=0, high=0.02, help="of a card")] = 0.004,
) -> Scene:
    """A house of cards, held up by friction alone.

    Two thin cards that lean against each other push their feet apart with half their weight times the tangent of the lean:
    they stand where the friction is above tan(lean)/2 = 0.23 and slip apart below it; the thickness makes it 0.205. The ends
    of the cards are cut level where they stand and upright where they meet, so they touch by faces.
    """
    # the section of a card that leans to the right, in the plane x, z: a slanted strip, cut at z = 0, z = height and x = 0
    s, c, t = math.sin(lean), math.cos(lean), thickness
    w = t / (2 * c)  # half the width of the ridge on which the next storey lies
    offset = -w * c - height * s + t / 2
    section = [
        ((offset - t / 2) / c, 0.0), (-w, height), (0.0, height), (0.0, height - (t - w * c) / s), ((offset + t / 2) / c, 0.0),
    ]  # fmt: skip
    foot = section[0][0]
    pitch = 2 * abs(foot) + 0.002  # from ridge to ridge
    scene = Scene(duration=5.0)
    scene.add(HalfSpace(), kind="static", name="table", friction=friction)
    cards = {side: ConvexHull([(sign * x, y, z) for x, z in section for y in (-WIDE / 2, WIDE / 2)])
             for side, sign in (("left", 1), ("right", -1))}  # fmt: skip
    roof = Box(((pitch - 0.0005) / 2, WIDE / 2, thickness / 2))
    for level in range(levels):
        z, pairs = level * (height + thickness), levels - level
        for k in range(pairs):
            x = (k - (pairs - 1) / 2) * pitch
            for side, card in cards.items():
                scene.add(card, name=f"{side}_{level + 1}_{k + 1}", position=(x, 0, z), friction=friction)
        for k in range(pairs - 1):
            x = (k - (pairs - 2) / 2) * pitch
            place = (x, 0, z + height + thickness / 2)
            scene.add(roof, name=f"roof_{level + 1}_{k + 1}", position=place, friction=friction)
    return scene
