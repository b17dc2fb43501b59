"""Pages, notebooks and other programs: runs as 3D data that a browser or Blender shows.

In: a run or a world.
Out: glTF files, data of a replay, HTML.

Equations: none.

gltf.py: animated glTF. replay.py: the data of a replay, for render/page/viewer.js, and pages with it. notebook.py: what a
notebook shows.
"""
