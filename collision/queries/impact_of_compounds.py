"""Times of impact of compounds of many pieces: the time is cut into slices, and in each only pieces that can meet are looked at.

The speeds of the bodies, and how fast they turn, bound the speed of all of their points. So pairs are skipped until the balls
about their pieces can touch. In a slice only pairs are examined whose balls come near enough, which a tree of their centres
finds.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.pose import rotated
from tumble.collision.shapes.shapeset import ShapeSet

MANY_MOVING = 64  # pairs of pieces that are all looked at
SLICES = 1000  # after so many all pairs are looked at for the rest of the time
REACH_ROUNDING = 1e-12  # of lengths: a reach is wider by so much


def speed_of(shapes: ShapeSet, which: int, motion) -> float:
    """A speed that no point of a moving shape exceeds, less that of its centre [m/s]."""
    rows = np.arange(shapes.first[which], shapes.first[which + 1])
    place, _ = shapes.places(rows)
    reach = (np.linalg.norm(place - motion.center, axis=1) + shapes.geometry.radius[rows]).max()
    return float(np.linalg.norm(motion.angular_velocity) * reach)


def slices(shapes: ShapeSet, motions: tuple, duration: float):
    """Slices of the time in which shapes 0 and 1 of a set may touch: (begins, lasts [s], pairs of pieces (k, 2))."""
    count = shapes.first[1], shapes.first[2] - shapes.first[1]
    everything = np.stack(np.divmod(np.arange(count[0] * count[1]), count[1]), axis=1)
    radius = shapes.geometry.radius[: count[0]]
    tree, widest, _ = shapes.balls(1)
    if not (np.isfinite(radius).all() and np.isfinite(widest)):
        yield 0.0, duration, everything
        return
    apart = np.subtract(motions[1].velocity, motions[0].velocity)
    speed = float(np.linalg.norm(apart)) + speed_of(shapes, 0, motions[0]) + speed_of(shapes, 1, motions[1])
    time, taken = 0.0, 0
    while time < duration:
        taken += 1
        if taken > SLICES:
            yield time, duration - time, everything
            return
        a, b = (motion.at(time) for motion in motions)
        n = count[0]
        at, _, _ = shapes.placed(np.arange(n), np.tile(a.position, (n, 1)), np.tile(a.orientation, (n, 1)))
        back = np.tile(np.multiply(b.orientation, (1, -1, -1, -1)), (n, 1))
        local = rotated(back, at - b.position)
        away, _ = tree.query(local)
        slack = REACH_ROUNDING * (np.abs(local).max() + np.abs(tree.data).max() + np.abs(at).max())
        gap = (away - radius).min() - widest - slack
        step = 0.25 * (radius.max() + widest)  # short ones: few pairs in each, and the first hit ends the search
        if speed == 0.0:
            span = duration - time
        elif gap > step:  # nothing meets before
            time += gap / speed
            continue
        else:
            span = min(duration - time, step / speed)
        found = tree.query_ball_point(local, radius + widest + speed * span + slack, return_sorted=True)
        pairs = [np.column_stack([np.full(len(some), k), np.array(some, int)]) for k, some in enumerate(found) if some]
        if pairs:
            yield time, span, np.concatenate(pairs)
        time += span
