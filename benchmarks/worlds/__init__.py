"""Random worlds, and what each keeps of the promises: see :mod:`benchmarks.worlds.__main__`."""
