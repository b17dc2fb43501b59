"""How the rates of a joint's coordinates change while the velocities of its bodies stay: G' u of the equations of motion.

A travel along e at the common point P has the rate e.(vj(P) - vi(P)), with v(P) = v + w x (P - x). While v and w stay, P moves at
P' and e at e', so it changes at

    e'.(vj(P) - vi(P)) + e.(wj x (P' - vj) - wi x (P' - vi)),

and the rate of a turn, e.(wj - wi), at e'.(wj - wi). Directions that are fixed in a body have e' = wi x e.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import far, remote
from tumble.collision.linalg import IDENTITY, ZERO, add, axpy, cross, dot, sub
from tumble.sim.joints.kinds.distance import line_rate
from tumble.sim.joints.kinds.gear import gear_rates
from tumble.sim.joints.kinds.general import turning_frame_rate
from tumble.sim.joints.rows import anchor_pose
from tumble.sim.state import DISTANCE, EXAMPLE, GEAR, GENERAL, SCREW

FRAME = IDENTITY + IDENTITY


@remote
def _row_bends(joints, j, point, frame, xi, ri, vi, wi, xj, rj, vj, wj):
    """The six changes for joint j; ``point`` and ``frame`` as ``rows.place_at`` gives them for these poses."""
    kind = joints.kind[j]
    moves = add(vj, cross(wj, sub(point, xj)))  # the anchor of b
    e0, e1, e2 = (frame[0], frame[3], frame[6]), (frame[1], frame[4], frame[7]), (frame[2], frame[5], frame[8])
    d0, d1, d2 = cross(wi, e0), cross(wi, e1), cross(wi, e2)
    if kind in (DISTANCE, GEAR):
        xa, _ = anchor_pose(joints, j, 0, xi, ri)
        xb, _ = anchor_pose(joints, j, 1, xj, rj)
        va, vb = add(vi, cross(wi, sub(xa, xi))), add(vj, cross(wj, sub(xb, xj)))
        if kind == DISTANCE:
            d2 = line_rate(sub(xb, xa), sub(vb, va))
        else:
            moves, d0 = gear_rates(sub(xb, xa), sub(vb, va), e2, e1, wi, joints.ratio[j, 0])
            moves = add(va, moves)
    elif kind == SCREW:
        arm = abs(joints.ratio[j, 0])
        moves = add(vj, cross(wj, sub(axpy(-arm, e1, point), xj)))
        moves = axpy(arm, d1, moves)
    apart = sub(add(vj, cross(wj, sub(point, xj))), add(vi, cross(wi, sub(point, xi))))
    bends = sub(cross(wj, sub(moves, vj)), cross(wi, sub(moves, vi)))
    t0, t1, t2 = (frame[9], frame[12], frame[15]), (frame[10], frame[13], frame[16]), (frame[11], frame[14], frame[17])
    if kind == GENERAL:
        _, fa = anchor_pose(joints, j, 0, xi, ri)
        _, fb = anchor_pose(joints, j, 1, xj, rj)
        t0, t1, t2 = turning_frame_rate(fa, fb, joints.length[j], wi, wj)
    else:
        t0, t1, t2 = cross(wi, t0), cross(wi, t1), cross(wi, t2)
    turns = sub(wj, wi)
    return (
        dot(d0, apart) + dot(e0, bends), dot(d1, apart) + dot(e1, bends), dot(d2, apart) + dot(e2, bends),
        dot(t0, turns), dot(t1, turns), dot(t2, turns),
    )  # fmt: skip


row_bends = far(
    _row_bends,
    lambda: (EXAMPLE.joints, 0, ZERO, FRAME, ZERO, IDENTITY, ZERO, ZERO, ZERO, IDENTITY, ZERO, ZERO),
    returns=(0.0,) * 6,
)
