"""Measuring: how fast tumble is, and what this installation can do.

In: scenes of the suite; this machine.
Out: tables of times, and a list of what is missing.

Equations: none. docs/speed.md tells what is measured.

bench.py: how fast scenes step, and where time goes. bench_calls.py: calls from Python, starts, many worlds. doctor.py: what works
here.
"""
