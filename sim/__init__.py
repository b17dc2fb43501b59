"""Dynamics: bodies, contact, the ledger. Knows ``collision`` only. What needs the compiler loads on first use.

One step is sim/pipeline.py, a page. Each room below has a page at its head, its ``__init__``; a room imports those above it only:

    solvers     impulses of many contacts and joints at once
    ledger      where every joule went; energies, events, promises
    forces      gravity, springs, drag, forces of the user; paths of driven bodies
    flight      free flight and its integrators
    joints      joints, mechanisms, actuators, instruments
    contact     what touches at a step, and the solve that lets it rest, roll or slide
    scene       what a simulation starts from, as data
    impact      collisions at their own instants; heaps
    recording   what happened, kept and read again
    world       what users call

In the hall: errors.py and checks.py (bad input), words.py (texts of messages), files.py (files that are whole or not there),
pace.py (what is due again when), sorted_lists.py, equations.py (of motion), state.py (all arrays); and on top of the rooms
pipeline.py, assemble.py (joints of a state set from outside), readout.py (one body or joint as numbers) and compiled.py (the
library of what Python calls).
"""

from __future__ import annotations

from tumble.late_names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
