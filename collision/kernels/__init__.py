"""Kernels: how functions are compiled to machine code, kept, loaded and called.

In: Python functions under one of the decorators of jit.py.
Out: machine code that other kernels and Python call; libraries that load without Numba.

Equations: none. docs/architecture.md tells the reasons.

jit.py: the decorators. group.py and group_type.py: many arrays handed over as one address. compiler.py and code_library.py:
compiling by Numba; sources.py: the hash of what a kernel depends on; kernel_cache.py: code on disk of what Numba calls.
native.py: a library of kernels, called without Numba; shipped.py: one that came with a wheel.
building/: compiling a library on all cores, kernel by kernel as they are reached.
clocks.py: where time goes. shared.py and waiting.py: words that threads share, and moments between two looks at one.
intrinsics/: code in the language of the compiler, for shared.py, waiting.py and the loops over vertices.
"""
