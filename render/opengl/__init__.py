"""OpenGL: frames to pictures in passes, with shadows, floors and the light of an open sky.

In: a frame, a camera, a size.
Out: pixels.

Equations: in render/shaders/, beside the code that computes them.

renderer.py: the passes. context.py: finds something to draw with. programs.py: the shaders. groups.py: bodies by mesh and
finish, one draw call each. maps.py: what light sees. background.py: floors and sky; footprint.py: parts of the picture that
need it. gather.py: pictures summed up from many.
"""
