"""Meshes: the surfaces that are drawn, made of a shape's own numbers or read from a file.

In: shapes, files of meshes that are only drawn.
Out: corners, faces, edge lines, colours.

Equations: none but the shapes' own; rounded.py moves faces out by the ball's radius.

meshes.py: every shape. rounded.py: shapes with a ball added. ground_surface.py: grounds, smooth where they bend little.
relief.py: grounds coloured by height. visuals.py: meshes drawn in place of what collides.
"""
