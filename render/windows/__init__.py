"""The window: shows frames, moves the camera, hands on what else the user wants. It steps nothing.

In: frames, keys, the mouse.
Out: pictures on the screen; commands, which scenarios/showing carries out.

Equations: none.

window.py: the window. hud.py: what it lays over the picture. sliders.py: sliders of numbers. studio.py: its pictures and films.
"""
