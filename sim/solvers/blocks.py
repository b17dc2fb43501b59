"""Direct solution of block-sparse systems, one 6 x 6 block row a body.

The pattern is that of the contact graph; the values need not be symmetric (the Jacobian of Coulomb friction is not).
Elimination follows minimum degree (George, Liu, SIAM Review 31 (1989) 1), so chains and stacks cost O(bodies).
Blocks are not pivoted against each other: the mass matrix makes each of them well conditioned.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import inner
from tumble.collision.linalg import clear_table

SLOPES = 12  # numbers of G for each block, see assemble_matrix


@inner
def symbolic(n, first, second):
    """Elimination order and fill of a graph with n nodes and edges (first[k], second[k]); negative nodes are ignored.

    Returns (order, slot, later_start, later, blocks): ``slot[i, j]`` is the row of block (i, j) in the array of values,
    -1 where it is zero; ``later[later_start[k]:later_start[k + 1]]`` are the nodes that node order[k] still touches when
    it is eliminated.
    """
    joined = np.zeros((n, n), dtype=np.bool_)
    degree = np.zeros(n, dtype=np.int64)
    for k in range(len(first)):
        i, j = first[k], second[k]
        if i >= 0 and j >= 0 and i != j and not joined[i, j]:
            joined[i, j] = True
            joined[j, i] = True
            degree[i] += 1
            degree[j] += 1
    order = np.empty(n, dtype=np.int64)
    done = np.zeros(n, dtype=np.bool_)
    later_start = np.zeros(n + 1, dtype=np.int64)
    later = np.empty(max(16, 4 * n), dtype=np.int64)
    count = 0
    for k in range(n):
        best = -1
        for i in range(n):
            if not done[i] and (best < 0 or degree[i] < degree[best]):
                best = i
        order[k] = best
        done[best] = True
        start = count
        if count + n > len(later):
            grown = np.empty(2 * len(later) + n, dtype=np.int64)
            grown[:count] = later[:count]
            later = grown
        if degree[best] > 0:
            for j in range(n):
                if joined[best, j] and not done[j]:
                    later[count] = j
                    count += 1
        later_start[k + 1] = count
        for a in range(start, count):
            i = later[a]
            degree[i] -= 1
            for b in range(a + 1, count):
                j = later[b]
                if not joined[i, j]:
                    joined[i, j] = True
                    joined[j, i] = True
                    degree[i] += 1
                    degree[j] += 1
    slot = np.full((n, n), -1, dtype=np.int64)
    blocks = 0
    for i in range(n):
        slot[i, i] = blocks
        blocks += 1
        for j in range(n):
            if joined[i, j]:
                slot[i, j] = blocks
                blocks += 1
    return order, slot, later_start, later, blocks


@inner
def invert6(a):
    """Invert a 6 x 6 block in place (Gauss-Jordan with partial pivoting)."""
    pivot = np.empty(6, dtype=np.int64)
    for k in range(6):
        p = k
        for i in range(k + 1, 6):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        pivot[k] = p
        if p != k:
            for j in range(6):
                a[k, j], a[p, j] = a[p, j], a[k, j]
        d = 1.0 / a[k, k] if a[k, k] != 0.0 else 0.0
        a[k, k] = 1.0
        for j in range(6):
            a[k, j] *= d
        for i in range(6):
            if i != k:
                f = a[i, k]
                if f != 0.0:
                    a[i, k] = 0.0
                    for j in range(6):
                        a[i, j] -= f * a[k, j]
    for k in range(5, -1, -1):
        p = pivot[k]
        if p != k:
            for i in range(6):
                a[i, k], a[i, p] = a[i, p], a[i, k]


@inner
def factor(order, slot, later_start, later, values):
    """Factor in place: diagonal blocks become their inverses, blocks below them the multipliers."""
    w = np.empty((6, 6))
    for k in range(len(order)):
        node = order[k]
        d = values[slot[node, node]]
        invert6(d)
        for a in range(later_start[k], later_start[k + 1]):
            i = later[a]
            left = values[slot[i, node]]
            for r in range(6):
                for c in range(6):
                    s = 0.0
                    for m in range(6):
                        s += left[r, m] * d[m, c]
                    w[r, c] = s
            for b in range(later_start[k], later_start[k + 1]):
                j = later[b]
                right = values[slot[node, j]]
                target = values[slot[i, j]]
                for r in range(6):
                    for m in range(6):
                        f = w[r, m]
                        if f != 0.0:
                            for c in range(6):
                                target[r, c] -= f * right[m, c]
            for r in range(6):
                for c in range(6):
                    left[r, c] = w[r, c]


@inner
def solve_factored(order, slot, later_start, later, values, x):
    """Solve in place for a right-hand side x (n, 6), with what ``factor`` left in values."""
    n = len(order)
    t = np.empty(6)
    for k in range(n):
        node = order[k]
        for a in range(later_start[k], later_start[k + 1]):
            i = later[a]
            left = values[slot[i, node]]
            for r in range(6):
                s = 0.0
                for m in range(6):
                    s += left[r, m] * x[node, m]
                x[i, r] -= s
    for k in range(n - 1, -1, -1):
        node = order[k]
        for r in range(6):
            t[r] = x[node, r]
        for a in range(later_start[k], later_start[k + 1]):
            j = later[a]
            right = values[slot[node, j]]
            for r in range(6):
                s = 0.0
                for m in range(6):
                    s += right[r, m] * x[j, m]
                t[r] -= s
        d = values[slot[node, node]]
        for r in range(6):
            s = 0.0
            for m in range(6):
                s += d[r, m] * t[m]
            x[node, r] = s


@inner
def _add_block(block, j1, g, j2):
    """block += j1^T g j2, with 3 x 6 Jacobians and a 3 x 3 g."""
    for r in range(6):
        a0, a1, a2 = j1[0, r], j1[1, r], j1[2, r]
        s0 = a0 * g[0] + a1 * g[3] + a2 * g[6]
        s1 = a0 * g[1] + a1 * g[4] + a2 * g[7]
        s2 = a0 * g[2] + a1 * g[5] + a2 * g[8]
        for c in range(6):
            block[r, c] += s0 * j2[0, c] + s1 * j2[1, c] + s2 * j2[2, c]


@inner
def _add_coupling(block, j1, t, n2):
    """block += j1^T t n2^T, with a 3 x 6 Jacobian, three numbers and a row of six."""
    for r in range(6):
        s = j1[0, r] * t[0] + j1[1, r] * t[1] + j1[2, r] * t[2]
        for c in range(6):
            block[r, c] += s * n2[c]


@inner
def assemble_matrix(system, load, g, slot, values):
    """values = M + J^T G J.

    Of each block G has nine numbers of its own rows, and three by which it follows the normal velocity of the contact ``load``,
    which is between the same bodies.
    """
    mass, inertia, a, b, ja, jb = system.mass, system.inertia, system.a, system.b, system.ja, system.jb
    for k in range(len(values)):
        clear_table(values[k])
    for i in range(len(mass)):
        d = values[slot[i, i]]
        for r in range(3):
            d[r, r] = mass[i]
            for c in range(3):
                d[3 + r, 3 + c] = inertia[i, r, c]
    for k in range(len(a)):
        gk = (g[k, 0], g[k, 1], g[k, 2], g[k, 3], g[k, 4], g[k, 5], g[k, 6], g[k, 7], g[k, 8])
        i, j = a[k], b[k]
        if i >= 0:
            _add_block(values[slot[i, i]], ja[k], gk, ja[k])
        if j >= 0:
            _add_block(values[slot[j, j]], jb[k], gk, jb[k])
        if i >= 0 and j >= 0:
            _add_block(values[slot[i, j]], ja[k], gk, jb[k])
            _add_block(values[slot[j, i]], jb[k], gk, ja[k])
        if load[k] >= 0:
            t, first, second = (g[k, 9], g[k, 10], g[k, 11]), ja[load[k], 2], jb[load[k], 2]
            if i >= 0:
                _add_coupling(values[slot[i, i]], ja[k], t, first)
            if j >= 0:
                _add_coupling(values[slot[j, j]], jb[k], t, second)
            if i >= 0 and j >= 0:
                _add_coupling(values[slot[i, j]], ja[k], t, second)
                _add_coupling(values[slot[j, i]], jb[k], t, first)
