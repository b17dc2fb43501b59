"""Frames: what a picture shows, as plain data that any renderer takes.

In: a world as it stands, or a recording at any time.
Out: a ``Cast`` that stays the same and a ``Frame`` for one instant, with strokes and graphs over it.

Equations: between samples, positions by cubics and orientations on the arc between both.

frame.py: the data. recorded.py: frames of a recorded run. watched.py: frames of a world that goes on.
overlay.py: what is drawn over the bodies, by name; marks.py: the arrows and outlines of it; strokes.py: straight strokes;
graphs.py: energy and momentum in a corner.
"""
