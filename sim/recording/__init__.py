"""Recordings: what happened in a run, kept on disk or in memory, and read again.

In: a world that steps; what to record and how often.
Out: a folder (docs/recording.md tells its format) or arrays, and a ``Run``: what plots, films and assertions take.

Equations: summary.py and force_impulse.py check the theorem of momentum, P(t) - P(0) = the integral of forces, on the samples
alone.

observers.py: what is called during a run, and when. recorder.py: the observer that records; compiled_samples.py: samples that
the compiled step takes by itself. recorded_variables.py and recorded_contacts.py: the columns.
provenance.py: what a recording says of itself. storage/: where samples go, on disk or in memory, and how damage is seen.
run.py: a run to read. summary.py: a run in numbers. force_impulse.py: the impulse of forces, worked out from samples.
"""
