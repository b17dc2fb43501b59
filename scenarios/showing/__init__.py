"""Showing: windows, pages and reports of runs. This room may import ``render``, inside functions.

In: a world, a scene or a recording.
Out: a window that steps and shows it; a page of HTML; film, figure and table.

Equations: none.

window_loop.py: the loop behind the window; stages.py: the world or recording that it shows; stepping_thread.py: steps taken
while a picture is drawn.
report.py: film, figure, table. page.py: a run as one page that needs nothing else.
"""
