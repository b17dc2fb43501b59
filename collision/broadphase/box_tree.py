"""A tree of boxes that lives on: boxes come, go and move one by one, and the tree stays balanced.

Every leaf is a box that was given, a little fattened, so that what moves by less stays where it is; every other node is the box
around two. A new leaf goes where it adds least to the surface of the boxes above it, and a node whose one side is two levels
deeper than the other is turned, as in an AVL tree (E. Catto, "Dynamic bounding volume hierarchies", 2019; the costs are those of
MacDonald and Booth 1990).

Tables: ``box`` (m, 6) lower and upper corners; ``link`` (m, 4) parent, both children, height. A leaf has -1 and
the number of its box in place of children, and the height 0. A free node has the height -1, and the next free node as its parent.
``root`` (2,): the root, and the first free node; -1 for none.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.broadphase.candidate_pairs import rows_meet
from tumble.collision.kernels.jit import inner, kernel

PARENT, LEFT, RIGHT, HEIGHT = range(4)
DEEPEST = 256  # nodes that wait while a tree is searched; an AVL tree of 2^63 leaves is 91 deep


@kernel
def clear(link, root):
    """All nodes are free."""
    for k in range(len(link)):
        link[k, PARENT] = k + 1 if k + 1 < len(link) else -1
        link[k, HEIGHT] = -1
    root[0] = -1
    root[1] = 0 if len(link) > 0 else -1


@inner
def _area(x0, y0, z0, x1, y1, z1):
    """Half the surface of a box."""
    x, y, z = x1 - x0, y1 - y0, z1 - z0
    return x * y + y * z + z * x


@inner
def _joint_area(box, a, b):
    return _area(
        min(box[a, 0], box[b, 0]), min(box[a, 1], box[b, 1]), min(box[a, 2], box[b, 2]),
        max(box[a, 3], box[b, 3]), max(box[a, 4], box[b, 4]), max(box[a, 5], box[b, 5]),
    )  # fmt: skip


@inner
def _own_area(box, a):
    return _area(box[a, 0], box[a, 1], box[a, 2], box[a, 3], box[a, 4], box[a, 5])


@inner
def _refit(box, link, k):
    a, b = link[k, LEFT], link[k, RIGHT]
    for i in range(3):
        box[k, i] = min(box[a, i], box[b, i])
        box[k, i + 3] = max(box[a, i + 3], box[b, i + 3])
    link[k, HEIGHT] = 1 + max(link[a, HEIGHT], link[b, HEIGHT])


@inner
def _new_node(link, root):
    """A free node; the caller has made sure that there is one."""
    k = root[1]
    root[1] = link[k, PARENT]
    return k


@inner
def _free_node(link, root, k):
    link[k, PARENT] = root[1]
    link[k, HEIGHT] = -1
    root[1] = k


@inner
def _hang(link, root, k, parent, old):
    """Put k in the place of ``old`` under its parent."""
    link[k, PARENT] = parent
    if parent < 0:
        root[0] = k
    elif link[parent, LEFT] == old:
        link[parent, LEFT] = k
    else:
        link[parent, RIGHT] = k


@inner
def _mend(box, link, root, k):
    """Balance, boxes and heights from node k up to the root."""
    while k >= 0:
        a, b = link[k, LEFT], link[k, RIGHT]
        lean = link[b, HEIGHT] - link[a, HEIGHT]
        if -2 < lean < 2:
            _refit(box, link, k)
        else:  # the deeper child rises; of its own children the deeper one stays with it
            up = b if lean > 0 else a
            c, d = link[up, LEFT], link[up, RIGHT]
            _hang(link, root, up, link[k, PARENT], k)
            stays, goes = (c, d) if link[c, HEIGHT] > link[d, HEIGHT] else (d, c)
            link[up, LEFT], link[up, RIGHT] = k, stays
            link[k, PARENT] = up
            if lean > 0:
                link[k, RIGHT] = goes
            else:
                link[k, LEFT] = goes
            link[goes, PARENT] = k
            _refit(box, link, k)
            _refit(box, link, up)
            k = up
        k = link[k, PARENT]


@inner
def _best_sibling(box, link, root, leaf):
    """The node that a leaf is best joined with: where the boxes above grow least."""
    k = root[0]
    while link[k, HEIGHT] > 0:
        joined = _joint_area(box, k, leaf)
        here = 2.0 * joined
        grown = 2.0 * (joined - _own_area(box, k))  # what all further down must pay
        a, b = link[k, LEFT], link[k, RIGHT]
        cost_a = _joint_area(box, a, leaf) + grown - (_own_area(box, a) if link[a, HEIGHT] > 0 else 0.0)
        cost_b = _joint_area(box, b, leaf) + grown - (_own_area(box, b) if link[b, HEIGHT] > 0 else 0.0)
        if here < cost_a and here < cost_b:
            return k
        k = a if cost_a < cost_b else b
    return k


@inner
def _insert_leaf(box, link, root, leaf):
    if root[0] < 0:
        root[0] = leaf
        link[leaf, PARENT] = -1
        return
    sibling = _best_sibling(box, link, root, leaf)
    k = _new_node(link, root)
    _hang(link, root, k, link[sibling, PARENT], sibling)
    link[k, LEFT], link[k, RIGHT] = sibling, leaf
    link[sibling, PARENT] = k
    link[leaf, PARENT] = k
    _mend(box, link, root, k)


@inner
def _pull_out(box, link, root, leaf):
    parent = link[leaf, PARENT]
    if parent < 0:
        root[0] = -1
        return
    sibling = link[parent, RIGHT] if link[parent, LEFT] == leaf else link[parent, LEFT]
    above = link[parent, PARENT]
    _hang(link, root, sibling, above, parent)
    _free_node(link, root, parent)
    _mend(box, link, root, above)


@kernel
def put(box, link, root, rows, node, lo, hi, slack):
    """Take in the boxes ``rows`` of lo, hi (n, 3), new ones or moved. Returns how many needed a new place, which are then
    marked by rows[k] >= 0; the others are within their fat boxes, and get the mark -1 - row.

    ``node`` (n,): the leaf of each, -1 for none. Boxes without end have no leaf. ``slack``: leaves are fatter on all sides by
    this part of the largest side. There must be two free nodes for each box.
    """
    moved = 0
    for k in range(len(rows)):
        row = rows[k]
        leaf = node[row]
        bounded, inside, side = True, leaf >= 0, 0.0
        for i in range(3):
            bounded = bounded and lo[row, i] > -math.inf and hi[row, i] < math.inf
            inside = inside and box[leaf, i] <= lo[row, i] and hi[row, i] <= box[leaf, i + 3]
            side = max(side, hi[row, i] - lo[row, i])
        if inside:
            for i in range(3):  # and not much too wide for what has shrunk
                inside = inside and box[leaf, i + 3] - box[leaf, i] <= hi[row, i] - lo[row, i] + 4.0 * slack * side
            if inside:
                rows[k] = -1 - row
                continue
        moved += 1
        if leaf >= 0:
            _pull_out(box, link, root, leaf)
            if not bounded:
                _free_node(link, root, leaf)
                node[row] = -1
        if not bounded:
            continue
        if leaf < 0:
            leaf = _new_node(link, root)
            node[row] = leaf
        for i in range(3):
            box[leaf, i] = lo[row, i] - slack * side
            box[leaf, i + 3] = hi[row, i] + slack * side
        link[leaf, LEFT], link[leaf, RIGHT], link[leaf, HEIGHT] = -1, row, 0
        _insert_leaf(box, link, root, leaf)
    return moved


@kernel
def take_out(box, link, root, rows, node):
    """Remove the leaves of some rows."""
    for k in range(len(rows)):
        leaf = node[rows[k]]
        if leaf >= 0:
            _pull_out(box, link, root, leaf)
            _free_node(link, root, leaf)
            node[rows[k]] = -1


@kernel
def meetings(box, link, root, rows, fresh, node, endless, alive, lo, hi, groups, mask, mobile, pairs):
    """Write the pairs (i, j), i < j, of fat boxes that overlap, of which one at least is among ``rows``; their true number.

    fresh (n,): marks those rows, so that a pair of two of them is told once. groups, mask (n,): two may meet where each one's
    mask has a bit of the other's groups; mobile (n,): of two that both stay there is no pair.
    ``endless``: rows of the boxes without end.
    """
    count = 0
    stack = np.empty(DEEPEST, np.int64)
    for k in range(len(rows)):
        i = rows[k]
        if node[i] < 0:  # without end: met by all
            for j in range(len(alive)):
                if j != i and alive[j] and not (fresh[j] and j < i):
                    count = _meet_endless(box, node, i, j, lo, hi, groups, mask, mobile, pairs, count)
            continue
        leaf = node[i]
        for j in endless:
            if not (fresh[j] and j < i):
                count = _meet_endless(box, node, i, j, lo, hi, groups, mask, mobile, pairs, count)
        waiting = 1
        stack[0] = root[0]
        while waiting > 0:
            waiting -= 1
            n = stack[waiting]
            if not rows_meet(box, n, box, leaf):
                continue
            if link[n, HEIGHT] == 0:
                j = link[n, RIGHT]
                if j != i and not (fresh[j] and j < i):
                    count = _note_pair(i, j, groups, mask, mobile, pairs, count)
            else:
                stack[waiting] = link[n, LEFT]
                stack[waiting + 1] = link[n, RIGHT]
                waiting += 2
    return count


@inner
def _meet_endless(box, node, i, j, lo, hi, groups, mask, mobile, pairs, count):
    """Add a pair of boxes that meet, of which one at least has no end; the count. The other box counts with its fat one, within
    which it moves without a new place in the tree."""
    for k in range(3):
        if _lower(box, node, lo, i, k) > _upper(box, node, hi, j, k) or _lower(box, node, lo, j, k) > _upper(box, node, hi, i, k):
            return count
    return _note_pair(i, j, groups, mask, mobile, pairs, count)


@inner
def _lower(box, node, lo, i, k):
    return box[node[i], k] if node[i] >= 0 else lo[i, k]


@inner
def _upper(box, node, hi, i, k):
    return box[node[i], k + 3] if node[i] >= 0 else hi[i, k]


@inner
def _note_pair(i, j, groups, mask, mobile, pairs, count):
    if (groups[i] & mask[j]) == 0 or (groups[j] & mask[i]) == 0 or not (mobile[i] or mobile[j]):
        return count
    if count < len(pairs):
        pairs[count, 0] = min(i, j)
        pairs[count, 1] = max(i, j)
    return count + 1


@kernel
def nearest_boxes(box, link, root, endless, lo, hi, groups, mask, low, high, reach, found, gaps):
    """Write the len(found) rows whose boxes are nearest to the box low-high and no further than ``reach`` [m], and their gaps,
    which rise; how many there are. Only such as have a bit of ``mask`` among their groups.

    ``found`` is kept sorted; what is further than its last entry is passed over with all that is below it in the tree.
    """
    count = 0
    most = len(found)
    stack, waits = np.empty(DEEPEST, np.int64), np.empty(DEEPEST)
    for j in endless:
        if (groups[j] & mask) != 0:
            count = _sorted_in(j, box_gap(lo[j], hi[j], low, high), reach, found, gaps, count)
    stack[0], waits[0], waiting = root[0], 0.0, 1 if root[0] >= 0 else 0
    while waiting > 0:
        waiting -= 1
        n = stack[waiting]
        if waits[waiting] > (gaps[most - 1] if count == most else reach):
            continue
        if link[n, HEIGHT] == 0:
            j = link[n, RIGHT]
            if (groups[j] & mask) != 0:
                count = _sorted_in(j, box_gap(lo[j], hi[j], low, high), reach, found, gaps, count)
            continue
        a, b = link[n, LEFT], link[n, RIGHT]
        gap_a, gap_b = box_gap(box[a, :3], box[a, 3:], low, high), box_gap(box[b, :3], box[b, 3:], low, high)
        if gap_a < gap_b:  # the nearer one is looked at first
            a, b, gap_a, gap_b = b, a, gap_b, gap_a
        stack[waiting], waits[waiting] = a, gap_a
        stack[waiting + 1], waits[waiting + 1] = b, gap_b
        waiting += 2
    return count


@inner
def box_gap(lo, hi, low, high):
    """How far apart two boxes are [m]."""
    away = 0.0
    for i in range(3):
        gap = max(lo[i] - high[i], low[i] - hi[i], 0.0)
        away += gap * gap
    return math.sqrt(away)


@inner
def _sorted_in(j, gap, reach, found, gaps, count):
    """Of equal gaps the lower row goes first, so that the answer does not depend on the tree."""
    most = len(found)
    if gap > reach or (count == most and not _nearer(gap, j, gaps[most - 1], found[most - 1])):
        return count
    k = count if count < most else most - 1
    while k > 0 and _nearer(gap, j, gaps[k - 1], found[k - 1]):
        found[k], gaps[k] = found[k - 1], gaps[k - 1]
        k -= 1
    found[k], gaps[k] = j, gap
    return min(count + 1, most)


@inner
def _nearer(gap, j, other, row):
    return gap < other or (gap == other and j < row)


@kernel
def cast_box(box, link, root, endless, lo, hi, groups, mask, low, high, direction, reach, found, enter):
    """Write the rows whose boxes the box low-high meets on its way of ``reach`` [m], and where; their true number.

    Only such as have a bit of ``mask`` among their groups. Of a way of no length: the rows whose boxes it meets where it is.
    """
    count = 0
    stack = np.empty(DEEPEST, np.int64)
    stack[0], waiting = root[0], 1 if root[0] >= 0 else 0
    while waiting > 0:
        waiting -= 1
        n = stack[waiting]
        if not meets(box[n, :3], box[n, 3:], low, high, direction, reach) <= reach:
            continue
        if link[n, HEIGHT] == 0:
            count = _on_the_way(link[n, RIGHT], lo, hi, groups, mask, low, high, direction, reach, found, enter, count)
        else:
            stack[waiting] = link[n, LEFT]
            stack[waiting + 1] = link[n, RIGHT]
            waiting += 2
    for j in endless:
        count = _on_the_way(j, lo, hi, groups, mask, low, high, direction, reach, found, enter, count)
    return count


@inner
def _on_the_way(j, lo, hi, groups, mask, low, high, direction, reach, found, enter, count):
    if (groups[j] & mask) == 0:
        return count
    t = meets(lo[j], hi[j], low, high, direction, reach)
    if not t <= reach:
        return count
    if count < len(found):
        found[count] = j
        enter[count] = t
    return count + 1


@inner
def meets(lo, hi, low, high, direction, reach):
    """How far [m] the box low-high can go along a unit vector until it meets the box lo-hi, or a little less; nan: never."""
    enter, leave = 0.0, reach
    for i in range(3):
        near, far = lo[i] - high[i], hi[i] - low[i]
        if direction[i] == 0.0:
            if near > 0.0 or far < 0.0:
                return math.nan
        else:
            a, b = near / direction[i], far / direction[i]
            enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    slack = 1e-12 * (1.0 + enter) if enter < math.inf else 0.0  # rounding of the slabs must not lose a hit at a corner
    return max(enter - slack, 0.0) if enter <= leave + slack else math.nan
