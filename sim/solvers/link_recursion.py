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
another. The same recursion without forces on the bodies, P = 0, gives impulses and displacements. M does not depend on P: it is
gathered once for an instant (`load_tree`), and asked as often as there is something to solve.

M is symmetric, so u is the sum of its rows, each times its number of s. A row is two registers of four numbers, of which the last
two are zero.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import add, axpy, cross, dot, load3, load9, scale, sub, symmetric_product
from tumble.sim.solvers.lanes import LANES, every, lanes_at, put_lanes

ACTS, ABOUT = 24, 32  # columns of Forces.place: 1 for rows along which forces act, else 0; axes of their turns
REACH_ROW = 2 * LANES  # numbers of a row of M in Forces.reach
# columns of Forces.pivots: s; u; 1/(s.u); by how much what a rotor lacks moves it; the acceleration along s, but for that by u.a
BY, GAIN, PIVOT, ROTOR_GAIN, DRIVEN = 0, REACH_ROW, 16, 17, 18


@lean
def load_tree(bodies, forces, c):
    """Gather what hangs from each joint of cluster c, whose rows are placed: M, from the leaves inwards."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        _start_reach(bodies, forces, c, m)
    for n in range(forces.first_link[c + 1] - 1, forces.first_link[c] - 1, -1):
        _gather(forces, c, n)
    root = _root(forces, c)
    if root >= 0:
        _factor(forces.reach[root])


@lean
def hold_tree(bodies, forces, c, to):
    """Forces of the rows of cluster c, to ``load``, that give them what they lack; the rates ``to`` have all other forces."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i, rate, s, u = forces.member[m], forces.path[to, forces.member[m]], forces.stand[m], forces.motion[m]
        force = axpy(bodies.mass[i], load3(bodies.gravity, i), (rate[7], rate[8], rate[9]))
        torque = sub((rate[10], rate[11], rate[12]), cross((u[3], u[4], u[5]), (u[6], u[7], u[8])))
        torque = add(torque, cross(sub((s[0], s[1], s[2]), load3(forces.origin, c)), force))
        for d in range(3):
            forces.bias[m, d], forces.bias[m, 3 + d] = -force[d], -torque[d]
    _pass_on(forces, c)


@lean
def move_tree(forces, c):
    """Impulses of the rows of cluster c, to ``load``, that change the velocities by what they lack; and these changes, to
    ``gain``. Or displacements."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        for d in range(6):
            forces.bias[m, d] = 0.0
    _pass_on(forces, c)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        s, a = forces.stand[m], forces.gain[m]
        v = cross((a[3], a[4], a[5]), sub((s[0], s[1], s[2]), load3(forces.origin, c)))
        for d in range(3):
            a[d] += v[d]


@lean
def _root(forces, c):
    """The member that hangs from nothing; -1 where the tree hangs from what no force moves."""
    first = forces.first_link[c]
    return forces.seats[forces.chain[first, 0], 1 - forces.chain[first, 1]]


@lean
def _pass_on(forces, c):
    """P from the leaves inwards, and accelerations from the root outwards."""
    first, last, root = forces.first_link[c], forces.first_link[c + 1], _root(forces, c)
    for n in range(last - 1, first - 1, -1):
        _inward(forces, c, n)
    if root >= 0:
        _let_go(forces.reach[root], forces.bias[root], forces.gain[root])
    for n in range(first, last):
        _outward(forces, c, n)


@lean
def _factor(row):
    """L D L^T in place of M, below the diagonal and on it."""
    for r in range(6):
        for q in range(r + 1):
            for d in range(q):
                row[REACH_ROW * r + q] -= row[REACH_ROW * r + d] * row[REACH_ROW * q + d] * row[(REACH_ROW + 1) * d]
            if q < r:
                row[REACH_ROW * r + q] /= row[(REACH_ROW + 1) * q]


@lean
def _let_go(row, bias, a):
    """The acceleration a of a root that hangs from nothing: M a = -P."""
    for r in range(6):
        a[r] = -bias[r]
        for d in range(r):
            a[r] -= row[REACH_ROW * r + d] * a[d]
    for r in range(5, -1, -1):
        a[r] /= row[(REACH_ROW + 1) * r]
        for d in range(r + 1, 6):
            a[r] -= row[REACH_ROW * d + r] * a[d]


@lean
def _start_reach(bodies, forces, c, m):
    """M of a member alone."""
    i, s, row = forces.member[m], forces.stand[m], forces.reach[m]
    x, mass = sub((s[0], s[1], s[2]), load3(forces.origin, c)), bodies.mass[i]
    inertia = symmetric_product((s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11]), load9(bodies.inertia, i))
    y, square = scale(mass, x), mass * dot(x, x)
    for d in range(6 * REACH_ROW):
        row[d] = 0.0
    for d in range(3):
        for e in range(3):  # the square of x x, negative
            row[REACH_ROW * (3 + d) + 3 + e] = inertia[3 * d + e] - y[d] * x[e]
        row[(REACH_ROW + 1) * d] = mass
        row[(REACH_ROW + 1) * (3 + d)] += square
    for d in range(3):  # m x x, and its transpose
        e, f = (d + 1) % 3, (d + 2) % 3
        row[REACH_ROW * d + 3 + e] = row[REACH_ROW * (3 + e) + d] = y[f]
        row[REACH_ROW * d + 3 + f] = row[REACH_ROW * (3 + f) + d] = -y[e]


@lean
def _direction(place, r, point):
    """Along coordinate r of a joint: the velocity at the origin and the angular velocity of a body that moves by it."""
    if r < 3:
        return place[3 + r], place[6 + r], place[9 + r], 0.0, 0.0, 0.0
    e = (place[ABOUT - 3 + r], place[ABOUT + r], place[ABOUT + 3 + r])
    v = cross(point, e)
    return v[0], v[1], v[2], e[0], e[1], e[2]


@lean
def _rows_along(reach, m, s):
    """M s of member m, the sum of its rows, each times its number of s: two registers."""
    return _half_along(reach, m, 0, s), _half_along(reach, m, LANES, s)


@lean
def _half_along(reach, m, at, s):
    """Four numbers of it, from column ``at`` on."""
    return (
        every(s[0]) * lanes_at(reach, m, at) + every(s[1]) * lanes_at(reach, m, REACH_ROW + at)
        + every(s[2]) * lanes_at(reach, m, 2 * REACH_ROW + at)
        + (every(s[3]) * lanes_at(reach, m, 3 * REACH_ROW + at) + every(s[4]) * lanes_at(reach, m, 4 * REACH_ROW + at)
        + every(s[5]) * lanes_at(reach, m, 5 * REACH_ROW + at))
    )  # fmt: skip


@lean
def _product(a, first, b, other):
    """Six numbers of a row from a column on, times six of another one."""
    return (
        a[first] * b[other] + a[first + 1] * b[other + 1] + a[first + 2] * b[other + 2]
        + (a[first + 3] * b[other + 3] + a[first + 4] * b[other + 4] + a[first + 5] * b[other + 5])
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
def _gather(forces, c, n):
    """The inertia that the n-th joint of the order outwards passes on to the body that it hangs from."""
    k, side = forces.chain[n, 0], forces.chain[n, 1]
    place, reach, m, parent = forces.place[k], forces.reach, forces.seats[k, side], forces.seats[k, 1 - side]
    point = sub((place[0], place[1], place[2]), load3(forces.origin, c))
    for r in range(6):
        if _gives_way(forces, k, r):
            _take_part(forces, m, 6 * k + r, _direction(place, r, point), forces.slack[k, r])
    if parent >= 0:
        for at in range(0, 6 * REACH_ROW, LANES):
            put_lanes(reach, parent, at, lanes_at(reach, parent, at) + lanes_at(reach, m, at))


@lean
def _take_part(forces, m, n, s, slack):
    """Along the free direction s of its joint member m passes nothing on: M loses u u'/(s.u). Row n of the pivots keeps what the
    forces need. ``slack``: the inverse 1/i of a rotor, with which 1/(s.u + i) is (1/i)/(1 + s.u/i)."""
    reach, pivot, (low, high) = forces.reach, forces.pivots[n], _rows_along(forces.reach, m, s)
    put_lanes(forces.pivots, n, GAIN, low)
    put_lanes(forces.pivots, n, GAIN + LANES, high)
    for d in range(6):
        pivot[BY + d] = s[d]
    size, pivot[PIVOT], pivot[ROTOR_GAIN] = _product(pivot, BY, pivot, GAIN), 0.0, 0.0
    if slack > 0.0:
        pivot[ROTOR_GAIN] = 1.0 / (1.0 + slack * size)
        pivot[PIVOT] = slack * pivot[ROTOR_GAIN]
    elif size > 0.0:
        pivot[PIVOT] = 1.0 / size
    for d in range(6):
        f, at = every(pivot[GAIN + d] * pivot[PIVOT]), REACH_ROW * d
        put_lanes(reach, m, at, lanes_at(reach, m, at) - f * low)
        put_lanes(reach, m, at + LANES, lanes_at(reach, m, at + LANES) - f * high)


@lean
def _inward(forces, c, n):
    """The force that the n-th joint passes on to the body that it hangs from."""
    k, side = forces.chain[n, 0], forces.chain[n, 1]
    place, bias, m, parent = forces.place[k], forces.bias, forces.seats[k, side], forces.seats[k, 1 - side]
    point, sign = sub((place[0], place[1], place[2]), load3(forces.origin, c)), 1.0 if side == 1 else -1.0
    low, high = lanes_at(bias, m, 0), lanes_at(bias, m, LANES)
    for r in range(6):
        if _gives_way(forces, k, r):
            pivot, row = forces.pivots[6 * k + r], 6 * k + r
            pivot[DRIVEN] = pivot[PIVOT] * _product(pivot, BY, bias[m], 0) - pivot[ROTOR_GAIN] * sign * forces.lacks[k, r]
            part = every(pivot[DRIVEN])
            low = low - part * lanes_at(forces.pivots, row, GAIN)
            high = high - part * lanes_at(forces.pivots, row, GAIN + LANES)
            put_lanes(bias, m, 0, low)
            put_lanes(bias, m, LANES, high)
    given = _given(forces, k, point, sign)
    for d in range(6):
        forces.step[k, d] = given[d]
    if parent >= 0:
        x, y = _rows_along(forces.reach, m, given)
        put_lanes(bias, parent, 0, lanes_at(bias, parent, 0) + (low + x))
        put_lanes(bias, parent, LANES, lanes_at(bias, parent, LANES) + (high + y))


@lean
def _outward(forces, c, n):
    """The acceleration of the body that hangs from the n-th joint, to ``gain``, and the forces of its rows, to ``load``."""
    k, side = forces.chain[n, 0], forces.chain[n, 1]
    place, m, parent = forces.place[k], forces.seats[k, side], forces.seats[k, 1 - side]
    a, given, passed = forces.gain[m], forces.step[k], forces.sums[0]
    for d in range(6):
        a[d] = given[d] + (forces.gain[parent, d] if parent >= 0 else 0.0)
    sign = 1.0 if side == 1 else -1.0
    low, high = _rows_along(forces.reach, m, (a[0], a[1], a[2], a[3], a[4], a[5]))
    put_lanes(forces.sums, 0, 0, every(sign) * (low + lanes_at(forces.bias, m, 0)))
    put_lanes(forces.sums, 0, LANES, every(sign) * (high + lanes_at(forces.bias, m, LANES)))
    f = (passed[0], passed[1], passed[2])
    torque = sub((passed[3], passed[4], passed[5]), cross(sub((place[0], place[1], place[2]), load3(forces.origin, c)), f))
    for r in range(3):
        forces.load[k, r] = place[ACTS + r] * (place[3 + r] * f[0] + place[6 + r] * f[1] + place[9 + r] * f[2])
        e = ABOUT + r
        forces.load[k, 3 + r] = place[ACTS + 3 + r] * (place[e] * torque[0] + place[e + 3] * torque[1] + place[e + 6] * torque[2])
    for r in range(5, -1, -1):
        if _gives_way(forces, k, r):
            pivot = forces.pivots[6 * k + r]
            q = pivot[DRIVEN] + pivot[PIVOT] * _product(pivot, GAIN, a, 0)
            for d in range(6):
                a[d] -= q * pivot[BY + d]
