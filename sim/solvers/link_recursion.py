"""Forces of joints that make trees, by a recursion over the links.

It solves (1) of joints/constraint_forces.py in O(joints). Where each body hangs by one joint from another one, or from what no
force moves, nothing has to be solved at once, but for the root of a tree that hangs from nothing. What hangs from a joint answers
an acceleration a of its body with the force

    f = M a + P

through the joint: M is its articulated inertia (Featherstone, Rigid Body Dynamics Algorithms, 7.3). From the leaves inwards: the
body's own M and P, and those of all that hangs from it. Along a free direction s of the joint no force is passed on, s.f = 0, so
it takes its part away: with u = M s, M loses u u'/(s.u), and P loses u (s.P)/(s.u). Along the others the acceleration is given.
A rotor of moment i on a free direction adds i to s.u, and takes i times what the row lacks from s.P. Rows of turns e, such as
those of cardan angles, need not be at right angles: coordinates turn about the axes b for which e.b is 1 for their own row and 0
for the others. To the root of a tree that hangs from nothing no force is passed on at all, so M a = -P. From the root outwards
the accelerations follow, and with them the forces.

Velocities and forces are those at the ``origin`` of the cluster, in world axes, so nothing has to be brought from one body to
another. The same recursion without forces on the bodies, P = 0, gives impulses and displacements.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import add, axpy, cross, dot, load3, load9, mul, scale, sub, symmetric_product

ACTS, ABOUT = 24, 32  # columns of Forces.place: 1 for rows along which forces act, else 0; axes of their turns
BIAS = 36  # column of Forces.reach from which on P stands, behind M by rows
BY, GAIN, PIVOT, DRIVEN = 0, 6, 12, 13  # columns of Forces.pivots: s, u, 1/(s.u), s.P


@lean
def hold_tree(bodies, forces, c, to):
    """Forces of the rows of cluster c, to ``load``, that give them what they lack; the rates ``to`` have all other forces."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i, rate, u = forces.member[m], forces.path[to, forces.member[m]], forces.motion[m]
        x, inertia = _start_reach(bodies, forces, c, m)
        force, w = axpy(bodies.mass[i], load3(bodies.gravity, i), (rate[7], rate[8], rate[9])), (u[3], u[4], u[5])
        torque = add(sub((rate[10], rate[11], rate[12]), cross(w, mul(inertia, w))), cross(x, force))
        for d in range(3):
            forces.reach[m, BIAS + d], forces.reach[m, BIAS + 3 + d] = -force[d], -torque[d]
    _pass_on(forces, c)


@lean
def move_tree(bodies, forces, c):
    """Impulses of the rows of cluster c, to ``load``, that change the velocities by what they lack; and these changes, to
    ``gain``. Or displacements."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        _start_reach(bodies, forces, c, m)
        for d in range(6):
            forces.reach[m, BIAS + d] = 0.0
    _pass_on(forces, c)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        s, a = forces.stand[m], forces.gain[m]
        v = cross((a[3], a[4], a[5]), sub((s[0], s[1], s[2]), load3(forces.origin, c)))
        for d in range(3):
            a[d] += v[d]


@lean
def _pass_on(forces, c):
    """From the leaves inwards, and from the root outwards."""
    first, last = forces.first_link[c], forces.first_link[c + 1]
    for n in range(last - 1, first - 1, -1):
        _inward(forces, c, n)
    root = forces.seats[forces.chain[first, 0], 1 - forces.chain[first, 1]]
    if root >= 0:
        _let_go(forces.reach[root], forces.gain[root])
    for n in range(first, last):
        _outward(forces, c, n)


@lean
def _let_go(row, a):
    """The acceleration a of a root that hangs from nothing: M a = -P, by L D L^T in place of M."""
    for r in range(6):
        for q in range(r + 1):
            for d in range(q):
                row[6 * r + q] -= row[6 * r + d] * row[6 * q + d] * row[7 * d]
            if q < r:
                row[6 * r + q] /= row[7 * q]
    for r in range(6):
        a[r] = -row[BIAS + r]
        for d in range(r):
            a[r] -= row[6 * r + d] * a[d]
    for r in range(5, -1, -1):
        a[r] /= row[7 * r]
        for d in range(r + 1, 6):
            a[r] -= row[6 * d + r] * a[d]


@lean
def _start_reach(bodies, forces, c, m):
    """M of a member alone; where its centre is from the origin, and its inertia in world axes."""
    i, s, row = forces.member[m], forces.stand[m], forces.reach[m]
    x, mass = sub((s[0], s[1], s[2]), load3(forces.origin, c)), bodies.mass[i]
    inertia = symmetric_product((s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11]), load9(bodies.inertia, i))
    for d in range(36):
        row[d] = 0.0
    for d in range(3):
        row[7 * d] = mass
    y = scale(mass, x)
    row[4], row[5], row[9], row[11], row[15], row[16] = y[2], -y[1], -y[2], y[0], y[1], -y[0]
    row[19], row[20], row[24], row[26], row[30], row[31] = -y[2], y[1], y[2], -y[0], -y[1], y[0]
    for r in range(3):
        for q in range(3):
            row[6 * (3 + r) + 3 + q] = inertia[3 * r + q] - y[r] * x[q]
        row[7 * (3 + r)] += y[0] * x[0] + y[1] * x[1] + y[2] * x[2]
    return x, inertia


@lean
def _direction(place, r, point):
    """Along coordinate r of a joint: the velocity at the origin and the angular velocity of a body that moves by it."""
    if r < 3:
        return place[3 + r], place[6 + r], place[9 + r], 0.0, 0.0, 0.0
    e = (place[ABOUT - 3 + r], place[ABOUT + r], place[ABOUT + 3 + r])
    v = cross(point, e)
    return v[0], v[1], v[2], e[0], e[1], e[2]


@lean
def _along(row, first, s):
    """Six numbers of a row times a direction."""
    return (
        row[first] * s[0] + row[first + 1] * s[1] + row[first + 2] * s[2]
        + row[first + 3] * s[3] + row[first + 4] * s[4] + row[first + 5] * s[5]
    )  # fmt: skip


@lean
def put_turns(place, slanted):
    """The axes b about which the turns of a joint are, from the directions e of their rows: as these, unless they are slanted."""
    if not slanted:
        for d in range(9):
            place[ABOUT + d] = place[12 + d]
        return
    e, f, g = (place[12], place[15], place[18]), (place[13], place[16], place[19]), (place[14], place[17], place[20])
    x, y, z = cross(f, g), cross(g, e), cross(e, f)
    size = dot(e, x)
    inverse = 1.0 / size if size != 0.0 else 0.0
    for d in range(3):
        place[ABOUT + 3 * d], place[ABOUT + 3 * d + 1] = x[d] * inverse, y[d] * inverse
        place[ABOUT + 3 * d + 2] = z[d] * inverse


@lean
def _gives_way(forces, k, r):
    """Coordinate r of link k is free, or moves a rotor alone."""
    return forces.place[k, ACTS + r] == 0.0 or forces.slack[k, r] > 0.0


@lean
def _lack(forces, k, r, sign):
    """What row r of link k gives: what it lacks, where it does not give way itself."""
    return 0.0 if forces.slack[k, r] > 0.0 else sign * forces.lacks[k, r]


@lean
def _given(forces, k, point, sign):
    """What moves as rows ask for: the acceleration at the origin, and that of turning. What is free has no lack."""
    place = forces.place[k]
    x, y, z = _lack(forces, k, 0, sign), _lack(forces, k, 1, sign), _lack(forces, k, 2, sign)
    v = (
        x * place[3] + y * place[4] + z * place[5], x * place[6] + y * place[7] + z * place[8],
        x * place[9] + y * place[10] + z * place[11],
    )  # fmt: skip
    x, y, z = _lack(forces, k, 3, sign), _lack(forces, k, 4, sign), _lack(forces, k, 5, sign)
    w = (
        x * place[ABOUT] + y * place[ABOUT + 1] + z * place[ABOUT + 2],
        x * place[ABOUT + 3] + y * place[ABOUT + 4] + z * place[ABOUT + 5],
        x * place[ABOUT + 6] + y * place[ABOUT + 7] + z * place[ABOUT + 8],
    )  # fmt: skip
    v = add(v, cross(point, w))
    return v[0], v[1], v[2], w[0], w[1], w[2]


@lean
def _inward(forces, c, n):
    """What the n-th joint of the order outwards passes on to the body that it hangs from."""
    k, side = forces.chain[n, 0], forces.chain[n, 1]
    place, row, parent = forces.place[k], forces.reach[forces.seats[k, side]], forces.seats[k, 1 - side]
    point, sign = sub((place[0], place[1], place[2]), load3(forces.origin, c)), 1.0 if side == 1 else -1.0
    for r in range(6):
        if _gives_way(forces, k, r):
            s, pivot = _direction(place, r, point), forces.pivots[6 * k + r]
            for d in range(6):
                pivot[BY + d], pivot[GAIN + d] = s[d], _along(row, 6 * d, s)
            size, driven = _along(pivot, GAIN, s), _along(row, BIAS, s)
            if forces.slack[k, r] > 0.0:
                size += 1.0 / forces.slack[k, r]
                driven -= sign * forces.lacks[k, r] / forces.slack[k, r]
            inverse = 1.0 / size if size > 0.0 else 0.0
            pivot[PIVOT], pivot[DRIVEN] = inverse, driven
            for d in range(6):
                f = pivot[GAIN + d] * inverse
                row[BIAS + d] -= f * driven
                for e in range(6):
                    row[6 * d + e] -= f * pivot[GAIN + e]
    given = _given(forces, k, point, sign)
    for d in range(6):
        forces.step[k, d] = given[d]
    if parent >= 0:
        other = forces.reach[parent]
        for d in range(6):
            other[BIAS + d] += row[BIAS + d] + _along(row, 6 * d, given)
            for e in range(6):
                other[6 * d + e] += row[6 * d + e]


@lean
def _outward(forces, c, n):
    """The acceleration of the body that hangs from the n-th joint, to ``gain``, and the forces of its rows, to ``load``."""
    k, side = forces.chain[n, 0], forces.chain[n, 1]
    place, m, parent = forces.place[k], forces.seats[k, side], forces.seats[k, 1 - side]
    row, a, given = forces.reach[m], forces.gain[m], forces.step[k]
    for d in range(6):
        a[d] = given[d] + (forces.gain[parent, d] if parent >= 0 else 0.0)
    sign = 1.0 if side == 1 else -1.0
    all_of = (a[0], a[1], a[2], a[3], a[4], a[5])
    f = (
        sign * (row[BIAS] + _along(row, 0, all_of)), sign * (row[BIAS + 1] + _along(row, 6, all_of)),
        sign * (row[BIAS + 2] + _along(row, 12, all_of)),
    )  # fmt: skip
    whole = (
        sign * (row[BIAS + 3] + _along(row, 18, all_of)), sign * (row[BIAS + 4] + _along(row, 24, all_of)),
        sign * (row[BIAS + 5] + _along(row, 30, all_of)),
    )  # fmt: skip
    torque = sub(whole, cross(sub((place[0], place[1], place[2]), load3(forces.origin, c)), f))
    for r in range(3):
        forces.load[k, r] = place[ACTS + r] * (place[3 + r] * f[0] + place[6 + r] * f[1] + place[9 + r] * f[2])
        e = ABOUT + r
        forces.load[k, 3 + r] = place[ACTS + 3 + r] * (place[e] * torque[0] + place[e + 3] * torque[1] + place[e + 6] * torque[2])
    for r in range(5, -1, -1):
        if _gives_way(forces, k, r):
            pivot = forces.pivots[6 * k + r]
            q = pivot[DRIVEN]
            for d in range(6):
                q += pivot[GAIN + d] * a[d]
            q *= pivot[PIVOT]
            for d in range(6):
                a[d] -= q * pivot[BY + d]
