"""Other libraries that answer the same questions, each behind one small adapter: ``python -m benchmarks.peers``.

An adapter is a class with a name, made from the shapes. ``question(pairs)`` gives a function without arguments that asks
about all pairs, one Python call a pair as its users do, and returns their signed distances. ``coherent(frames)`` gives one
that goes through the frames and back with what state the library keeps between queries; None where it keeps none.
"""
