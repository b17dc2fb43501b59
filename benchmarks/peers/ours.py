"""This library, one thread: one call for all pairs, or one for each."""

from __future__ import annotations

from benchmarks.peers.families import Pairs
from tumble.collision import PairCache, Pose, signed_distance, signed_distances


class Ours:
    name = "tumble"

    def __init__(self, shapes):
        pass

    def question(self, pairs: Pairs):
        arguments = pairs.arguments()
        return lambda: signed_distances(*arguments).distance

    def coherent(self, frames: list[Pairs]):
        cache = PairCache(len(frames[0].a))
        there_and_back = [f.arguments() for f in frames + frames[::-1]]

        def ask():
            for arguments in there_and_back:
                found = signed_distances(*arguments, cache=cache)
            return found.distance

        return ask


class OneCall:
    name = "tumble, a call"
    coherent = None

    def __init__(self, shapes):
        self.shapes = shapes

    def question(self, pairs: Pairs):
        rows = zip(pairs.a, pairs.x, pairs.q, pairs.b, pairs.y, pairs.p, strict=True)
        asked = [(self.shapes[a], Pose(x, q), self.shapes[b], Pose(y, p)) for a, x, q, b, y, p in rows]
        return lambda: [signed_distance(*each).distance for each in asked]
