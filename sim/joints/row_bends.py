"""How the rates of a joint's coordinates change while the velocities of its bodies stay: G' u of the equations of motion.

A travel along e at the common point P has the rate e.(vj(P) - vi(P)), with v(P) = v + w x (P - x). While v and w stay, P moves at
P' and e at e', so it changes at

    e'.(vj(P) - vi(P)) + e.(wj x (P' - vj) - wi x (P' - vi)),

and the rate of a turn, e.(wj - wi), at e'.(wj - wi). Directions that are fixed in a body have e' = wi x e, so e'.d = e.(d x wi):
all three rows are parts of one vector. Where P is fixed in b, P' is its velocity.

The turns of a general joint have slanted rows e, reciprocal to the axes b about which they turn: wj - wi = sum of q' b, where q'
is e.(wj - wi). With w kept, 0 = sum of (q'' b + q' b'), so q'' = -e.(sum of q' b'). The first axis is fixed in a, the last one in
b, and the second turns with a and about the first.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import far, lean, remote
from tumble.collision.linalg import IDENTITY, ZERO, add, axpy, cross, dot, scale, sub
from tumble.sim.joints.kinds.distance import line_rate
from tumble.sim.joints.kinds.gear import gear_rates
from tumble.sim.joints.rows import along_rows, anchor_pose, parting
from tumble.sim.solvers.link_recursion import ABOUT
from tumble.sim.state import DISTANCE, EXAMPLE, GEAR, GENERAL, SCREW

FRAME = IDENTITY + IDENTITY


@lean
def row_bends(joints, j, f, rates, xi, ri, vi, wi, xj, rj, vj, wj):
    """The six changes for joint j between bodies with these poses and velocities; ``f``: row of Forces.place for these poses;
    ``rates``: of the coordinates, which only a general joint has need of."""
    point, kind = (f[0], f[1], f[2]), joints.kind[j]
    if kind in (DISTANCE, GEAR, SCREW):
        frame = (
            f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11], f[12], f[13], f[14], f[15], f[16], f[17], f[18], f[19], f[20]
        )  # fmt: skip
        return bends_of_lines(joints, j, point, frame, xi, ri, vi, wi, xj, rj, vj, wj)
    on_a, on_b = cross(wi, sub(point, xi)), cross(wj, sub(point, xj))
    apart, turns = sub(add(vj, on_b), add(vi, on_a)), sub(wj, wi)
    along = add(cross(apart, wi), sub(cross(wj, on_b), cross(wi, sub(add(vj, on_b), vi))))
    about = cross(turns, wi)
    if kind == GENERAL:
        _, _, _, p, q, r = rates
        first = (f[ABOUT], f[ABOUT + 3], f[ABOUT + 6])
        second, third = (f[ABOUT + 1], f[ABOUT + 4], f[ABOUT + 7]), (f[ABOUT + 2], f[ABOUT + 5], f[ABOUT + 8])
        about = scale(-p, cross(wi, first))
        about = axpy(-q, cross(axpy(p, first, wi), second), about)
        about = axpy(-r, cross(wj, third), about)
    return along_rows(f, along, about)


@remote
def _bends_of_lines(joints, j, point, frame, xi, ri, vi, wi, xj, rj, vj, wj):
    """The same where a direction turns with the line between two anchors, or the common point is fixed in neither body."""
    kind = joints.kind[j]
    moves = add(vj, cross(wj, sub(point, xj)))  # the anchor of b
    e0, e1, e2 = (frame[0], frame[3], frame[6]), (frame[1], frame[4], frame[7]), (frame[2], frame[5], frame[8])
    d0, d1, d2 = cross(wi, e0), cross(wi, e1), cross(wi, e2)
    if kind == SCREW:
        arm = abs(joints.ratio[j, 0])
        moves = add(vj, cross(wj, sub(axpy(-arm, e1, point), xj)))
        moves = axpy(arm, d1, moves)
    else:
        xa, _ = anchor_pose(joints, j, 0, xi, ri)
        xb, _ = anchor_pose(joints, j, 1, xj, rj)
        va, vb = add(vi, cross(wi, sub(xa, xi))), add(vj, cross(wj, sub(xb, xj)))
        if kind == DISTANCE:
            d2 = line_rate(sub(xb, xa), sub(vb, va))
        else:
            moves, d0 = gear_rates(sub(xb, xa), sub(vb, va), e2, e1, wi, joints.ratio[j, 0])
            moves = add(va, moves)
    apart = parting(point, xi, vi, wi, xj, vj, wj)
    bends, about = sub(cross(wj, sub(moves, vj)), cross(wi, sub(moves, vi))), cross(sub(wj, wi), wi)
    return (
        dot(d0, apart) + dot(e0, bends), dot(d1, apart) + dot(e1, bends), dot(d2, apart) + dot(e2, bends),
        dot((frame[9], frame[12], frame[15]), about), dot((frame[10], frame[13], frame[16]), about),
        dot((frame[11], frame[14], frame[17]), about),
    )  # fmt: skip


bends_of_lines = far(
    _bends_of_lines,
    lambda: (EXAMPLE.joints, 0, ZERO, FRAME, ZERO, IDENTITY, ZERO, ZERO, ZERO, IDENTITY, ZERO, ZERO),
    returns=(0.0,) * 6,
)
