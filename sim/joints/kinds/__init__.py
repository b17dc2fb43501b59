"""Kinds of joints: what each measures of two anchor frames.

In: anchors and frames of both sides, in the world, at the poses of the bodies.
Out: six coordinates, of which a joint holds some; where the directions of rows are no axes of a's frame, these and their rates.

Equations: each file has its own; the coordinates are such that their rates are those of two material points, or of the turn of b
against a.

frames.py: ball joints, hinges, sliders, fixed joints. distance.py: rod, rope or spring. gear.py: gears and screws.
general.py: any choice of travels and turns, universal joints and wheels among them.
"""
