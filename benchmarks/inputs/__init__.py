"""Hostile inputs by grammar: scene files, models, recordings, sweeps, command lines. ``python -m benchmarks.inputs``"""
