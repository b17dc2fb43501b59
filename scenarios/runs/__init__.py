"""Runs: a scene is run and leaves a folder behind; what is in it goes to files of other programs.

In: a scene or the name of one, parameters, a folder.
Out: a recording, a summary, tables.

Equations: none.

scene_run.py: runs a scene under a progress bar. manifest.py: what the files of a folder hashed to. exports.py: a run as CSV,
Parquet and MCAP. instrument_files.py: the same for what instruments read. column_files.py: columns as CSV and Parquet.
"""
