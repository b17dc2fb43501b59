"""Scenes: what a simulation starts from, as plain data that is checked once and compares by value.

In: shapes, masses, poses, materials, forces and joints as users or files say them.
Out: a ``Scene``, and the arrays of a world that it becomes.

Equations: none but the rule that combines the coefficients of two surfaces (materials.py).

scene.py: the whole. body_definition.py: one body. options.py: how a world computes, one list for worlds, scenes and files.
materials.py: coefficients by name and by pair. visual.py: how a body looks. initial_overlap.py: bodies that start inside each
other. arrays.py: the arrays of a world as bodies come and pairs grow in number.
"""
