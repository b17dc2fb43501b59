"""Parts of a world: what ``World`` does, by what it is about. Each is a class that World derives from.

In: what users call, with bodies as ``Body`` or by name.
Out: the arrays of the model, changed; bodies, joints, forces and runs.

Equations: none of their own; ``sim/pipeline.py`` has those of a step.

bodies.py: added, changed, moved from outside, removed; the arrays that hold them, and grow.
links.py: joints, actuators, forces, materials, pairs that are kept apart.
stepping.py: how steps begin, go on and stop, what is undone where one fails; whole runs.

Here all of them read and write ``world.model``. The class itself has what is left: what a world is made of, and how it is saved.
"""
