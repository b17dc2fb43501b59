"""Newton's method on the conditions of a closest pair of points, for smooth pieces of support functions.

With the pieces i of A and j of B that are active, points a_i(n) and b_j(n) where they are furthest, and weights that sum
to one, a critical point of the separation s has

    sum_j mu_j b_j - sum_i lambda_i a_i = s n,    n.a_i = n.a_0,    n.b_j = n.b_0,    |n| = 1.

An edge of a polytope is two active vertices, the side of a cylinder its two rims, the side of a cone its rim and its
apex. The unknowns are n, s and the weights; the derivative of a_i is the second derivative of its support function.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import add, dot, mul, mul_t, neg, norm, scale, sub, symmetric_product
from tumble.collision.shapes.support_functions import piece_bend, piece_point
from tumble.collision.shapes.support_points import EPS

NEWTON_STEPS = 12  # of Newton's method for the closest points of round bodies
MOST_PIECES = 3  # active pieces of one body


@lean
def distinct(pieces, weights, count, side, names, shares):
    """The different pieces of one body in a simplex, with their weights added: their number."""
    n = 0
    for k in range(count):
        piece = pieces[2 * k + side]
        found = -1
        for i in range(n):
            if names[side, i] == piece:
                found = i
        if found < 0:
            found = n
            names[side, n] = piece
            shares[side, n] = 0.0
            n += 1
        shares[side, found] += weights[k]
    return n


@lean
def solve(m, z, size):
    """One solution z of the square system (m[:, :k], m[:, k]) by elimination with full pivoting; unknowns without a pivot are 0.

    m is overwritten; column k + 1 of m must be free.
    """
    k = m.shape[0]
    for j in range(size):
        z[j] = 0.0
        m[j, k + 1] = -1.0  # column whose pivot is in row j
    top = 0.0
    for i in range(size):
        for j in range(size):
            top = max(top, abs(m[i, j]))
    rank = 0
    for step in range(size):
        best, row, column = 1e-13 * top, -1, -1
        for i in range(step, size):
            for j in range(size):
                if abs(m[i, j]) > best:
                    best, row, column = abs(m[i, j]), i, j
        if row < 0:
            break
        for j in range(k + 1):
            m[step, j], m[row, j] = m[row, j], m[step, j]
        m[step, k + 1] = column
        rank += 1
        for i in range(size):
            if i != step and m[i, column] != 0.0:
                f = m[i, column] / m[step, column]
                for j in range(size):
                    m[i, j] -= f * m[step, j]
                m[i, column] = 0.0
                m[i, k] -= f * m[step, k]
    for i in range(rank):
        column = int(m[i, k + 1])
        z[column] = m[i, k] / m[i, column]


@lean
def fill(g, a, b, r, t, n, s, names, shares, na, nb, points, m, size):
    """The system for the step, scaled to metres: unknowns n, s / size, weights. Returns (p, q)."""
    count = 4 + na - 1 + nb - 1
    k = m.shape[0]
    for i in range(count):
        for j in range(k + 2):
            m[i, j] = 0.0
    p, q = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    back = neg(mul_t(r, n))
    for side in range(2):
        for i in range(na if side == 0 else nb):
            share = shares[side, i]
            if side == 0:
                x = piece_point(g, a, names[0, i], n)
                bend = piece_bend(g, a, names[0, i], n)
                p = add(p, scale(share, x))
            else:
                x = add(mul(r, piece_point(g, b, names[1, i], back)), t)
                bend = symmetric_product(r, piece_bend(g, b, names[1, i], back))
                q = add(q, scale(share, x))
            for c in range(3):
                points[side, i, c] = x[c]
                for d in range(3):
                    m[c, d] -= share * bend[3 * c + d]
    for c in range(3):
        m[c, c] -= s
        m[c, 3] = -n[c] * size
        m[3, c] = n[c] * size
        m[c, k] = -(q[c] - p[c] - s * n[c])
    m[3, k] = 0.5 * size * (1.0 - dot(n, n))
    row = 4
    for side in range(2):
        for i in range(1, na if side == 0 else nb):
            difference = 0.0
            for c in range(3):
                e = points[side, i, c] - points[side, 0, c]
                m[row, c] = e
                m[c, row] = -e if side == 0 else e
                difference += n[c] * e
            m[row, k] = -difference
            row += 1
    return p, q


@lean
def iterate(g, a, b, r, t, n, names, shares, na, nb, points, m, z, size):
    """Newton's steps from the axis n with the pieces that are named: (done, n, s, p, q); the weights change in ``shares``."""
    p, q = fill(g, a, b, r, t, n, 0.0, names, shares, na, nb, points, m, size)
    s = dot(n, sub(q, p))
    for step in range(NEWTON_STEPS):
        p, q = fill(g, a, b, r, t, n, s, names, shares, na, nb, points, m, size)
        solve(m, z, 2 + na + nb)
        dn = (z[0], z[1], z[2])
        turn = norm(dn)
        if not turn < 0.3:
            break
        n = add(n, dn)
        n = scale(1.0 / norm(n), n)
        s += z[3] * size
        row = 4
        moved = 0.0
        for side in range(2):
            for i in range(1, na if side == 0 else nb):
                shares[side, i] += z[row]
                shares[side, 0] -= z[row]
                moved = max(moved, abs(z[row]))
                row += 1
        if turn <= 4.0 * EPS and moved <= 64.0 * EPS or step == NEWTON_STEPS - 1 and turn < 1e-12:
            return True, n, s, p, q
    return False, n, s, p, q


@lean
def worst_piece(shares, na, nb):
    """(body, piece) with the least weight, if it is below zero; else (-1, -1)."""
    worst, side_worst, i_worst = -1e-10, -1, -1
    for side in range(2):
        for i in range(na if side == 0 else nb):
            if shares[side, i] < worst:
                worst, side_worst, i_worst = shares[side, i], side, i
    return side_worst, i_worst


@lean
def leave_out(names, shares, side, i, last):
    """Put the last piece of a body in the place of piece i, and make the weights of those that are left sum to one."""
    names[side, i] = names[side, last]
    shares[side, i] = shares[side, last]
    total = 0.0
    for k in range(last):
        total += shares[side, k]
    for k in range(last):
        shares[side, k] = shares[side, k] / total if total > 0.0 else 1.0 / last


@inner
def newton(g, a, b, r, t, n0, count, pieces, weights, size):
    """(found, n, p, q) from the axis n0 and the simplex (count, pieces, weights) of a search that came near.

    A piece whose weight turns out negative is left out and the search repeated. Not found: it did not converge, or
    went off; p and q are points of the bodies where it did.
    """
    names = np.empty((2, MOST_PIECES), np.int64)
    shares, start = np.zeros((2, MOST_PIECES)), np.empty((2, MOST_PIECES))
    points = np.empty((2, MOST_PIECES, 3))
    m = np.empty((8, 10))
    z = np.empty(8)
    na = distinct(pieces, weights, count, 0, names, shares)
    nb = distinct(pieces, weights, count, 1, names, shares)
    for _ in range(4):
        start[:] = shares
        done, n, s, p, q = iterate(g, a, b, r, t, n0, names, shares, na, nb, points, m, z, size)
        if not done:
            return False, n0, p, q
        side, worst = worst_piece(shares, na, nb)
        if side < 0:
            fill(g, a, b, r, t, n, s, names, shares, na, nb, points, m, size)
            return True, n, hull_point(points, shares, 0, na), hull_point(points, shares, 1, nb)
        last = (na if side == 0 else nb) - 1
        if last == 0:
            return False, n0, p, q
        shares[:] = start
        leave_out(names, shares, side, worst, last)
        if side == 0:
            na -= 1
        else:
            nb -= 1
    return False, n0, n0, n0


@lean
def hull_point(points, shares, side, count):
    """The weighted point, weights below zero cut off so that it lies in the body."""
    total = 0.0
    x = (0.0, 0.0, 0.0)
    for i in range(count):
        w = max(shares[side, i], 0.0)
        total += w
        x = add(x, scale(w, (points[side, i, 0], points[side, i, 1], points[side, i, 2])))
    return scale(1.0 / total, x)
