"""Who stands in front of whom: the order in which the software painter puts convex bodies on the canvas.

Sorting by distance fails for large and small things side by side. Two convex bodies are told apart for certain by a plane between
them: the one on the eye's side of it is in front. Planes of their faces are tried.
"""

from __future__ import annotations

import heapq

import numpy as np

EXACT_UP_TO = 400  # parts; beyond, distance alone decides
SLACK = 1e-4  # of a part's size: touching bodies overlap by rounding


def back_to_front(eye: np.ndarray, corners: np.ndarray, normals: np.ndarray, offsets: np.ndarray, boxes: np.ndarray) -> list[int]:
    """Indices of convex parts, the hindmost first.

    Parameters
    ----------
    eye : (3,).
    corners : (k, c, 3) in the world; parts with fewer repeat one.
    normals, offsets : (k, f, 3) and (k, f) of the faces: inside is normal . x <= offset; parts with fewer have offset inf.
    boxes : (k, 4) left, top, right, bottom of each part in the picture; parts that do not meet there need no order.
    """
    count = len(corners)
    away = np.linalg.norm(corners.mean(axis=1) - eye, axis=1)
    if count > EXACT_UP_TO or count < 2:
        return np.argsort(-away, kind="stable").tolist()
    meets = (boxes[:, None, :2] <= boxes[None, :, 2:]).all(axis=2)
    a, b = np.nonzero(np.triu(meets & meets.T, 1))
    size = np.abs(corners - corners.mean(axis=1, keepdims=True)).max(axis=(1, 2))
    told_by_a = _front(eye, normals[a], offsets[a], corners[b], SLACK * size[a])
    told_by_b = -_front(eye, normals[b], offsets[b], corners[a], SLACK * size[b])
    side = np.where(np.abs(told_by_a) >= np.abs(told_by_b), told_by_a, told_by_b)
    after: list[list[int]] = [[] for _ in range(count)]  # who comes after each
    waits = [0] * count
    for i, j, s in zip(a.tolist(), b.tolist(), side.tolist(), strict=True):
        if s:
            first, second = (i, j) if s > 0 else (j, i)
            after[first].append(second)
            waits[second] += 1
    ready = [(-away[i], i) for i in range(count) if not waits[i]]
    heapq.heapify(ready)
    left = set(range(count))
    out = []
    while left:
        if not ready:  # bodies that overlap each other in a ring: the farthest goes first
            ready = [(-away[k], k) for k in [max(left, key=lambda k: away[k])]]
        _, i = heapq.heappop(ready)
        if i not in left:
            continue
        left.discard(i)
        out.append(i)
        for j in after[i]:
            waits[j] -= 1
            if waits[j] == 0:
                heapq.heappush(ready, (-away[j], j))
    return out


def _front(eye: np.ndarray, normals: np.ndarray, offsets: np.ndarray, others: np.ndarray, slack: np.ndarray) -> np.ndarray:
    """For each pair (m,): positive where a face of the first part shows that the other is in front, negative: behind, 0: unknown.

    The size of the answer is the eye's distance from that face's plane: the larger, the surer.
    """
    apart = np.einsum("mfi,mci->mfc", normals, others).min(axis=2) >= offsets - slack[:, None]
    height = np.where(apart, normals @ eye - np.where(apart, offsets, 0.0), 0.0)
    best = np.abs(height).argmax(axis=1)
    return height[np.arange(len(best)), best]
