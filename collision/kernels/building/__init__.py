"""Building libraries of kernels: compiling on all cores, each kernel on its own, in processes beside this one.

In: a library, which names its entries; far kernels below them.
Out: object files in the cache of kernels; code that runs while a part of it, or all, is not compiled.

Equations: none. docs/architecture.md tells the reasons.

objects.py: object files, where they are kept, and the linker. runtime.py: memory for kernels. indices.py: those of arrays, as
they are. worker.py: a process that compiles, with swift_numba.py. growing.py: a library whose kernels are compiled as they are
reached, and packed in one file in the end. plain.py: kernels as functions of Python, for what can not wait.
"""
