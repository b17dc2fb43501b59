"""Worlds: what users call to build, step and ask. Objects here are views of arrays; the numbers are made in the rooms below.

In: calls of users.
Out: steps taken by the compiled library (sim/compiled.py), views, answers, saved files.

Equations: none.

world.py: the world, and parts/ what it does, by what it is about; world_queries.py: what can be asked of it;
spatial_queries.py: rays, neighbours, overlaps. body.py and joint.py: views of one body, one joint.
applied_forces.py: forces that a user applies for one step. sleep.py: islands that fall asleep and wake.
thread_pool.py: threads that help with a step. worlds.py: many worlds at once. checkpoint.py: a world on disk, continued bit
for bit. compiled_recording.py: a run that the compiled step recorded. notebook_html.py: what a notebook shows.
"""
