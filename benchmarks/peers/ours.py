"""This library: one call for all pairs, one thread."""

from __future__ import annotations

from benchmarks.peers.families import Pairs
from collision import PairCache, signed_distances


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
