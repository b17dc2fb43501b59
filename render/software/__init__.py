"""The software painter: frames to pictures without OpenGL.

In: a frame, a camera, a size.
Out: pixels.

Equations: perspective; bodies are drawn from back to front.

painter.py: filled polygons on a surface of twice the size. order.py: who stands in front of whom. floor_and_sky.py: floor and
sky, pixel by pixel in NumPy.
"""
