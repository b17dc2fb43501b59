"""Cameras: where they stand of their own accord, and where they go.

In: frames of a run; the hand of a user.
Out: a camera (render/camera.py) for each picture; the body under a pixel.

Equations: none.

framing.py: a place from which all that moves is seen large. tracking.py: a camera that goes along. shots.py: circles, follows,
goes from place to place. rig.py: orbit, pan, zoom. pick.py: what lies under a pixel.
"""
