"""Storage: the arrays of a recording, on disk or in memory.

In: samples, row by row, as a run goes on.
Out: a Zarr folder in which whatever was flushed is whole, or arrays.

Equations: none. docs/recording.md tells the format.

sample_stores.py: where samples go. zarr_files.py: the folder, with three promises that Zarr's own does not give.
checksums.py: how a damaged chunk is seen. codecs.py: what chunks are packed with, so that none asks for more than it may hold.
reading_files.py: what instruments have read, beside the recording.
"""
