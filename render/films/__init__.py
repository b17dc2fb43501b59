"""Films and still pictures, in files that are whole or not there.

In: a run or a world, a shot, a size.
Out: PNG, MP4, GIF, WebP.

Equations: none.

video.py: what users call. writers.py: the formats. dressing.py: title, bar of time, graph. sound.py: the sound of impacts.
"""
